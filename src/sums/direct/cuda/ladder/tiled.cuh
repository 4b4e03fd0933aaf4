// The rungs `shared` to `flush`: one kernel, in which a block reads a tile of sources into shared memory and
// every thread walks over it. The rungs differ in how the walk is written; TileRung says how.
#pragma once

#include "sums/direct/cuda/ladder/ladder.cuh"

namespace farfield::cuda {

/// unroll: of the walk; test_everywhere: j ≠ i is tested in all tiles, not only in the one that holds i;
/// fused: r² as a chain of FMAs; flush: 1/√x without care for denormals.
template <int unroll_steps, bool test_everywhere, bool fused_distance, bool flush_denormals>
struct TileRung {
    static constexpr int unroll = unroll_steps;
    static constexpr bool tested = test_everywhere, fused = fused_distance, flush = flush_denormals;
};
using SharedRung = TileRung<1, true, false, false>;
using UnrolledRung = TileRung<8, true, false, false>;
using SoftenedRung = TileRung<8, false, false, false>;
using FmaRung = TileRung<8, false, true, false>;
using Unrolled128Rung = TileRung<128, false, true, false>;
using FlushRung = TileRung<128, false, true, true>;

template <class Real>
struct SharedTile {
    Real x[block_size], y[block_size], z[block_size], mass[block_size];

    /// Thread t brings source first + t; beyond n a source without mass, far away.
    __device__ __forceinline__ void load(const Arrays<Real>& body, int first, int n) {
        const int t = static_cast<int>(threadIdx.x), j = first + t;
        const bool inside = j < n;
        x[t] = inside ? body.x[j] : Real(1e18);
        y[t] = inside ? body.y[j] : Real(1e18);
        z[t] = inside ? body.z[j] : Real(1e18);
        mass[t] = inside ? body.mass[j] : Real(0);
    }
};

template <int outputs, class Rung, class Real>
__device__ __forceinline__ InversePowers<Real> tile_powers(const Difference<Real>& d, Real softening2) {
    const Real distance2 =
        Rung::fused ? squared_length(d, softening2) : d.x * d.x + d.y * d.y + d.z * d.z + softening2;
    if constexpr (Rung::flush)
        return inverse_powers<outputs>(distance2);
    else
        return reciprocal_root_powers(distance2);
}

/// `own` is the place of body i in the tile, for tiles that hold it.
template <class Real, int outputs, class Rung, bool tested>
__device__ __forceinline__ void walk_tile(const SharedTile<Real>& tile, const Vec4<Real>& me, int own,
                                          Real softening2, Sum<Real, outputs>& sum) {
#pragma unroll Rung::unroll
    for (int j = 0; j < block_size; ++j) {
        if (tested && j == own) continue;
        const Difference<Real> d{me.x - tile.x[j], me.y - tile.y[j], me.z - tile.z[j]};
        sum.add(d, tile.mass[j], tile_powers<outputs, Rung>(d, softening2));
    }
}

template <class Real, int outputs, class Rung>
__global__ void __launch_bounds__(block_size) tiled_kernel() {
    const auto& p = parameters<Real>();
    __shared__ SharedTile<Real> tile;
    const int i = static_cast<int>(blockIdx.x * block_size + threadIdx.x);
    const int mine = min(i, p.n - 1); // threads beyond the end help to load
    const Vec4<Real> me{p.body.x[mine], p.body.y[mine], p.body.z[mine], Real(0)};
    Sum<Real, outputs> sum;
    for (int first = 0; first < p.n; first += block_size) {
        __syncthreads();
        tile.load(p.body, first, p.n);
        __syncthreads();
        if (Rung::tested || first == static_cast<int>(blockIdx.x) * block_size)
            walk_tile<Real, outputs, Rung, true>(tile, me, i - first, p.softening2, sum);
        else
            walk_tile<Real, outputs, Rung, false>(tile, me, i - first, p.softening2, sum);
    }
    if (i < p.n) p.sums[i] = sum.value();
}

} // namespace farfield::cuda
