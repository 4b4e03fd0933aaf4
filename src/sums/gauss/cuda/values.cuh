// Takes values and gradients from a grid of a GPU. Instantiated for one type of numbers a file.
#pragma once

#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_lanes.cuh"
#include "sums/gauss/cuda/grid_widths.cuh"

#include <algorithm>

namespace farfield::cuda {

/// Where values go: each of a target times a power of two, to the caller's row.
template <class Real>
struct ValueResults {
    const std::int32_t* from;
    StrengthsOnGpu own;
    ResultFactor potential_factor, gradient_factor;
    double slope; ///< of gradients: 1/h
    double *potential, *gradient;
    int* not_finite;

    explicit ValueResults(const ValueTask<Real>& task)
        : from(task.from), own(task.own), potential_factor(task.potential_factor),
          gradient_factor(task.gradient_factor), slope(task.placing.inverse_spacing),
          potential(task.potential), gradient(task.gradient), not_finite(task.not_finite) {}

    /// Value `column` of target `i`: 0 its potential, from 1 on its gradient. `add`: to what is there.
    template <int D>
    __device__ void write(int i, int column, Real value, bool add) const {
        const auto row = static_cast<std::int64_t>(from[i]);
        double out = 0.0, *to = nullptr;
        if (column == 0) {
            if (potential == nullptr) return;
            to = potential + row;
            const double other =
                own.numbers != nullptr && !add ? static_cast<double>(strength_of<Real>(own, i)) : 0.0;
            out = potential_factor(static_cast<double>(value) - other);
        } else {
            if (gradient == nullptr) return;
            to = gradient + D * row + column - 1;
            out = gradient_factor(slope * static_cast<double>(value));
        }
        if (add) out += *to;
        *to = out;
        if (!isfinite(out)) *not_finite = 1; // whoever writes, writes the same
    }
};

template <class Real, int Width>
struct ValueKernelTask {
    GridPointsOnGpu<Real> targets;
    PairedWindow<Real, Width> window;
    int row_stride, plane_stride;
    const Real* grid;
    ValueResults<Real> results;
};

/// A lane's numbers of the grid in the planes that the cell at hand touches.
template <class Real, int Width, int D>
struct GridSight {
    using Lanes = GridLanes<Width, D>;
    Real numbers[Lanes::at_once][Width];

    /// Registers move up by one plane, and the highest comes from the grid.
    __device__ void enter(const LaneSlots<Width, D>& slots, const Real* plane) {
#pragma unroll
        for (int q = 0; q < Lanes::at_once; ++q) {
#pragma unroll
            for (int i = 0; i + 1 < Width; ++i) numbers[q][i] = numbers[q][i + 1];
            numbers[q][Width - 1] = slots.on[q] ? plane[slots.place[q]] : Real(0);
        }
    }
    __device__ void enter_all(const LaneSlots<Width, D>& slots, const Real* plane, int plane_stride) {
#pragma unroll
        for (int i = 0; i < Width; ++i, plane += plane_stride)
#pragma unroll
            for (int q = 0; q < Lanes::at_once; ++q)
                numbers[q][i] = slots.on[q] ? plane[slots.place[q]] : Real(0);
    }

