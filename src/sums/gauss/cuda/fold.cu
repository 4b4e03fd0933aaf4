// Folds a grid with the row T of a rule, one axis after the other. The first fold reads whole multiples and
// makes numbers of them.
#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_passes.cuh"

#include <cuda_runtime.h>

#include <utility>

namespace farfield::cuda {
namespace {

constexpr int fold_threads = 256;
constexpr int fold_rows = 4; ///< numbers along the axis that a thread makes

/// T(|j|) for j from −reach to reach, with zeros beyond either end for threads that make several numbers.
template <class Real>
struct FoldTaps {
    int reach;
    Real at[2 * most_grid_reach + 1 + 2 * fold_rows];

    explicit FoldTaps(const GridRule& rule) : reach(rule.reach), at{} {
        for (int j = -reach; j <= reach; ++j)
            at[j + reach + fold_rows] =
                static_cast<Real>(rule.taps[static_cast<std::size_t>(j < 0 ? -j : j)]);
    }
    [[nodiscard]] __device__ Real operator()(int j) const { return at[j + reach + fold_rows]; }
};

template <class Real>
__device__ Real number_of(unsigned long long multiple, double unit) {
    return static_cast<Real>(static_cast<double>(static_cast<long long>(multiple)) * unit);
}
template <class Real>
__device__ Real number_of(Real number, double /*unit*/) {
    return number;
}

/// Along the first axis, whose numbers lie side by side: those of a block, and `reach` on either side, are
/// converted once.
template <class Real, class In>
__global__ void __launch_bounds__(fold_threads)
    fold_first_kernel(const In* in, Real* out, int numbers, int length, double unit,
                      const __grid_constant__ FoldTaps<Real> taps) {
    __shared__ Real line[fold_threads + 2 * most_grid_reach];
    const int begin = static_cast<int>(blockIdx.x) * fold_threads;
    for (int k = static_cast<int>(threadIdx.x); k < fold_threads + 2 * taps.reach; k += fold_threads) {
        const int i = begin + k - taps.reach;
        const bool inside = i >= 0 && i < numbers;
        line[k] = inside ? number_of<Real>(in[i], unit) : Real(0);
    }
    __syncthreads();
    const int i = begin + static_cast<int>(threadIdx.x);
    if (i >= numbers) return;
    const int x = i % length;
    const int from = max(-taps.reach, -x), to = min(taps.reach, length - 1 - x);
    Real sum = Real(0);
    for (int j = from; j <= to; ++j)
        sum = fma(taps(j), line[static_cast<int>(threadIdx.x) + taps.reach + j], sum);
    out[i] = sum;
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
    if (task.spread != nullptr) {
        fold_first_kernel<<<blocks_of(numbers), fold_threads, 0, stream>>>(
            task.spread, in, numbers, placing.length[0], std::ldexp(1.0, -task.exponent), taps);
    } else {
        fold_first_kernel<<<blocks_of(numbers), fold_threads, 0, stream>>>(
            static_cast<const Real*>(in), out, numbers, placing.length[0], 1.0, taps);
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
