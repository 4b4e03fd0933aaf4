// Folds a grid with the row T of a rule, one axis after the other. The first fold reads whole multiples and
// makes numbers of them.
#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_passes.cuh"

#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

namespace farfield::cuda {
namespace {

constexpr int fold_threads = 256;
/// Numbers along the axis that a thread makes: more of them read the grid less often, fewer make more
/// threads.
constexpr int few_fold_rows = 4, many_fold_rows = 8;
constexpr std::int64_t grid_of_many = 1 << 20;

/// T(|j|) for j from −reach to reach, with zeros beyond either end for threads that make several numbers.
template <class Real>
struct FoldTaps {
    static constexpr int margin = 12;
    int reach;
    Real at[2 * (most_grid_reach + margin) + 1];

    explicit FoldTaps(const GridRule& rule) : reach(rule.reach), at{} {
        for (int j = -reach; j <= reach; ++j)
            at[j + reach + margin] = static_cast<Real>(rule.taps[static_cast<std::size_t>(j < 0 ? -j : j)]);
    }
    [[nodiscard]] __device__ Real operator()(int j) const { return at[j + reach + margin]; }
};

/// Four numbers of the grid beside each other.
template <class Number>
struct alignas(16) FoldFour {
    Number at[4];
};

template <class Real>
__device__ Real number_of(unsigned long long multiple, double unit) {
    return static_cast<Real>(static_cast<double>(static_cast<long long>(multiple)) * unit);
}
template <class Real>
__device__ Real number_of(Real number, double /*unit*/) {
    return number;
}

/// Four numbers, each the sum of those of all copies of the grid.
template <class Number>
__device__ FoldFour<Number> sum_of_copies(const FoldFour<Number>* in, int copies, int fours) {
    auto sum = in[0];
#pragma unroll 4
    for (int copy = 1; copy < copies; ++copy) {
        const auto other = in[static_cast<std::int64_t>(copy) * fours];
#pragma unroll
        for (int k = 0; k < 4; ++k) sum.at[k] += other.at[k];
    }
    return sum;
}

/// Along the first axis, whose numbers lie side by side: a thread makes four of them.
template <class Real, class In>
__global__ void __launch_bounds__(fold_threads)
    fold_first_kernel(const FoldFour<In>* in, int copies, FoldFour<Real>* out, int fours, int fours_of_row,
                      double unit, const __grid_constant__ FoldTaps<Real> taps) {
    const int i = static_cast<int>(blockIdx.x) * fold_threads + static_cast<int>(threadIdx.x);
    if (i >= fours) return;
    const int own = i % fours_of_row;
    const int reach = (taps.reach + 3) / 4;
    const int from = max(-reach, -own), to = min(reach, fours_of_row - 1 - own);
    FoldFour<Real> sums{};
    Real near[7]; // T of −3 … 3 about their distance
#pragma unroll
    for (int j = 0; j < 3; ++j) near[4 + j] = taps(4 * (from - 1) + 1 + j);
    for (int apart = from; apart <= to; ++apart) {
        const FoldFour<In> four = sum_of_copies(in + i + apart, copies, fours);
#pragma unroll
        for (int j = 0; j < 7; ++j) near[j] = j < 3 ? near[j + 4] : taps(4 * apart + j - 3);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Real value = number_of<Real>(four.at[k], unit);
#pragma unroll
            for (int n = 0; n < 4; ++n) sums.at[n] = fma(near[k - n + 3], value, sums.at[n]);
        }
    }
    out[i] = sums;
}

/// Along an axis whose numbers lie `stride` apart.
template <class Real>
struct FoldAxis {
    const Real* in;
    Real* out;
    int stride = 0, length = 0, tasks = 0;
    unsigned long long* spread = nullptr; ///< to be cleared
    std::int64_t spread_numbers = 0;
};

/// A thread makes `fold_rows` numbers. `to_rows`: of the last axis, they are written side by side.
template <class Real, int fold_rows, bool to_rows>
__global__ void __launch_bounds__(fold_threads)
    fold_kernel(const FoldAxis<Real> axis, const __grid_constant__ FoldTaps<Real> taps) {
    const int task = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (task >= axis.tasks) return;
    for (std::int64_t i = task; i < axis.spread_numbers; i += axis.tasks) axis.spread[i] = 0;
    const int pieces = (axis.length + fold_rows - 1) / fold_rows;
    const int side = task % axis.stride;
    const int first = task / axis.stride % pieces * fold_rows;
    const auto base =
        static_cast<std::int64_t>(task / axis.stride / pieces) * axis.stride * axis.length + side;
    const int from = max(0, first - taps.reach);
    const int to = min(axis.length - 1, first + fold_rows - 1 + taps.reach);
    FoldFour<Real> sums[fold_rows / 4] = {};
    Real near[fold_rows]; // T(k − first − row)
#pragma unroll
    for (int row = 0; row < fold_rows; ++row) near[row] = taps(from - first - row - 1);
#pragma unroll 4
    for (int k = from; k <= to; ++k) {
        const Real value = axis.in[base + static_cast<std::int64_t>(k) * axis.stride];
#pragma unroll
        for (int row = fold_rows - 1; row > 0; --row) near[row] = near[row - 1];
        near[0] = taps(k - first);
#pragma unroll
        for (int row = 0; row < fold_rows; ++row)
            sums[row / 4].at[row % 4] = fma(near[row], value, sums[row / 4].at[row % 4]);
    }
    if constexpr (to_rows) {
        const int fours = (axis.length + 3) / 4;
        auto* const out =
            reinterpret_cast<FoldFour<Real>*>(axis.out) + static_cast<std::int64_t>(side) * fours;
#pragma unroll
        for (int four = 0; four < fold_rows / 4; ++four)
            if (first / 4 + four < fours) out[first / 4 + four] = sums[four];
    } else {
#pragma unroll
        for (int row = 0; row < fold_rows; ++row)
            if (first + row < axis.length)
                axis.out[base + static_cast<std::int64_t>(first + row) * axis.stride] =
                    sums[row / 4].at[row % 4];
    }
}

unsigned blocks_of(std::int64_t threads) {
    return static_cast<unsigned>((threads + fold_threads - 1) / fold_threads);
}

template <class Real, class In>
void fold_first(const FoldTask<Real>& task, const In* in, int copies, Real* out, double unit,
                cudaStream_t stream) {
    const auto fours = static_cast<int>(task.placing.numbers() / 4);
    fold_first_kernel<<<blocks_of(fours), fold_threads, 0, stream>>>(
        reinterpret_cast<const FoldFour<In>*>(in), copies, reinterpret_cast<FoldFour<Real>*>(out), fours,
        task.placing.length[0] / 4, unit, FoldTaps<Real>(*task.rule));
    check_launch("folding a grid");
}

template <int fold_rows, bool to_rows, class Real>
void launch_fold(const FoldTask<Real>& task, FoldAxis<Real> of, cudaStream_t stream) {
    of.tasks =
        static_cast<int>(task.placing.numbers()) / of.length * ((of.length + fold_rows - 1) / fold_rows);
    fold_kernel<Real, fold_rows, to_rows>
        <<<blocks_of(of.tasks), fold_threads, 0, stream>>>(of, FoldTaps<Real>(*task.rule));
    check_launch("folding a grid");
}

template <bool to_rows, class Real>
void fold_along(int axis, const FoldTask<Real>& task, FoldAxis<Real> of, cudaStream_t stream) {
    of.stride = task.placing.stride(axis);
    of.length = task.placing.length[axis];
    if (task.placing.numbers() < grid_of_many)
        launch_fold<few_fold_rows, to_rows>(task, of, stream);
    else
        launch_fold<many_fold_rows, to_rows>(task, of, stream);
}

} // namespace

