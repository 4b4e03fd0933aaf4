// Folds a grid with the row T of a rule. Instantiated for one type of numbers a file.
//
// A fold is bound by the instructions that are issued, not by memory, so loops know the reach of T when they
// are compiled: then a tap is an operand in constant memory. The first fold of a grid that was spread onto
// reads whole multiples and makes numbers of them.
#pragma once

#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_passes.cuh"
#include "sums/gauss/grid/widths.h"

#include <farfield/error.h>

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace farfield::cuda {

constexpr int fold_threads = 256;

/// T(0) … T(reach), with zeros beyond what the rule has.
template <class Real, int Reach>
struct FoldTaps {
    Real at[Reach + 1];

    explicit FoldTaps(const GridRule& rule) : at{} {
        for (int j = 0; j <= rule.reach; ++j)
            at[j] = static_cast<Real>(rule.taps[static_cast<std::size_t>(j)]);
    }
};

/// Calls run<reach>() with the least even number from the rule's reach on.
template <class Real, int reach = 4, class Run>
void with_fold_reach(int wanted, const Run& run) {
    constexpr int most = sizeof(Real) == 8 ? most_double_reach : most_float_reach;
    if constexpr (reach > most) {
        throw InternalError("a rule of a reach that no loop was compiled for");
    } else {
        if (wanted <= reach)
            run.template operator()<reach>();
        else
            with_fold_reach<Real, reach + 2>(wanted, run);
    }
}

/// Four numbers of the grid beside each other.
template <class Number>
struct alignas(16) FoldFour {
    Number at[4];
};

template <class Real>
__device__ inline Real number_of(unsigned long long multiple, double unit) {
    return static_cast<Real>(static_cast<double>(static_cast<long long>(multiple)) * unit);
}
template <class Real>
__device__ inline Real number_of(Real number, double /*unit*/) {
    return number;
}

/// What is read first.
template <class In>
struct FoldInput {
    const FoldFour<In>* fours;
    int count, of_row; ///< fours of the grid, and of a row along the first axis
    int copies;        ///< of a grid of whole multiples, one behind the other
    double unit;       ///< of whole multiples

    /// The fours about `four`, the `own`-th of its row, summed over all copies. What the row does not have is
    /// 0. Those of a copy are read together: one wait for all of them.
    template <int fours_aside>
    __device__ void take(int four, int own, FoldFour<In> (&out)[2 * fours_aside + 1]) const {
#pragma unroll
        for (int k = 0; k <= 2 * fours_aside; ++k) {
            const int apart = k - fours_aside;
            out[k] = own + apart >= 0 && own + apart < of_row ? fours[four + apart] : FoldFour<In>{};
        }
        const int all = std::is_integral_v<In> ? copies : 1;
#pragma unroll 1
        for (int copy = 1; copy < all; ++copy) {
            const auto* const other = fours + static_cast<std::int64_t>(copy) * count + four;
#pragma unroll
            for (int k = 0; k <= 2 * fours_aside; ++k) {
                const int apart = k - fours_aside;
                if (own + apart < 0 || own + apart >= of_row) continue;
                const auto numbers = other[apart];
#pragma unroll
                for (int n = 0; n < 4; ++n) out[k].at[n] += numbers.at[n];
            }
        }
    }
};

/// Along the first axis, whose numbers lie side by side: the four at `four`, the `own`-th of its row.
template <class Real, class In, int Reach>
__device__ FoldFour<Real> fold_four(const FoldInput<In>& in, int four, int own,
                                    const FoldTaps<Real, Reach>& taps) {
    constexpr int fours = (Reach + 3) / 4;
    FoldFour<In> read[2 * fours + 1];
    in.template take<fours>(four, own, read);
    FoldFour<Real> sums{};
#pragma unroll
    for (int apart = -fours; apart <= fours; ++apart) {
        const auto& numbers = read[apart + fours];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Real value = number_of<Real>(numbers.at[k], in.unit);
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const int j = 4 * apart + k - n;
                if (j >= -Reach && j <= Reach) sums.at[n] = fma(taps.at[j < 0 ? -j : j], value, sums.at[n]);
            }
        }
    }
    return sums;
}

/// `rows` numbers beside each other along an axis whose numbers are read one by one, upwards: number(k) is
/// the k-th from the first of them on.
template <int rows, class Real, int Reach, class Number>
__device__ void fold_column(const Number& number, const FoldTaps<Real, Reach>& taps,
                            FoldFour<Real> (&sums)[rows / 4]) {
#pragma unroll
    for (int k = -Reach; k < rows + Reach; ++k) {
        const Real value = number(k);
#pragma unroll
        for (int row = 0; row < rows; ++row) {
            const int j = k - row;
            if (j >= -Reach && j <= Reach)
                sums[row / 4].at[row % 4] = fma(taps.at[j < 0 ? -j : j], value, sums[row / 4].at[row % 4]);
        }
    }
}

