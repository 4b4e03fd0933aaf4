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
constexpr int fold_rows = 4; ///< numbers along the axis that a thread makes

/// T(|j|) for j from −reach to reach, with zeros beyond either end for threads that make several numbers.
template <class Real>
struct FoldTaps {
    static constexpr int margin = 8;
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

/// Along the first axis, whose numbers lie side by side: a thread makes four of them.
template <class Real, class In>
__global__ void __launch_bounds__(fold_threads)
    fold_first_kernel(const FoldFour<In>* in, FoldFour<Real>* out, int fours, int fours_of_row, double unit,
                      const __grid_constant__ FoldTaps<Real> taps) {
    const int i = static_cast<int>(blockIdx.x) * fold_threads + static_cast<int>(threadIdx.x);
    if (i >= fours) return;
    const int own = i % fours_of_row;
    const int reach = (taps.reach + 3) / 4;
    const int from = max(-reach, -own), to = min(reach, fours_of_row - 1 - own);
    FoldFour<Real> sums{};
    for (int apart = from; apart <= to; ++apart) {
        const FoldFour<In> four = in[i + apart];
        Real near[7]; // T of −3 … 3 about their distance
#pragma unroll
        for (int j = 0; j < 7; ++j) near[j] = taps(4 * apart + j - 3);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Real value = number_of<Real>(four.at[k], unit);
#pragma unroll
            for (int n = 0; n < 4; ++n) sums.at[n] = fma(near[k - n + 3], value, sums.at[n]);
        }
    }
    out[i] = sums;
}

/// Along an axis whose numbers lie `stride` apart: a thread makes `fold_rows` of them.
template <class Real>
__global__ void __launch_bounds__(fold_threads)
    fold_kernel(const Real* in, Real* out, int stride, int length, int tasks,
                const __grid_constant__ FoldTaps<Real> taps) {
    const int task = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (task >= tasks) return;
    const int pieces = (length + fold_rows - 1) / fold_rows;
    const int side = task % stride;
    const int first = task / stride % pieces * fold_rows;
    const auto base = static_cast<std::int64_t>(task / stride / pieces) * stride * length + side;
    const int from = max(0, first - taps.reach), to = min(length - 1, first + fold_rows - 1 + taps.reach);
    Real sums[fold_rows] = {};
    for (int k = from; k <= to; ++k) {
        const Real value = in[base + static_cast<std::int64_t>(k) * stride];
#pragma unroll
        for (int row = 0; row < fold_rows; ++row) sums[row] = fma(taps(k - first - row), value, sums[row]);
    }
#pragma unroll
    for (int row = 0; row < fold_rows; ++row)
        if (first + row < length) out[base + static_cast<std::int64_t>(first + row) * stride] = sums[row];
}

unsigned blocks_of(std::int64_t threads) {
    return static_cast<unsigned>((threads + fold_threads - 1) / fold_threads);
}

} // namespace

template <class Real>
Real* fold_grid(const FoldTask<Real>& task, cudaStream_t stream) {
    const auto& placing = task.placing;
    const auto numbers = static_cast<int>(placing.numbers());
    const FoldTaps<Real> taps(*task.rule);
    Real *in = task.first, *out = task.second;
    const auto first_axis = [&](const auto* from, Real* to, double unit) {
        using In = std::remove_cvref_t<decltype(*from)>;
        fold_first_kernel<<<blocks_of(numbers / 4), fold_threads, 0, stream>>>(
            reinterpret_cast<const FoldFour<In>*>(from), reinterpret_cast<FoldFour<Real>*>(to), numbers / 4,
            placing.length[0] / 4, unit, taps);
    };
    if (task.spread != nullptr) {
        first_axis(task.spread, in, std::ldexp(1.0, -task.exponent));
    } else {
        first_axis(in, out, 1.0);
        std::swap(in, out);
    }
    check_launch("folding a grid");
    for (int axis = 1; axis < placing.dimension; ++axis, std::swap(in, out)) {
        const int length = placing.length[axis];
        const int tasks = numbers / length * ((length + fold_rows - 1) / fold_rows);
        fold_kernel<<<blocks_of(tasks), fold_threads, 0, stream>>>(in, out, placing.stride(axis), length,
                                                                   tasks, taps);
        check_launch("folding a grid");
    }
    return in;
}

template float* fold_grid(const FoldTask<float>&, cudaStream_t);
template double* fold_grid(const FoldTask<double>&, cudaStream_t);

} // namespace farfield::cuda
