// Points of one sum: sources with strengths, targets, and the outputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// Where the strengths of sources stand.
enum class StrengthsIn : std::uint8_t {
    this_file,    ///< with the points
    some_files,   ///< with the points, or nowhere
    another_file, ///< not here: a file that has some is refused
    nowhere       ///< points alone count: strengths in a table or dataset are not read
};

/// What the columns of a file of points are. The coordinates are x, y, z; beyond three dimensions x1, x2, ….
struct PointLayout {
    int least_dimension = 3;
    int most_dimension = 3;
    std::string_view strength = "m"; ///< of the column; "m" and "q" stand in for each other
    std::string_view second{};       ///< of the imaginary part; empty for real strengths
    StrengthsIn strengths = StrengthsIn::this_file;
};

struct Sources {
    std::vector<double> points;    ///< N×dimension
    std::vector<double> strengths; ///< N masses or charges; N×2 of complex ones; empty if the file has none
    int dimension = 3;
};

/// Reads sources, by the extension of the name:
///   .npy        N×(dimension + 1): x y z and the mass or charge; complex strengths take
///               two columns, of which the second may be left out; where strengths are in `another_file` or
///               `nowhere` N×dimension, and of `some_files` those of the least dimension without them, too
///   .csv        a header that names x,y,z and q (or m), in any order; imaginary parts may be left out
///   .h5 .hdf5   datasets /points (N×dimension) and /strengths (N, or N×2); or a GADGET-4 snapshot, whose
///               Masses are the strengths called "m" and whose Charge is any other
/// A CSV file with both q and m follows the layout in the same way.
/// @throws InvalidArgument naming file, row or line, and column for content that is not allowed; IoError.
Sources read_sources(const std::filesystem::path& path, const PointLayout& layout = {});

/// Several vectors of strengths of the same points.
struct Strengths {
    std::vector<double> values;   ///< N×width
    std::int64_t rows = 0;        ///< N
    std::int64_t width = 0;       ///< complex: two a vector
    bool one_dimensional = false; ///< a file of N numbers, not N×1
};

/// Reads strengths: .npy N or N×k; .csv with any k columns, in their order; .h5 /strengths (N or N×k).
/// @param columns of a vector: 2 for complex strengths, whose files hold N×2k.
/// @throws InvalidArgument naming file, row or line, and column for content that is not allowed; IoError.
Strengths read_strengths(const std::filesystem::path& path, int columns);

/// Reads targets (N×dimension): .npy, .csv x,y,z, .h5 /points or the Coordinates of a snapshot.
std::vector<double> read_targets(const std::filesystem::path& path, int dimension = 3);

/// Reads dipoles (N×3): .npy, .csv with px,py,pz, or .h5 /dipoles.
std::vector<double> read_dipoles(const std::filesystem::path& path);

/// One output of a sum: M rows of as many numbers as it has columns.
struct OutputArray {
    std::string name;                 ///< of the dataset
    std::vector<std::string> columns; ///< of a table
    std::span<const double> values;
    std::int64_t vectors = 0; ///< of strengths, each with its columns; 0: one, which is no axis of the array
};

/// Writes the outputs of a sum for `m` targets, atomically:
///   .npy        M for one column, otherwise M×columns, one output after the other; with `vectors` M×k
///               or M×k×columns
///   .csv        their columns, such as potential, field_x, field_y, field_z
///   .h5 .hdf5   a dataset each, such as /potential (M, or M×k) and /field (M×3, or M×k×3)
/// @throws InvalidArgument for an unknown extension, no output, or sizes that do not fit m; IoError.
void write_sum_outputs(const std::filesystem::path& path, std::int64_t m,
                       std::span<const OutputArray> outputs);

/// Throws as `write_sum_outputs` would for a file name whose extension is not known: to be called before
/// computing.
void check_sum_output_name(const std::filesystem::path& path);

} // namespace farfield
