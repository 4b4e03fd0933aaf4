// Points of one sum: sources with strengths, targets, and the outputs.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace farfield {

struct Sources {
    std::vector<double> points;    ///< N×3
    std::vector<double> strengths; ///< N masses or charges
};

/// Reads sources, by the extension of the name:
///   .npy        N×4: x y z and the mass or charge
///   .csv        a header that names x,y,z and q (or m), in any order
///   .h5 .hdf5   datasets /points (N×3) and /strengths (N); or a GADGET-4 snapshot, whose Masses are the
///               strengths for gravity and whose Charge for coulomb
/// A CSV file with both q and m follows the kernel in the same way.
/// @throws InvalidArgument naming file, row or line, and column for content that is not allowed; IoError.
Sources read_sources(const std::filesystem::path& path, Kernel kernel = Kernel::gravity);

/// Reads targets (N×3): .npy N×3, .csv x,y,z, .h5 /points or the Coordinates of a snapshot.
std::vector<double> read_targets(const std::filesystem::path& path);

/// Writes the outputs of a sum for `m` targets, atomically; a span that is empty was not computed.
///   .npy        M for the potential, M×3 for the field, M×4 for both, the potential first
///   .csv        columns potential, field_x, field_y, field_z
///   .h5 .hdf5   datasets /potential (M) and /field (M×3)
/// @throws InvalidArgument for an unknown extension or sizes that do not fit m; IoError.
void write_sum_outputs(const std::filesystem::path& path, std::int64_t m, std::span<const double> potential,
                       std::span<const double> field);

/// Throws as `write_sum_outputs` would for a file name whose extension is not known: to be called before
/// computing.
void check_sum_output_name(const std::filesystem::path& path);

} // namespace farfield
