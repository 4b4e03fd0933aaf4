// The rungs `shared` to `flush`, and `fast-math`: one kernel, in which a block reads a tile of sources into
// shared memory and every thread walks over it. The rungs differ in how the walk is written; TileRung says
// how.
#pragma once

#include "sums/direct/cuda/ladder/constants.cuh"
#include "sums/direct/cuda/ladder/kernels.cuh"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/self_pair.h"

namespace farfield::cuda {

/// Options that the object of a rung is compiled with; the kernels' names differ by them.
constexpr int no_flags = 0, flush_flags = 1, fast_math_flags = 2;

/// unroll: of the walk; test_everywhere: j ≠ i is tested in all tiles, not only where it has to be; fused: r²
/// as a chain of FMAs; flags: those of the compiler. With flags, floats flush denormals by them, and doubles,
/// which they leave alone, take 1/√x from the estimate.
template <int unroll_steps, bool test_everywhere, bool fused_distance, int compiler_flags>
struct TileRung {
    static constexpr int unroll = unroll_steps, flags = compiler_flags;
    static constexpr bool tested = test_everywhere, fused = fused_distance;
};
using SharedRung = TileRung<1, true, false, no_flags>;
using UnrolledRung = TileRung<8, true, false, no_flags>;
using SoftenedRung = TileRung<8, false, false, no_flags>;
using FmaRung = TileRung<8, false, true, no_flags>;
using Unrolled128Rung = TileRung<128, false, true, no_flags>;
using FlushRung = TileRung<128, false, true, flush_flags>;
using FastMathRung = TileRung<128, false, true, fast_math_flags>;

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
    if constexpr (Rung::flags != no_flags && sizeof(Real) == sizeof(double))
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

/// `tests_self`: the tile that holds i is walked with a test (self_pair.h); always so where `Rung::tested`.
template <class Real, int outputs, class Rung, bool tests_self>
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
        if (Rung::tested || (tests_self && first == static_cast<int>(blockIdx.x) * block_size))
            walk_tile<Real, outputs, Rung, true>(tile, me, i - first, p.softening2, sum);
        else
            walk_tile<Real, outputs, Rung, false>(tile, me, i - first, p.softening2, sum);
    }
    if (i < p.n) p.sums[i] = sum.value();
}

template <class Real, int outputs, class Rung>
auto tiled_kernel_for(Real softening2) {
    if constexpr (!Rung::tested && outputs == field_only)
        if (self_pair_is_zero(softening2, outputs)) return tiled_kernel<Real, outputs, Rung, false>;
    return tiled_kernel<Real, outputs, Rung, true>;
}

template <class Real, int outputs, class Rung>
void launch_tiled_for(const LadderTask<Real>& task, cudaStream_t stream) {
    set_parameters(task, stream);
    const int blocks = (task.n + block_size - 1) / block_size;
    tiled_kernel_for<Real, outputs, Rung>(task.softening2)<<<blocks, block_size, 0, stream>>>();
    check_launch("launching a direct sum");
}

template <class Rung, class Real>
void launch_tiled(const LadderTask<Real>& task, cudaStream_t stream) {
    switch (task.outputs) {
    case field_only:
        return launch_tiled_for<Real, field_only, Rung>(task, stream);
    case potential_only:
        return launch_tiled_for<Real, potential_only, Rung>(task, stream);
    default:
        return launch_tiled_for<Real, field_and_potential, Rung>(task, stream);
    }
}

/// As a sum of the field with softening takes it.
template <class Rung, class Real>
RungKernel tiled_kernel_of_field() {
    return {reinterpret_cast<const void*>(tiled_kernel_for<Real, field_only, Rung>(Real(1))), block_size};
}

} // namespace farfield::cuda