/// Along the first axis.
template <class Real, class In, int Reach>
__global__ void __launch_bounds__(fold_threads)
    fold_first_kernel(const FoldInput<In> in, FoldFour<Real>* out,
                      const __grid_constant__ FoldTaps<Real, Reach> taps) {
    const int four = static_cast<int>(blockIdx.x) * fold_threads + static_cast<int>(threadIdx.x);
    if (four < in.count) out[four] = fold_four(in, four, four % in.of_row, taps);
}

/// Along an axis whose numbers lie `stride` apart.
template <class Real>
struct FoldAxis {
    const Real* in;
    Real* out;
    int stride = 0, length = 0, tasks = 0;
};

/// A thread makes `rows` numbers. `to_rows`: of the last axis, they are written side by side.
template <class Real, int Reach, int rows, bool to_rows>
__global__ void __launch_bounds__(fold_threads)
    fold_axis_kernel(const FoldAxis<Real> axis, const __grid_constant__ FoldTaps<Real, Reach> taps) {
    const int task = static_cast<int>(blockIdx.x) * fold_threads + static_cast<int>(threadIdx.x);
    if (task >= axis.tasks) return;
    const int pieces = (axis.length + rows - 1) / rows;
    const int side = task % axis.stride;
    const int first = task / axis.stride % pieces * rows;
    const auto base =
        static_cast<std::int64_t>(task / axis.stride / pieces) * axis.stride * axis.length + side;
    const Real* at = axis.in + base + static_cast<std::int64_t>(first - Reach) * axis.stride;
    FoldFour<Real> sums[rows / 4] = {};
    const auto next = [&] {
        const Real number = *at;
        at += axis.stride;
        return number;
    };
    if (first >= Reach && first + rows + Reach <= axis.length) {
        fold_column<rows>([&](int /*k*/) { return next(); }, taps, sums);
    } else {
        fold_column<rows>(
            [&](int k) {
                if (first + k >= 0 && first + k < axis.length) return next();
                at += axis.stride;
                return Real(0);
            },
            taps, sums);
    }
    if constexpr (to_rows) {
        const int fours = (axis.length + 3) / 4;
        auto* const out =
            reinterpret_cast<FoldFour<Real>*>(axis.out) + static_cast<std::int64_t>(side) * fours;
#pragma unroll
        for (int four = 0; four < rows / 4; ++four)
            if (first / 4 + four < fours) out[first / 4 + four] = sums[four];
    } else {
#pragma unroll
        for (int row = 0; row < rows; ++row)
            if (first + row < axis.length)
                axis.out[base + static_cast<std::int64_t>(first + row) * axis.stride] =
                    sums[row / 4].at[row % 4];
    }
}

/// Numbers of a plane that a thread block makes: along the first axis, and rows along the second.
template <class Real>
constexpr int tile_width = 256 / static_cast<int>(sizeof(Real));
constexpr int tile_rows = 8;

/// A grid in the plane, whole; the numbers along the second axis are written side by side. Rows that were
/// folded along the first wait in shared memory.
template <class Real, class In, int Reach>
__global__ void __launch_bounds__(fold_threads)
    fold_plane_kernel(const FoldInput<In> in, Real* out, int length,
                      const __grid_constant__ FoldTaps<Real, Reach> taps) {
    constexpr int tile_fours = tile_width<Real> / 4;
    __shared__ FoldFour<Real> tile[(tile_rows + 2 * Reach) * tile_fours];
    const int along = (in.of_row + tile_fours - 1) / tile_fours;
    const int first_four = static_cast<int>(blockIdx.x) % along * tile_fours;
    const int first_row = static_cast<int>(blockIdx.x) / along * tile_rows;
    for (int k = static_cast<int>(threadIdx.x); k < (tile_rows + 2 * Reach) * tile_fours; k += fold_threads) {
        const int row = first_row - Reach + k / tile_fours, own = first_four + k % tile_fours;
        const bool inside = row >= 0 && row < length && own < in.of_row;
        tile[k] = inside ? fold_four(in, row * in.of_row + own, own, taps) : FoldFour<Real>{};
    }
    __syncthreads();
    const auto* const numbers = &tile[0].at[0];
    const int fours = (length + 3) / 4;
    for (int k = static_cast<int>(threadIdx.x); k < tile_width<Real> * tile_rows / 4; k += fold_threads) {
        const int side = k % tile_width<Real>, down = k / tile_width<Real> * 4;
        FoldFour<Real> sums[1] = {};
        fold_column<4>([&](int row) { return numbers[(Reach + down + row) * tile_width<Real> + side]; }, taps,
                       sums);
        const int x = 4 * first_four + side, four = (first_row + down) / 4;
        if (x < 4 * in.of_row && four < fours)
            reinterpret_cast<FoldFour<Real>*>(out)[static_cast<std::int64_t>(x) * fours + four] = sums[0];
    }
}

