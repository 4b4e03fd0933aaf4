// The kernel of gauss_blocks.cuh. Instantiated for one type of numbers a file.
#pragma once

#include "backend/cuda/check.h"
#include "sums/direct/cuda/gauss/gauss_blocks.cuh"

#include <cuda_runtime.h>

namespace farfield::cuda {

constexpr int gauss_threads = 128;
constexpr int gauss_tile = 128; ///< sources in shared memory, one loaded by each thread

__device__ inline float two_to_minus(float r2) {
    float out = 0.0F;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(-r2));
    return out;
}
__device__ inline double two_to_minus(double r2) { return exp2(-r2); }

/// A source or a target.
template <class Real, int D, bool mixed>
struct GaussPointThere {
    Real x[D], low[mixed ? D : 1];

    __device__ void load(const GaussCoordinates<Real>& from, int i) {
#pragma unroll
        for (int k = 0; k < D; ++k) {
            x[k] = from.x[static_cast<std::int64_t>(k) * from.count + i];
            if constexpr (mixed) low[k] = from.x[static_cast<std::int64_t>(D + k) * from.count + i];
        }
    }
};

template <class Real, int D, bool mixed>
struct GaussSourceThere {
    GaussPointThere<Real, D, mixed> at;
    Real strength;
};

template <class Real, int D, bool mixed, bool with_gradient>
struct GaussTarget {
    static constexpr int columns = with_gradient ? 1 + D : 1;
    GaussPointThere<Real, D, mixed> at;
    Real sums[columns];
    double totals[columns];
    int number = 0;

    __device__ void begin() {
#pragma unroll
        for (int c = 0; c < columns; ++c) totals[c] = 0.0;
    }
    __device__ void begin_tile() {
#pragma unroll
        for (int c = 0; c < columns; ++c) sums[c] = Real(0);
    }
    __device__ void end_tile() {
#pragma unroll
        for (int c = 0; c < columns; ++c) totals[c] += static_cast<double>(sums[c]);
    }
    __device__ void add(const GaussSourceThere<Real, D, mixed>& source, bool counts) {
        Real d[D], r2 = Real(0);
#pragma unroll
        for (int k = 0; k < D; ++k) {
            d[k] = at.x[k] - source.at.x[k];
            if constexpr (mixed) d[k] += at.low[k] - source.at.low[k];
            r2 = fma(d[k], d[k], r2);
        }
        const Real weight = counts ? source.strength * two_to_minus(r2) : Real(0);
        sums[0] += weight;
        if constexpr (with_gradient)
#pragma unroll
            for (int k = 0; k < D; ++k) sums[1 + k] = fma(weight, d[k], sums[1 + k]);
    }
};

/// Targets of a thread.
template <class Real, int D>
constexpr int gauss_targets = sizeof(Real) == 4 && D <= 3 ? 4 : 2;

template <class Real, int D, bool mixed, bool with_gradient>
__global__ void __launch_bounds__(gauss_threads)
    gauss_block_kernel(const __grid_constant__ GaussBlockTask<Real> task) {
    constexpr int mine = gauss_targets<Real, D>;
    constexpr int of_block = mine * gauss_threads;
    __shared__ GaussSourceThere<Real, D, mixed> tile[gauss_tile];
    GaussTarget<Real, D, mixed, with_gradient> targets[mine];
    const int first = static_cast<int>(blockIdx.x) * of_block;
#pragma unroll
    for (int n = 0; n < mine; ++n) {
        targets[n].number = first + n * gauss_threads + static_cast<int>(threadIdx.x);
        targets[n].at.load(task.targets, min(targets[n].number, task.targets.count - 1));
        targets[n].begin();
    }
    const std::int64_t all = task.sources.count;
    const auto begin = static_cast<int>(all * blockIdx.y / task.parts);
    const auto end = static_cast<int>(all * (blockIdx.y + 1) / task.parts);
    for (int from = begin; from < end; from += gauss_tile) {
        const int count = min(gauss_tile, end - from);
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < count) {
            tile[threadIdx.x].at.load(task.sources, from + static_cast<int>(threadIdx.x));
            tile[threadIdx.x].strength = task.strengths[from + static_cast<int>(threadIdx.x)];
        }
        __syncthreads();
#pragma unroll
        for (int n = 0; n < mine; ++n) targets[n].begin_tile();
        if (task.without_own && from < first + of_block && first < from + count) {
            for (int k = 0; k < count; ++k)
#pragma unroll
                for (int n = 0; n < mine; ++n) targets[n].add(tile[k], from + k != targets[n].number);
        } else {
            for (int k = 0; k < count; ++k)
#pragma unroll
                for (int n = 0; n < mine; ++n) targets[n].add(tile[k], true);
        }
#pragma unroll
        for (int n = 0; n < mine; ++n) targets[n].end_tile();
    }
    constexpr int columns = with_gradient ? 1 + D : 1;
    double* const out = task.sums + static_cast<std::int64_t>(blockIdx.y) * columns * task.targets.count;
#pragma unroll
    for (int n = 0; n < mine; ++n)
        if (targets[n].number < task.targets.count)
#pragma unroll
            for (int c = 0; c < columns; ++c)
                out[static_cast<std::int64_t>(c) * task.targets.count + targets[n].number] =
                    targets[n].totals[c];
}

template <class Real, int D, bool mixed>
void launch_gauss_blocks(const GaussBlockTask<Real>& task, cudaStream_t stream) {
    constexpr int targets = gauss_threads * gauss_targets<Real, D>;
    const dim3 blocks(static_cast<unsigned>((task.targets.count + targets - 1) / targets),
                      static_cast<unsigned>(task.parts));
    if (task.with_gradient)
        gauss_block_kernel<Real, D, mixed, true><<<blocks, gauss_threads, 0, stream>>>(task);
    else
        gauss_block_kernel<Real, D, mixed, false><<<blocks, gauss_threads, 0, stream>>>(task);
    check_launch("summing Gaussians");
}

template <class Real, bool mixed, int D = 1>
void launch_gauss_blocks_from(const GaussBlockTask<Real>& task, cudaStream_t stream) {
    if constexpr (D < most_dimensions)
        if (task.dimension > D) return launch_gauss_blocks_from<Real, mixed, D + 1>(task, stream);
    launch_gauss_blocks<Real, D, mixed>(task, stream);
}

} // namespace farfield::cuda