template <class Real>
RowsOfGrid<Real> fold_grid(const FoldTask<Real>& task, const SpreadTask<Real>& spread, cudaStream_t stream) {
    const auto& placing = task.placing;
    const int last = placing.dimension - 1;
    const std::int64_t spread_numbers = placing.numbers() * spread.copies;
    Real *in = task.first, *out = task.second;
    fold_first(task, spread.grid, spread.copies, in, std::ldexp(1.0, -spread.exponent), stream);
    for (int axis = 1; axis < last; ++axis, std::swap(in, out))
        fold_along<false>(axis, task, {in, out}, stream);
    if (last > 0) {
        fold_along<true>(last, task,
                         {.in = in, .out = out, .spread = spread.grid, .spread_numbers = spread_numbers},
                         stream);
        std::swap(in, out);
    } else {
        check(cudaMemsetAsync(spread.grid, 0, spread_numbers * sizeof(unsigned long long), stream),
              "clearing a grid");
    }
    return {in, (placing.length[last] + 3) / 4 * 4};
}

template <class Real>
Real* fold_numbers(const FoldTask<Real>& task, cudaStream_t stream) {
    Real *in = task.second, *out = task.first;
    fold_first(task, out, 1, in, 1.0, stream);
    for (int axis = 1; axis < task.placing.dimension; ++axis, std::swap(in, out))
        fold_along<false>(axis, task, {in, out}, stream);
    return in;
}

template RowsOfGrid<float> fold_grid(const FoldTask<float>&, const SpreadTask<float>&, cudaStream_t);
template RowsOfGrid<double> fold_grid(const FoldTask<double>&, const SpreadTask<double>&, cudaStream_t);
template float* fold_numbers(const FoldTask<float>&, cudaStream_t);
template double* fold_numbers(const FoldTask<double>&, cudaStream_t);

} // namespace farfield::cuda
