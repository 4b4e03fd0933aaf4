// Several targets a thread, so that a source read from shared memory serves all of them. The sources are cut
// into chunks that run as separate blocks: enough blocks for any number of targets, and short sums. Within a
// chunk each tile has its own sums, added to the chunk's when the tile is done: rounding grows with the tile,
// not with N.
#pragma once

#include "sums/direct/cuda/pair.cuh"

namespace farfield::cuda {

template <class PointType>
struct RegisterTileTask {
    const PointType* sources;
    const PointType* targets;
    int n_sources;
    int n_targets;
    int first_target; ///< targets are the sources from here on, or −1: they are other points
    int chunk;        ///< sources a block takes, a multiple of the tile
    typename PointType::real softening2;
    Vec4<typename PointType::real>* partials; ///< chunk number·stride + target
    long long stride;
};

/// One tile of sources on the thread's targets. With `diagonal` the tile may hold the targets themselves:
/// source number j0 + j is target number i0 + r·threads,
/// both counted as sources.
template <class PointType, int outputs, class Shape, bool diagonal>
__device__ __forceinline__ void
tile_on_targets(const PointType* tile, int j0, int i0, const PointType (&target)[Shape::per_thread],
                Sum<typename PointType::real, outputs> (&sum)[Shape::per_thread],
                typename PointType::real softening2) {
    Sum<typename PointType::real, outputs> tile_sum[Shape::per_thread];
#pragma unroll(diagonal ? 1 : Shape::unroll)
    for (int j = 0; j < Shape::tile; ++j) {
        const PointType source = tile[j];
#pragma unroll
        for (int r = 0; r < Shape::per_thread; ++r) {
            const auto d = difference(target[r], source);
            const auto inverse = inverse_powers<outputs>(squared_length(d, softening2));
            if (!diagonal || j0 + j != i0 + r * Shape::threads) tile_sum[r].add(d, source.at.w, inverse);
        }
    }
#pragma unroll
    for (int r = 0; r < Shape::per_thread; ++r) sum[r] += tile_sum[r];
}

template <class PointType, int outputs, class Shape>
__global__ void __launch_bounds__(Shape::threads)
    register_tile_kernel(const RegisterTileTask<PointType> task) {
    using Real = typename PointType::real;
    __shared__ PointType tile[Shape::tile];
    const int block_first = static_cast<int>(blockIdx.x) * Shape::targets;
    const int i0 = block_first + static_cast<int>(threadIdx.x);
    PointType target[Shape::per_thread];
    Sum<Real, outputs> sum[Shape::per_thread];
#pragma unroll
    for (int r = 0; r < Shape::per_thread; ++r)
        target[r] = load_or_padding(task.targets, i0 + r * Shape::threads, task.n_targets);

    const int first_source = task.first_target + block_first; // the first target among the sources
    const int begin = static_cast<int>(blockIdx.y) * task.chunk;
    const int end = min(begin + task.chunk, task.n_sources);
    for (int j0 = begin; j0 < end; j0 += Shape::tile) {
        __syncthreads();
        for (int j = static_cast<int>(threadIdx.x); j < Shape::tile; j += Shape::threads)
            tile[j] = load_or_padding(task.sources, j0 + j, task.n_sources);
        __syncthreads();
        const bool diagonal =
            task.first_target >= 0 && j0 < first_source + Shape::targets && j0 + Shape::tile > first_source;
        const int self = task.first_target + i0;
        if (diagonal)
            tile_on_targets<PointType, outputs, Shape, true>(tile, j0, self, target, sum, task.softening2);
        else
            tile_on_targets<PointType, outputs, Shape, false>(tile, j0, self, target, sum, task.softening2);
    }
#pragma unroll
    for (int r = 0; r < Shape::per_thread; ++r)
        task.partials[blockIdx.y * task.stride + i0 + r * Shape::threads] = sum[r].value();
}

} // namespace farfield::cuda
