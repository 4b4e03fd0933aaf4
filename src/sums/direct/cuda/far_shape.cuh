// Shape of the kernel that sums far tiles on tensor cores.
#pragma once

namespace farfield::cuda {

/// Column tiles of 8 a warp and pass, warps a block, bodies a tile, blocks a multiprocessor.
template <int column_tiles, int warps_per_block, int tile_bodies, int resident_blocks>
struct FarShape {
    static constexpr int column_pairs = column_tiles / 2, warps = warps_per_block, tile = tile_bodies,
                         resident = resident_blocks;
    static constexpr int threads = 32 * warps, strip = 8 * column_tiles, passes = tile / (strip * warps);
    static constexpr int chunk = tile / warps; ///< rows a warp takes between two barriers
    static constexpr int short_sum = 64;       ///< rows that products add up before CUDA cores do
    static_assert(tile % (strip * warps) == 0 && chunk % short_sum == 0);
};

} // namespace farfield::cuda
