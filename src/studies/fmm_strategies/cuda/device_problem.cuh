// What the kernels of all strategies see of a problem.
#pragma once

#include "backend/cuda/check.h"
#include "backend/cuda/stream.h"
#include "studies/fmm_strategies/boxes.h"
#include "studies/fmm_strategies/moments.h"

#include <cub/warp/warp_reduce.cuh>

namespace farfield::strategies {

template <class Real>
struct DeviceProblem {
    int order, depth;
    const Complex<Real>* omega;     ///< all boxes
    const Complex<Real>* operators; ///< all offsets, of order 2p
    Complex<Real>* mu;              ///< all boxes
};

template <class Real>
struct LevelProblem {
    int order, dim;
    const Complex<Real>* omega; ///< of the level
    const Complex<Real>* operators;
    Complex<Real>* mu;
};

template <class Real>
LevelProblem<Real> level_problem(const DeviceProblem<Real>& all, int level) {
    const auto begin = static_cast<std::ptrdiff_t>(level_begin(level)) * half_size(all.order);
    return {all.order, boxes_an_axis(level), all.omega + begin, all.operators, all.mu + begin};
}

#if defined(__CUDACC__)
/// Adds the sum over a group of lanes to µ_lm; the slides reduce with CUB, too.
template <class Real, int lanes>
__device__ void reduce_into(Complex<Real>& mu, const Complex<Real>& part, int lane) {
    using Reduce = cub::WarpReduce<Real, lanes>;
    typename Reduce::TempStorage unused; // of shuffles
    const Real re = Reduce(unused).Sum(part.re);
    const Real im = Reduce(unused).Sum(part.im);
    if (lane == 0) {
        atomicAdd(&mu.re, re);
        atomicAdd(&mu.im, im);
    }
}
#endif

/// Queues a strategy's kernels for all levels on the stream.
template <class Real>
void enqueue_full(const DeviceProblem<Real>& problem, cudaStream_t stream);
/// Its index arithmetic alone: what it leads to ends in `sink` if it is a certain number, so never.
template <class Real>
void enqueue_indices(const DeviceProblem<Real>& problem, int* sink, cudaStream_t stream);
template <class Real>
void enqueue_sequential(const DeviceProblem<Real>& problem, cudaStream_t stream);
/// Schemes 1 to 3. `failures` counts launches that the GPU refused.
template <class Real>
void enqueue_dynamic(const DeviceProblem<Real>& problem, int scheme, int* failures, cudaStream_t stream);

} // namespace farfield::strategies