    /// Adds this lane's share of a point's value and, with slopes, of its derivatives along the axes.
    template <bool with_slopes, int columns>
    __device__ void add(const Real* row, const LaneSlots<Width, D>& slots, Real (&out)[columns],
                        int column) const {
        using O = Ops<Real>;
        using Rows = TapRows<Real, Width, D, with_slopes>;
        Real last[Width], last_slope[Width];
        load_taps(row + (D - 1) * Rows::axis, last);
        if constexpr (with_slopes) load_taps(row + Rows::slopes + (D - 1) * Rows::axis, last_slope);
#pragma unroll
        for (int q = 0; q < Lanes::at_once; ++q) {
            Real along = Real(0), slope_along = Real(0);
#pragma unroll
            for (int i = 0; i < Width; ++i) {
                along = O::fma(numbers[q][i], last[i], along);
                if constexpr (with_slopes) slope_along = O::fma(numbers[q][i], last_slope[i], slope_along);
            }
            const Real x = D > 1 ? row[slots.x[q]] : Real(1);
            const Real y = D > 2 ? row[Rows::axis + slots.y[q]] : Real(1);
            const Real weight = x * y;
            out[column] = O::fma(weight, along, out[column]);
            if constexpr (with_slopes) {
                out[D] = O::fma(weight, slope_along, out[D]);
                if constexpr (D > 1) out[1] = O::fma(row[Rows::slopes + slots.x[q]] * y, along, out[1]);
                if constexpr (D > 2)
                    out[2] = O::fma(x * row[Rows::slopes + Rows::axis + slots.y[q]], along, out[2]);
            }
        }
    }
};

/// Sums four values over groups of `lanes` lanes; lane l of a group gets value l % 4.
template <int lanes, class Real>
__device__ inline Real sum_over_lanes(const Real (&v)[4]) {
    const bool odd = threadIdx.x % 2 != 0, high = threadIdx.x / 2 % 2 != 0;
    const Real low_pair = (odd ? v[1] : v[0]) + __shfl_xor_sync(all_lanes, odd ? v[0] : v[1], 1);
    const Real high_pair = (odd ? v[3] : v[2]) + __shfl_xor_sync(all_lanes, odd ? v[2] : v[3], 1);
    Real sum = (high ? high_pair : low_pair) + __shfl_xor_sync(all_lanes, high ? low_pair : high_pair, 2);
#pragma unroll
    for (int apart = 4; apart < lanes; apart *= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
    return sum;
}

/// The points of a run of one cell: four at a time for values, one for values and slopes.
template <class Real, int Width, int D, bool with_slopes>
__device__ inline void take_run(const ValueKernelTask<Real, Width>& task,
                                const GridSight<Real, Width, D>& sight, const LaneSlots<Width, D>& slots,
                                const Real* table, int first, int from, int to, bool add) {
    using Lanes = GridLanes<Width, D>;
    using Rows = TapRows<Real, Width, D, with_slopes>;
    constexpr bool alone = Lanes::lanes == 1; // nothing to sum over lanes
    constexpr int at_once = with_slopes || alone ? 1 : 4;
    const int lane = static_cast<int>(threadIdx.x % 32), own = lane % Lanes::lanes;
    for (int k = from + lane / Lanes::lanes; k - lane / Lanes::lanes < to; k += at_once * Lanes::groups) {
        Real values[4] = {};
#pragma unroll
        for (int n = 0; n < at_once; ++n)
            sight.template add<with_slopes>(table + min(k + n * Lanes::groups, 31) * Rows::row, slots, values,
                                            n);
        if constexpr (alone) {
            if (k >= to) continue;
#pragma unroll
            for (int column = 0; column < (with_slopes ? D + 1 : 1); ++column)
                task.results.template write<D>(first + k, column, values[column], add);
        } else {
            const Real sum = sum_over_lanes<Lanes::lanes>(values);
            if constexpr (with_slopes) {
                if (own <= D && k < to) task.results.template write<D>(first + k, own, sum, add);
            } else {
                const int point = k + own * Lanes::groups;
                if (own < 4 && point < to) task.results.template write<D>(first + point, 0, sum, add);
            }
        }
    }
}

template <class Real, int Width, int D, bool with_slopes>
__global__ void __launch_bounds__(32 * grid_warps<Real>)
    value_kernel(const __grid_constant__ ValueKernelTask<Real, Width> task) {
    using Lanes = GridLanes<Width, D>;
    using Rows = TapRows<Real, Width, D, with_slopes>;
    __shared__ alignas(16) Rows tables[grid_warps<Real>];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    Real* const table = tables[warp].numbers;
    const int begin = (static_cast<int>(blockIdx.x) * grid_warps<Real> + warp) * value_points_of_a_warp;
    const int end = min(task.targets.count, begin + value_points_of_a_warp);
    if (begin >= end) return;
    for (int slab = 0; slab < Lanes::slabs; ++slab) {
        const LaneSlots<Width, D> slots(slab, lane, task.row_stride);
        GridSight<Real, Width, D> sight;
        PlaneWalk walk;
        for (int first = begin; first < end; first += 32) {
            const int count = min(32, end - first);
            int place = 0;
            __syncwarp();
            if (lane < count) {
                const auto point = task.targets.points[first + lane];
                place = point.place;
                make_taps<Real, Width, D, with_slopes>(task.window, point, Real(1), table + lane * Rows::row);
            }
            __syncwarp();
            for_each_cell(place, count, [&](int at, int from, int to) {
                const int steps = walk.template steps_to<Width>(at, task.plane_stride);
                const Real* const lowest = task.grid + at;
                if (steps == Width) {
                    sight.enter_all(slots, lowest, task.plane_stride);
                } else {
                    for (int step = Width - steps; step < Width; ++step)
                        sight.enter(slots, lowest + static_cast<std::int64_t>(step) * task.plane_stride);
                }
                take_run<Real, Width, D, with_slopes>(task, sight, slots, table, first, from, to, slab > 0);
            });
        }
    }
}

template <class Real, int Width, int D>
void launch_values(const ValueTask<Real>& task, cudaStream_t stream) {
    constexpr int points = grid_warps<Real> * value_points_of_a_warp;
    const auto& placing = task.placing;
    const ValueKernelTask<Real, Width> of{task.targets,      PairedWindow<Real, Width>(*task.window),
                                          placing.length[0], placing.stride(D - 1),
                                          task.grid,         ValueResults<Real>(task)};
    const int blocks = (task.targets.count + points - 1) / points;
    if (task.gradient != nullptr)
        value_kernel<Real, Width, D, true><<<blocks, 32 * grid_warps<Real>, 0, stream>>>(of);
    else
        value_kernel<Real, Width, D, false><<<blocks, 32 * grid_warps<Real>, 0, stream>>>(of);
    check_launch("taking values");
}

template <class Real>
void take_values(const ValueTask<Real>& task, cudaStream_t stream) {
    if (task.targets.count == 0) return;
    with_grid_width<Real>(task.window->width, task.placing.dimension,
                          [&]<int width, int d>() { launch_values<Real, width, d>(task, stream); });
}

} // namespace farfield::cuda
