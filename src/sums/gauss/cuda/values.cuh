// Takes values and gradients from a grid of a GPU: a thread a target. Instantiated for one type of numbers a
// file.
//
// Targets that follow one another lie in cells that do so along the last axis. There the grid's numbers lie
// side by side (RowsOfGrid), so the threads of a warp read the same few lines.
#pragma once

#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_widths.cuh"
#include "sums/gauss/cuda/value_results.cuh"

namespace farfield::cuda {

constexpr int value_threads = 128;
/// Thread blocks of a multiprocessor: without them the compiler loads whole planes of numbers at once.
template <class Real>
constexpr int value_blocks = sizeof(Real) == 8 ? 3 : 7;

template <class Real, int Width>
struct ValueKernelTask {
    GridPointsOnGpu<Real> targets;
    PairedWindow<Real, Width> window;
    int rows_of_second; ///< rows from one point of the second axis to the next
    int plane_stride;   ///< of places
    RowsOfGrid<Real> grid;
    ValueResults<Real> results;
    unsigned long long* spent;
    std::int64_t spent_numbers;
};

/// The taps of one axis, and their slopes.
template <class Real, int Width, bool with_slopes>
struct AxisTaps {
    Real value[Width], slope[with_slopes ? Width : 1];

    __device__ AxisTaps(const PairedWindow<Real, Width>& window, Real u) {
        paired_taps(window.value, u, Real(1), value);
        if constexpr (with_slopes) paired_taps(window.slope, u, Real(-1), slope);
    }
};

/// The value of a point in its row, plane or grid, and the derivatives along the axes summed so far.
template <class Real>
struct TakenValue {
    Real value = Real(0), along_last = Real(0), along_rows = Real(0);
};

/// Over a row of w numbers. They are read one by one: what a warp gets a clock is 128 bytes, however many of
/// its threads read the same place, so that wider reads that overlap only cost more.
template <class Real, int Width, bool with_slopes>
__device__ TakenValue<Real> take_row(const Real* numbers, const AxisTaps<Real, Width, with_slopes>& last) {
    using O = Ops<Real>;
    TakenValue<Real> out;
#pragma unroll
    for (int k = 0; k < Width; ++k) {
        const Real number = numbers[k];
        out.value = O::fma(number, last.value[k], out.value);
        if constexpr (with_slopes) out.along_last = O::fma(number, last.slope[k], out.along_last);
    }
    return out;
}

/// Over w rows that lie `stride` apart.
template <class Real, int Width, bool with_slopes>
__device__ TakenValue<Real> take_rows(const Real* numbers, std::int64_t stride,
                                      const AxisTaps<Real, Width, with_slopes>& last,
                                      const AxisTaps<Real, Width, with_slopes>& across) {
    using O = Ops<Real>;
    TakenValue<Real> out;
#pragma unroll
    for (int k = 0; k < Width; ++k) {
        const auto row = take_row(numbers + k * stride, last);
        out.value = O::fma(across.value[k], row.value, out.value);
        if constexpr (with_slopes) {
            out.along_last = O::fma(across.value[k], row.along_last, out.along_last);
            out.along_rows = O::fma(across.slope[k], row.value, out.along_rows);
        }
    }
    return out;
}

template <class Real, int Width, int D, bool with_slopes>
__global__ void __launch_bounds__(value_threads, value_blocks<Real>)
    value_kernel(const __grid_constant__ ValueKernelTask<Real, Width> task) {
    using O = Ops<Real>;
    using Taps = AxisTaps<Real, Width, with_slopes>;
    constexpr int kinds = with_slopes ? 2 : 1;
    // In space the first axis' taps, which a loop goes along.
    __shared__ Real first_taps[D == 3 ? kinds * Width : 1][value_threads];
    const int i = static_cast<int>(blockIdx.x) * value_threads + static_cast<int>(threadIdx.x);
    const auto threads = static_cast<std::int64_t>(gridDim.x) * value_threads;
    for (std::int64_t k = i; k < task.spent_numbers; k += threads) task.spent[k] = 0;
    if (i >= task.targets.count) return;
    const auto point = task.targets.points[i];
    const std::int64_t row = task.results.from[i]; // early: it takes a while
    const int plane = point.place / task.plane_stride;
    const int side = point.place - plane * task.plane_stride;
    const std::int64_t pitch = task.grid.pitch;
    const Real* const corner = task.grid.numbers + side * pitch + plane;
    const Taps last(task.window, point.u[D - 1]);
    Real out[D + 1] = {};
    if constexpr (D == 1) {
        const auto taken = take_row(corner, last);
        out[0] = taken.value;
        out[1] = taken.along_last;
    } else if constexpr (D == 2) {
        const auto taken = take_rows(corner, pitch, last, Taps(task.window, point.u[0]));
        out[0] = taken.value;
        out[1] = taken.along_rows;
        out[2] = taken.along_last;
    } else {
        const Taps second(task.window, point.u[1]);
        {
            const Taps first(task.window, point.u[0]);
#pragma unroll
            for (int x = 0; x < Width; ++x) {
                first_taps[x][threadIdx.x] = first.value[x];
                if constexpr (with_slopes) first_taps[Width + x][threadIdx.x] = first.slope[x];
            }
        }
#pragma unroll 1
        for (int x = 0; x < Width; ++x) {
            const auto taken = take_rows(corner + x * pitch, task.rows_of_second * pitch, last, second);
            const Real tap = first_taps[x][threadIdx.x];
            out[0] = O::fma(tap, taken.value, out[0]);
            if constexpr (with_slopes) {
                out[1] = O::fma(first_taps[Width + x][threadIdx.x], taken.value, out[1]);
                out[2] = O::fma(tap, taken.along_rows, out[2]);
                out[3] = O::fma(tap, taken.along_last, out[3]);
            }
        }
    }
#pragma unroll
    for (int column = 0; column < (with_slopes ? D + 1 : 1); ++column)
        task.results.template write<D>(i, row, column, out[column]);
}

template <class Real, int Width, int D>
void launch_values(const ValueTask<Real>& task, cudaStream_t stream) {
    const auto& placing = task.placing;
    const ValueKernelTask<Real, Width> of{task.targets,      PairedWindow<Real, Width>(*task.window),
                                          placing.length[0], placing.stride(D - 1),
                                          task.grid,         ValueResults<Real>(task),
                                          task.spent,        task.spent_numbers};
    const int blocks = (task.targets.count + value_threads - 1) / value_threads;
    if (task.gradient != nullptr)
        value_kernel<Real, Width, D, true><<<blocks, value_threads, 0, stream>>>(of);
    else
        value_kernel<Real, Width, D, false><<<blocks, value_threads, 0, stream>>>(of);
    check_launch("taking values");
}

template <class Real>
void take_values(const ValueTask<Real>& task, cudaStream_t stream) {
    if (task.targets.count == 0) {
        check(cudaMemsetAsync(task.spent, 0, task.spent_numbers * sizeof(unsigned long long), stream),
              "clearing a grid");
        return;
    }
    with_grid_width<Real>(task.window->width, task.placing.dimension,
                          [&]<int width, int d>() { launch_values<Real, width, d>(task, stream); });
}

} // namespace farfield::cuda
