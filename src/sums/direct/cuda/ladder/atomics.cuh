// The side branches that compute each pair once and give the partner its share with atomicAdd. The order of
// these additions is the machine's, so the last bits differ from run to run. `sums` starts at zero.
#pragma once

#include "sums/direct/cuda/ladder/ladder.cuh"
#include "sums/direct/cuda/ladder/tiled.cuh"

namespace farfield::cuda {

template <int outputs, class Real>
__device__ __forceinline__ void add_atomically(Vec4<Real>& sum, const Sum<Real, outputs>& share) {
    if constexpr (outputs & field_only) {
        atomicAdd(&sum.x, share.x);
        atomicAdd(&sum.y, share.y);
        atomicAdd(&sum.z, share.z);
    }
    if constexpr (outputs & potential_only) atomicAdd(&sum.w, share.potential);
}

/// A thread a body i, partners j < i; three or four atomics on global memory a pair.
template <class Real, int outputs>
__global__ void atomics_kernel() {
    const auto& p = parameters<Real>();
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= p.n) return;
    const Vec4<Real> me = body_at(p, i);
    Sum<Real, outputs> sum;
    for (int j = 0; j < i; ++j) {
        const auto d = away_from(p, me, j);
        const auto inverse = rsqrt_powers(d, p.softening2);
        sum.add(d, p.body.mass[j], inverse);
        Sum<Real, outputs> share;
        share.add_opposite(d, me.w, inverse);
        add_atomically<outputs>(p.sums[j], share);
    }
    add_atomically<outputs>(p.sums[i], sum);
}

/// Tiles of 256 × 256 pairs; the shares of a tile's partners meet in shared memory, then go out once. Thread
/// t starts at partner t, so that a warp's threads are at different partners.
template <class Real, int outputs>
__global__ void __launch_bounds__(block_size) atomics_tiled_kernel() {
    const auto& p = parameters<Real>();
    __shared__ SharedTile<Real> tile;
    __shared__ Vec4<Real> share_of[block_size];
    const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block_size + t;
    const int mine = min(i, p.n - 1);
    const Vec4<Real> me{p.body.x[mine], p.body.y[mine], p.body.z[mine],
                        i < p.n ? p.body.mass[mine] : Real(0)};
    Sum<Real, outputs> sum;
    for (int first = 0; first <= static_cast<int>(blockIdx.x) * block_size; first += block_size) {
        __syncthreads();
        tile.load(p.body, first, p.n);
        share_of[t] = {0, 0, 0, 0};
        __syncthreads();
        for (int step = 0; step < block_size; ++step) {
            const int k = (t + step) % block_size, j = first + k;
            if (j >= i || i >= p.n) continue;
            const Difference<Real> d{me.x - tile.x[k], me.y - tile.y[k], me.z - tile.z[k]};
            const auto inverse = rsqrt_powers(d, p.softening2);
            sum.add(d, tile.mass[k], inverse);
            Sum<Real, outputs> share;
            share.add_opposite(d, me.w, inverse);
            add_atomically<outputs>(share_of[k], share);
        }
        __syncthreads();
        const Vec4<Real> gathered = share_of[t];
        if (first + t < p.n)
            add_atomically<outputs>(p.sums[first + t],
                                    Sum<Real, outputs>{gathered.x, gathered.y, gathered.z, gathered.w});
    }
    if (i < p.n) add_atomically<outputs>(p.sums[i], sum);
}

} // namespace farfield::cuda
