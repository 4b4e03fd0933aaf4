// The slides' three dynamic schemes: kernels that launch kernels. Relocatable device code, so this file is
// linked in a library of its own. The host launches a kernel a box, spread over streams as the boxes do not
// depend on each other:
//   1  a kernel for the box launches one for its neighbours, which launches one for each operator;
//   2  the kernel for the neighbours comes from the host;
//   3  as 2, and an operator's kernel has (p + 1)² threads and keeps ω and M in shared memory.
// A device-side launch goes to the fire-and-forget stream: in a block's default stream they would run one
// after the other.
#include "studies/fmm_strategies/cuda/device_problem.cuh"

#include <array>
#include <memory>

namespace farfield::strategies {
namespace {

constexpr int host_streams = 32, launches_buffered = 32768;

struct Operation {
    int target, source, op;
};

// Block l, rows of lanes m, lanes j: what an operator's kernel does in schemes 1 and 2.
template <class Real, int lanes>
__global__ void operator_kernel(LevelProblem<Real> at, Operation which) {
    const int l = static_cast<int>(blockIdx.x), m = static_cast<int>(threadIdx.y),
              lane = static_cast<int>(threadIdx.x);
    if (m > l) return;
    Complex<Real> sum{0, 0};
    if (lane <= at.order)
        add_row(sum, at.operators + static_cast<std::size_t>(which.op) * half_size(2 * at.order),
                at.omega + static_cast<std::size_t>(which.source) * half_size(at.order), l, m, lane);
    auto& mu = at.mu[static_cast<std::size_t>(which.target) * half_size(at.order) + half_place(l, m)];
    reduce_into<Real, lanes>(mu, sum, lane);
}

// Scheme 3: thread (m, l) goes through j and k.
template <class Real>
__global__ void cached_operator_kernel(LevelProblem<Real> at, Operation which) {
    extern __shared__ double2 shared_memory[];
    auto* op = reinterpret_cast<Complex<Real>*>(shared_memory);
    auto* omega = op + half_size(2 * at.order);
    const int threads = static_cast<int>(blockDim.x * blockDim.y);
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const auto* from_op = at.operators + static_cast<std::size_t>(which.op) * half_size(2 * at.order);
    const auto* from = at.omega + static_cast<std::size_t>(which.source) * half_size(at.order);
    for (int place = thread; place < half_size(2 * at.order); place += threads) op[place] = from_op[place];
    for (int place = thread; place < half_size(at.order); place += threads) omega[place] = from[place];
    __syncthreads();
    const int l = static_cast<int>(threadIdx.y), m = static_cast<int>(threadIdx.x);
    if (m > l) return;
    Complex<Real> sum{0, 0};
    for (int j = 0; j <= at.order; ++j) add_row(sum, op, omega, l, m, j);
    auto& mu = at.mu[static_cast<std::size_t>(which.target) * half_size(at.order) + half_place(l, m)];
    atomicAdd(&mu.re, sum.re);
    atomicAdd(&mu.im, sum.im);
}

__device__ void count_failure(int* failures) {
    if (cudaGetLastError() != cudaSuccess) atomicAdd(failures, 1);
}

// One thread a neighbour.
template <class Real>
__global__ void neighbours_kernel(LevelProblem<Real> at, int box, bool cached, int* failures) {
    const int n = static_cast<int>(threadIdx.x);
    const auto found = neighbour_of(box_at(box, at.dim), n, at.dim);
    if (found.source < 0) return;
    const Operation which{box, found.source, found.op};
    const auto terms = static_cast<unsigned>(at.order + 1);
    if (cached) {
        const auto bytes = sizeof(Complex<Real>) * (half_size(at.order) + half_size(2 * at.order));
        cached_operator_kernel<Real><<<1, dim3(terms, terms), bytes, cudaStreamFireAndForget>>>(at, which);
    } else if (at.order < 8) {
        operator_kernel<Real, 8><<<terms, dim3(8, terms), 0, cudaStreamFireAndForget>>>(at, which);
    } else if (at.order < 16) {
        operator_kernel<Real, 16><<<terms, dim3(16, terms), 0, cudaStreamFireAndForget>>>(at, which);
    } else {
        operator_kernel<Real, 32><<<terms, dim3(32, terms), 0, cudaStreamFireAndForget>>>(at, which);
    }
    count_failure(failures);
}

template <class Real>
__global__ void box_kernel(LevelProblem<Real> at, int box, int* failures) {
    neighbours_kernel<Real><<<1, neighbours, 0, cudaStreamFireAndForget>>>(at, box, false, failures);
    count_failure(failures);
}

} // namespace

template <class Real>
void enqueue_dynamic(const DeviceProblem<Real>& problem, int scheme, int* failures, cudaStream_t stream) {
    static const bool set = [] { // once in a process: it moves memory of the GPU
        cuda::check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, launches_buffered),
                    "making room for launches by the GPU");
        return true;
    }();
    static_cast<void>(set);
    static const auto streams = std::make_unique<std::array<cuda::Stream, host_streams>>();
    cuda::Signal begun;
    begun.record(stream);
    for (const auto& each : *streams) begun.hold(each.get());
    std::size_t next = 0;
    for (int level = first_level; level <= problem.depth; ++level) {
        const auto at = level_problem(problem, level);
        for (int box = 0; box < boxes_of_level(level); ++box) {
            const auto on = (*streams)[next++ % host_streams].get();
            if (scheme == 1)
                box_kernel<Real><<<1, 1, 0, on>>>(at, box, failures);
            else
                neighbours_kernel<Real><<<1, neighbours, 0, on>>>(at, box, scheme == 3, failures);
        }
    }
    cuda::check_launch("launching kernels that launch kernels");
    for (const auto& each : *streams) {
        cuda::Signal ended;
        ended.record(each.get());
        ended.hold(stream);
    }
}

template void enqueue_dynamic(const DeviceProblem<float>&, int, int*, cudaStream_t);
template void enqueue_dynamic(const DeviceProblem<double>&, int, int*, cudaStream_t);

} // namespace farfield::strategies
