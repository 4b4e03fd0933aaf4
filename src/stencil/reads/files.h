// Files that a program reads before its run: image("shape.png") and data("values.npy").
//
// A picture is seen as on a screen, with y upwards: its lower left pixel is cell (0, 0), its columns lie
// along the first axis of the grid and its rows along the second; along a third it is repeated. It has as
// many pixels as the grid has cells, or fewer, each for the same whole number of cells along an axis. An
// array has the shape of the grid in NumPy's order, [z][y][x], and one along a single axis for `array`.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/front_end/model/model.h"
#include "stencil/ir/ir.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil {

/// A file as the values of a grid's cells.
struct DataFile {
    std::string name; ///< as the program writes it
    int grid = -1;
    int axis = -1; ///< of an `array`: a value for each index along it; -1: for each cell
    int buffer = -1;
};

struct DataFiles {
    std::vector<ir::Buffer> buffers; ///< of kind data, named as the file, all with values
    std::vector<DataFile> list;      ///< a file that is used on two grids is there twice

    /// The place in `buffers`; -1: not read.
    int find(std::string_view name, int grid, int axis = -1) const;
};

/// The names of the files that the model mentions, each once, as the program writes them.
std::vector<std::string> file_names(const Model& model);
/// Where a relative name starts at `folder`.
std::filesystem::path file_path(const std::filesystem::path& folder, const std::filesystem::path& name);

/// Reads every file that the model mentions; relative names start at `folder`. Reports files that cannot be
/// read, have another size than the grid, or hold a value that is not finite.
DataFiles read_files(const Model& model, const std::filesystem::path& folder, lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
