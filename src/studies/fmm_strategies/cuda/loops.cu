// The slides' kernels "full parallelization" and "sequential inner loop": one launch a level, everything a
// group of lanes needs to know from its number by divisions. Sums of several groups meet in float atomics, so
// their last bits differ from run to run.
#include "studies/fmm_strategies/cuda/device_problem.cuh"

namespace farfield::strategies {
namespace {

constexpr int block_threads = 256;

// A group has (box, n, l, m, j); its lanes have k. With `indices_only` nothing but the mapping is left.
template <class Real, int lanes, bool indices_only>
__global__ void full_kernel(LevelProblem<Real> at, std::uint32_t groups, int* sink) {
    const std::uint32_t group = blockIdx.x * (block_threads / lanes) + threadIdx.x / lanes;
    if (group >= groups) return;
    const auto index = loop_index(group, at.order, true);
    const auto found = neighbour_of(box_at(index.box, at.dim), index.n, at.dim);
    if (found.source < 0) return;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const auto* omega = at.omega + static_cast<std::size_t>(found.source) * half_size(at.order);
    const auto* op = at.operators + static_cast<std::size_t>(found.op) * half_size(2 * at.order);
    auto& mu =
        at.mu[static_cast<std::size_t>(index.box) * half_size(at.order) + half_place(index.l, index.m)];
    if constexpr (indices_only) {
        const auto used = reinterpret_cast<std::size_t>(&omega[half_place(index.j, lane)]) ^
                          reinterpret_cast<std::size_t>(&op[half_place(index.l + index.j, index.m)]) ^
                          reinterpret_cast<std::size_t>(&mu);
        if (used == 1) *sink = 1;
    } else {
        Complex<Real> sum{0, 0};
#pragma unroll 1
        for (int k = lane - index.j; k <= index.j; k += lanes)
            multiply_add(sum, coefficient(op, index.l + index.j, index.m + k),
                         coefficient(omega, index.j, k));
        reduce_into<Real, lanes>(mu, sum, lane);
    }
}

// A group has (box, n, l, m); its lanes have j and go through k one after the other.
template <class Real, int lanes>
__global__ void sequential_kernel(LevelProblem<Real> at, std::uint32_t groups) {
    const std::uint32_t group = blockIdx.x * (block_threads / lanes) + threadIdx.x / lanes;
    if (group >= groups) return;
    const auto index = loop_index(group, at.order, false);
    const auto found = neighbour_of(box_at(index.box, at.dim), index.n, at.dim);
    if (found.source < 0) return;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    Complex<Real> sum{0, 0};
    if (lane <= at.order)
        add_row(sum, at.operators + static_cast<std::size_t>(found.op) * half_size(2 * at.order),
                at.omega + static_cast<std::size_t>(found.source) * half_size(at.order), index.l, index.m,
                lane);
    auto& mu =
        at.mu[static_cast<std::size_t>(index.box) * half_size(at.order) + half_place(index.l, index.m)];
    reduce_into<Real, lanes>(mu, sum, lane);
}

// launch(lanes as a constant, groups, blocks) for each level.
template <class Real, class Launch>
void on_all_levels(const DeviceProblem<Real>& problem, bool parallel_j, int items, Launch&& launch) {
    const int lanes = lanes_for(items);
    for (int level = first_level; level <= problem.depth; ++level) {
        const auto at = level_problem(problem, level);
        const auto groups = static_cast<std::uint32_t>(loop_groups(level, problem.order, parallel_j));
        const auto blocks_of = [&](int width) {
            const auto each = static_cast<std::uint32_t>(block_threads / width);
            return groups / each + (groups % each != 0 ? 1 : 0);
        };
        if (lanes <= 8)
            launch(std::integral_constant<int, 8>{}, at, groups, blocks_of(8));
        else if (lanes == 16)
            launch(std::integral_constant<int, 16>{}, at, groups, blocks_of(16));
        else
            launch(std::integral_constant<int, 32>{}, at, groups, blocks_of(32));
        cuda::check_launch("computing M2L");
    }
}

template <class Real, bool indices_only>
void enqueue(const DeviceProblem<Real>& problem, int* sink, cudaStream_t stream) {
    on_all_levels(problem, true, 2 * problem.order + 1,
                  [&](auto lanes, const auto& at, std::uint32_t groups, std::uint32_t blocks) {
                      full_kernel<Real, decltype(lanes)::value, indices_only>
                          <<<blocks, block_threads, 0, stream>>>(at, groups, sink);
                  });
}

} // namespace

template <class Real>
void enqueue_full(const DeviceProblem<Real>& problem, cudaStream_t stream) {
    enqueue<Real, false>(problem, nullptr, stream);
}

template <class Real>
void enqueue_indices(const DeviceProblem<Real>& problem, int* sink, cudaStream_t stream) {
    enqueue<Real, true>(problem, sink, stream);
}

template <class Real>
void enqueue_sequential(const DeviceProblem<Real>& problem, cudaStream_t stream) {
    on_all_levels(problem, false, problem.order + 1,
                  [&](auto lanes, const auto& at, std::uint32_t groups, std::uint32_t blocks) {
                      sequential_kernel<Real, decltype(lanes)::value>
                          <<<blocks, block_threads, 0, stream>>>(at, groups);
                  });
}

template void enqueue_full(const DeviceProblem<float>&, cudaStream_t);
template void enqueue_full(const DeviceProblem<double>&, cudaStream_t);
template void enqueue_indices(const DeviceProblem<float>&, int*, cudaStream_t);
template void enqueue_indices(const DeviceProblem<double>&, int*, cudaStream_t);
template void enqueue_sequential(const DeviceProblem<float>&, cudaStream_t);
template void enqueue_sequential(const DeviceProblem<double>&, cudaStream_t);

} // namespace farfield::strategies