inline unsigned fold_blocks(std::int64_t things, int of_a_block) {
    return static_cast<unsigned>((things + of_a_block - 1) / of_a_block);
}

template <class Real, class In>
FoldInput<In> fold_input(const FoldTask<Real>& task, const In* in, int copies, double unit) {
    return {reinterpret_cast<const FoldFour<In>*>(in), static_cast<int>(task.placing.numbers() / 4),
            task.placing.length[0] / 4, copies, unit};
}

template <class Real, class In>
void fold_first(const FoldTask<Real>& task, const FoldInput<In>& in, Real* out, cudaStream_t stream) {
    with_fold_reach<Real>(task.rule->reach, [&]<int reach>() {
        fold_first_kernel<Real, In, reach><<<fold_blocks(in.count, fold_threads), fold_threads, 0, stream>>>(
            in, reinterpret_cast<FoldFour<Real>*>(out), FoldTaps<Real, reach>(*task.rule));
    });
    check_launch("folding a grid");
}

template <class Real, class In>
void fold_plane(const FoldTask<Real>& task, const FoldInput<In>& in, Real* out, cudaStream_t stream) {
    const auto& length = task.placing.length;
    const unsigned blocks = fold_blocks(length[0], tile_width<Real>) * fold_blocks(length[1], tile_rows);
    with_fold_reach<Real>(task.rule->reach, [&]<int reach>() {
        fold_plane_kernel<Real, In, reach>
            <<<blocks, fold_threads, 0, stream>>>(in, out, length[1], FoldTaps<Real, reach>(*task.rule));
    });
    check_launch("folding a grid");
}

template <int rows, bool to_rows, class Real>
void launch_fold_axis(const FoldTask<Real>& task, FoldAxis<Real> of, cudaStream_t stream) {
    of.tasks = static_cast<int>(task.placing.numbers()) / of.length * ((of.length + rows - 1) / rows);
    with_fold_reach<Real>(task.rule->reach, [&]<int reach>() {
        fold_axis_kernel<Real, reach, rows, to_rows>
            <<<fold_blocks(of.tasks, fold_threads), fold_threads, 0, stream>>>(
                of, FoldTaps<Real, reach>(*task.rule));
    });
    check_launch("folding a grid");
}

/// More numbers of a thread read the grid less often, fewer make more threads.
template <bool to_rows, class Real>
void fold_axis(int axis, const FoldTask<Real>& task, const Real* in, Real* out, cudaStream_t stream) {
    constexpr std::int64_t grid_of_many = 1 << 20;
    const FoldAxis<Real> of{
        .in = in, .out = out, .stride = task.placing.stride(axis), .length = task.placing.length[axis]};
    if (task.placing.numbers() < grid_of_many)
        launch_fold_axis<4, to_rows>(task, of, stream);
    else
        launch_fold_axis<8, to_rows>(task, of, stream);
}

template <class Real>
RowsOfGrid<Real> fold_grid(const FoldTask<Real>& task, const SpreadTask<Real>& spread, cudaStream_t stream) {
    const auto& placing = task.placing;
    const auto in = fold_input<Real>(task, static_cast<const unsigned long long*>(spread.grid), spread.copies,
                                     std::ldexp(1.0, -spread.exponent));
    const int last = placing.dimension - 1;
    if (last == 1) {
        fold_plane(task, in, task.first, stream);
    } else {
        fold_first(task, in, task.first, stream);
        if (last == 2) {
            fold_axis<false>(1, task, task.first, task.second, stream);
            fold_axis<true>(2, task, task.second, task.first, stream);
        }
    }
    return {task.first, (placing.length[last] + 3) / 4 * 4};
}

template <class Real>
Real* fold_numbers(const FoldTask<Real>& task, cudaStream_t stream) {
    fold_first(task, fold_input<Real>(task, static_cast<const Real*>(task.first), 1, 1.0), task.second,
               stream);
    fold_axis<false>(1, task, task.second, task.first, stream);
    fold_axis<false>(2, task, task.first, task.second, stream);
    return task.second;
}

} // namespace farfield::cuda
