// Shapes of the fast kernels, found on an H200 (docs/decisions/0010-symmetric-sums-on-gpus.md has the sweep).
// On other cards they are right, perhaps not the fastest.
#pragma once

#include "sums/direct/cuda/far_shape.cuh"
#include "sums/direct/cuda/symmetric.cuh"

namespace farfield::cuda {

/// `Large` where there are enough tiles to fill the GPU; below `small_below` points `Small`, with more and
/// smaller tiles; below `tiny_below` one warp a block, because there the time is the latency of a block.
template <class PointType>
struct SymmetricTuning;

template <>
struct SymmetricTuning<Point<float>> {
    using Large = SymmetricShape<8, 4, 16, false>;
    using Small = SymmetricShape<4, 2, 4, true>;
    using Tiny = SymmetricShape<2, 1, 4, true>;
    static constexpr int tiny_below = 8192, small_below = 49152;
};
template <>
struct SymmetricTuning<Point<double>> {
    using Large = SymmetricShape<4, 4, 1, true>;
    using Small = SymmetricShape<4, 2, 2, true>;
    using Tiny = SymmetricShape<2, 1, 2, true>;
    static constexpr int tiny_below = 8192, small_below = 49152;
};
template <>
struct SymmetricTuning<MixedPoint> {
    using Large = SymmetricShape<6, 4, 4, true>;
    using Small = SymmetricShape<4, 2, 2, true>;
    using Tiny = SymmetricShape<2, 1, 2, true>;
    static constexpr int tiny_below = 8192, small_below = 49152;
};

/// Partial sums of one launch take at most this; larger sums run in several slabs. A little over 1 GiB, as
/// groups of distances hold a slot more or less than a power of two.
constexpr long long workspace_bytes = (1LL << 30) / 16 * 17;

/// Far tiles on tensor cores, near ones as above; tiles of both are the same.
struct TensorTuning {
    using Far = FarShape<8, 4, 512, 4>;
    using Near = SymmetricShape<8, 2, 16, false>;
    static constexpr long long workspace_bytes = 4LL << 30;
};

/// Targets a thread, threads a block, sources a shared tile, unrolling of the tile's loop.
template <int targets_per_thread, int block_threads, int tile_sources, int unroll_steps>
struct RegisterTileShape {
    static constexpr int per_thread = targets_per_thread, threads = block_threads, tile = tile_sources,
                         unroll = unroll_steps, targets = per_thread * threads;
};

template <class PointType>
struct RegisterTileTuning {
    using Shape = RegisterTileShape<4, 128, 256, 4>;
};
template <>
struct RegisterTileTuning<Point<double>> {
    using Shape = RegisterTileShape<4, 128, 128, 2>;
};

} // namespace farfield::cuda
