// Which tiles there are, and what runs in each.
#pragma once

#include "stencil/codegen/cuda/tile_shape.h"

#include <cstdint>
#include <vector>

namespace farfield::stencil::codegen::cuda {

/// The layout is that of `Tile` in generated code.
struct Tile {
    int x = 0; ///< of the first cell of the extended tile; may lie outside the grid
    int y = 0;
    int z = 0;
    /// Bit k: kernel k of the pass has cells in the extended tile. Generated code calls it `some`.
    std::uint32_t active_kernels = 0;
    int plain = 0; ///< the extended tile is in memory and each kernel has all of its cells or none
};

/// Tiles begin where memory does.
/// @param every_tile also those in which nothing is written. @param columns kernels look at the planes of a
/// tile one by one: ends along z need no test of cells.
std::vector<Tile> tiles_of(const ir::Program& program, const TileShape& shape, bool every_tile,
                           bool columns = false);

} // namespace farfield::stencil::codegen::cuda
