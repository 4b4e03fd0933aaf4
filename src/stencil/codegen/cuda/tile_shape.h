// Overlapped tiles: how far values must be known around a tile for several
// steps of a sequence of kernels, and what a thread keeps in registers and
// shows to its neighbours in shared memory.
//
// A block holds an extended tile of `side` cells: `kept` cells that it writes
// back, and a halo of `low` and `high` cells that it computes as well, less far
// with every kernel; what is computed from beyond the tile's edge is wrong and
// never reaches the kept cells. A thread holds a patch of neighbouring cells.
// Of each field, the cells of a patch that other threads read lie in shared
// memory, in `slots` arrays with a place for each thread.
#pragma once

#include "stencil/codegen/cuda/reach.h"
#include "stencil/codegen/cuda/writer.h"

#include <optional>
#include <vector>

namespace farfield::stencil::codegen::cuda {

/// A field that the kernels of a tile write.
struct TileField {
    int buffer = -1;
    bool in_place = false;  ///< no tile reads it outside its kept cells: written
                            ///< back where it came from
    bool exchanged = false; ///< some kernel reads neighbours
    bool mapped = false;    ///< … beyond ends of the grid that clamp or mirror
    std::vector<int> slot;  ///< for each cell of a patch: its place in shared memory, −1: none
    int slots = 0;
    int shared_offset = 0; ///< bytes
};

struct TileShape {
    std::vector<int> kernels;
    std::vector<int> records; ///< of one cell each, taken between the steps of a pass
    int steps = 1;            ///< a pass
    std::array<int, 3> patch = {1, 1, 1};
    std::array<int, 3> threads = {1, 1, 1};
    std::array<int, 3> side = {1, 1, 1};
    std::array<int, 3> low = {};
    std::array<int, 3> high = {};
    std::array<int, 3> kept = {1, 1, 1};
    std::array<bool, 3> wraps = {}; ///< some field is periodic along the axis
    std::vector<TileField> fields;
    int shared_bytes = 0;
    int blocks_a_processor = 1;
    double cost = 0; ///< estimated picoseconds a kept cell and step on the whole GPU

    int patch_cells() const { return patch[0] * patch[1] * patch[2]; }
    int thread_count() const { return threads[0] * threads[1] * threads[2]; }
    const TileField* field(int buffer) const;
};

/// Adds the fields that are written, and the halo that they need.
void add_fields(const ir::Program& program, const Reaches& reaches, TileShape& shape);

/// Tiles for kernels that follow each other. Nothing where they do not fit:
/// kernels of several grids, too many fields for the registers, or a halo wider
/// than the tile.
/// @param steps a pass at most; 0: the best by the estimate, up to 16
std::optional<TileShape> shape_tiles(const ir::Program& program, const std::vector<int>& kernels,
                                     const std::vector<int>& records, int steps,
                                     const std::array<int, 3>& block);

/// Estimated picoseconds a cell and step with a kernel after the other, of the cells of the box around what
/// the kernels work on.
double plain_cost(const ir::Program& program, const std::vector<int>& kernels);

} // namespace farfield::stencil::codegen::cuda
