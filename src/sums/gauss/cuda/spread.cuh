// Spreads points onto a grid of a GPU. Instantiated for one type of numbers a file.
#pragma once

#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_lanes.cuh"
#include "sums/gauss/cuda/grid_widths.cuh"

#include <algorithm>

namespace farfield::cuda {

template <class Real, int Width>
struct SpreadKernelTask {
    GridPointsOnGpu<Real> sources;
    const double* strengths;
    const std::int32_t* from; ///< the row of each point's strength
    PowerOfTwo factor;        ///< of strengths
    PairedWindow<Real, Width> window;
    int row_stride, plane_stride;
    CellWalk<Width> walk; ///< before the first point
    int points_of_a_warp;
    Real unit; ///< 1 in whole multiples
    unsigned long long* grid;
    int copies;
    std::int64_t numbers; ///< of one grid
};

/// Sums of a lane's slots in the planes that the cell at hand touches.
template <class Real, int Width, int D>
struct SpreadSums {
    using Lanes = GridLanes<Width, D>;
    Real sums[Lanes::at_once][Width];

    __device__ SpreadSums() {
#pragma unroll
        for (int q = 0; q < Lanes::at_once; ++q)
#pragma unroll
            for (int i = 0; i < Width; ++i) sums[q][i] = Real(0);
    }

    __device__ void add(const Real* row, const LaneSlots<Width, D>& slots) {
        using Rows = TapRows<Real, Width, D, false>;
        Real last[Width];
        load_taps(row + (D - 1) * Rows::axis, last);
#pragma unroll
        for (int q = 0; q < Lanes::at_once; ++q) {
            Real weight = D == 1 ? Real(1) : row[slots.x[q]];
            if constexpr (D > 2) weight *= row[Rows::axis + slots.y[q]];
#pragma unroll
            for (int i = 0; i < Width; ++i) sums[q][i] = Ops<Real>::fma(weight, last[i], sums[q][i]);
        }
    }

    /// The lowest plane goes to the grid, and the others move down.
    __device__ void leave(const SpreadKernelTask<Real, Width>& task, const LaneSlots<Width, D>& slots,
                          unsigned long long* plane) {
        const bool first_group = threadIdx.x % 32 < static_cast<unsigned>(Lanes::lanes);
#pragma unroll
        for (int q = 0; q < Lanes::at_once; ++q) {
            Real sum = sums[q][0];
#pragma unroll
            for (int apart = Lanes::lanes; apart < 32; apart *= 2)
                sum += __shfl_xor_sync(all_lanes, sum, apart);
            if (slots.on[q] && first_group && sum != Real(0))
                atomicAdd(plane + slots.place[q], static_cast<unsigned long long>(llrint(sum * task.unit)));
#pragma unroll
            for (int i = 0; i + 1 < Width; ++i) sums[q][i] = sums[q][i + 1];
            sums[q][Width - 1] = Real(0);
        }
    }
};

template <class Real, int Width, int D>
__global__ void __launch_bounds__(32 * grid_warps<Real>)
    spread_kernel(const __grid_constant__ SpreadKernelTask<Real, Width> task) {
    using Lanes = GridLanes<Width, D>;
    using Rows = TapRows<Real, Width, D, false>;
    __shared__ alignas(16) Rows tables[grid_warps<Real>];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    Real* const table = tables[warp].numbers;
    const int begin = (static_cast<int>(blockIdx.x) * grid_warps<Real> + warp) * task.points_of_a_warp;
    const int end = min(task.sources.count, begin + task.points_of_a_warp);
    if (begin >= end) return;
    unsigned long long* const grid = task.grid + static_cast<int>(blockIdx.x) % task.copies * task.numbers;
    for (int slab = 0; slab < Lanes::slabs; ++slab) {
        const LaneSlots<Width, D> slots(slab, lane, task.row_stride);
        SpreadSums<Real, Width, D> sums;
        auto walk = task.walk;
        unsigned long long* plane = grid; // that the lowest sums are of
        // The kernel is bound by the instructions that are issued, so that loops which seldom go round twice
        // are not unrolled. In space a lane has more sums to move down: several planes at once.
        constexpr int planes_at_a_time = D == 3 ? 4 : 1;
        const auto leave = [&](int planes) {
#pragma unroll planes_at_a_time
            for (int step = 0; step < planes; ++step, plane += task.plane_stride)
                sums.leave(task, slots, plane);
        };
        for (int first = begin; first < end; first += 32) {
            const int count = min(32, end - first);
            int place = 0;
            __syncwarp();
            if (lane < count) {
                const auto point = task.sources.points[first + lane];
                place = point.place;
                const auto strength = static_cast<Real>(task.factor(task.strengths[task.from[first + lane]]));
                make_taps<Real, Width, D, false>(task.window, point, strength, table + lane * Rows::row);
            }
            __syncwarp();
            walk(place, count, [&](int at, int from, int to, int planes) {
                leave(planes);
                plane = grid + at;
#pragma unroll 1
                for (int row = (from + lane / Lanes::lanes) * Rows::row; row < to * Rows::row;
                     row += Lanes::groups * Rows::row)
                    sums.add(table + row, slots);
            });
        }
        leave(Width);
    }
}

template <class Real, int Width, int D>
void launch_spread(const SpreadTask<Real>& task, cudaStream_t stream) {
    const int points_of_a_warp = spread_points_of_a_warp(task.sources.count);
    const int points = grid_warps<Real> * points_of_a_warp;
    const auto& length = task.placing.length;
    const SpreadKernelTask<Real, Width> of{task.sources,
                                           task.strengths.numbers,
                                           task.strengths.from,
                                           PowerOfTwo(task.strengths.exponent),
                                           PairedWindow<Real, Width>(*task.window),
                                           length[0],
                                           task.placing.stride(D - 1),
                                           CellWalk<Width>(task.placing.stride(D - 1)),
                                           points_of_a_warp,
                                           static_cast<Real>(std::ldexp(1.0, task.exponent)),
                                           task.grid,
                                           task.copies,
                                           task.placing.numbers()};
    spread_kernel<Real, Width, D>
        <<<(task.sources.count + points - 1) / points, 32 * grid_warps<Real>, 0, stream>>>(of);
    check_launch("spreading points");
}

template <class Real>
void spread_points(const SpreadTask<Real>& task, cudaStream_t stream) {
    if (task.sources.count == 0) return;
    with_grid_width<Real>(task.window->width, task.placing.dimension,
                          [&]<int width, int d>() { launch_spread<Real, width, d>(task, stream); });
}

} // namespace farfield::cuda
