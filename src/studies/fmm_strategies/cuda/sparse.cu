// M2L of a sparse tree: what dynamic scheme 3 does for an operator, (l, m) by thread with ω and M in shared
// memory, but a block goes through all sources of its target, so that nothing is launched and nothing added
// atomically. The same bits from run to run.
#include "studies/fmm_strategies/sparse_runs.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"

#include <algorithm>

namespace farfield::strategies {
namespace {

struct SparseLists {
    int order;
    const std::int64_t* begin;
    const std::int32_t* source;
    const std::int16_t* op;
    const Moment *omega, *operators;
    Moment* mu;
};

__global__ void sparse_kernel(SparseLists at) {
    extern __shared__ double2 sparse_memory[];
    auto* op = reinterpret_cast<Moment*>(sparse_memory);
    auto* omega = op + half_size(2 * at.order);
    const int size = half_size(at.order), op_size = half_size(2 * at.order);
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const auto degree = degree_at(thread < size ? thread : 0);
    Moment sum{0, 0};
    for (auto pair = at.begin[blockIdx.x]; pair < at.begin[blockIdx.x + 1]; ++pair) {
        const auto* from_op = at.operators + static_cast<std::size_t>(at.op[pair]) * op_size;
        const auto* from = at.omega + static_cast<std::size_t>(at.source[pair]) * size;
        for (int place = thread; place < op_size; place += threads) op[place] = from_op[place];
        for (int place = thread; place < size; place += threads) omega[place] = from[place];
        __syncthreads();
        if (thread < size)
            for (int j = 0; j <= at.order; ++j) add_row(sum, op, omega, degree.l, degree.m, j);
        __syncthreads();
    }
    if (thread < size) at.mu[static_cast<std::size_t>(blockIdx.x) * size + thread] = sum;
}

template <class T>
cuda::DeviceArray<T> uploaded(const std::vector<T>& values, const cuda::Stream& stream) {
    cuda::DeviceArray<T> out(values.size());
    cuda::copy(out.data(), values.data(), values.size(), stream.get());
    return out;
}

} // namespace

SparseResult run_sparse(const SparseProblem& problem, int repeats) {
    const cuda::Stream stream;
    const auto begin = uploaded(problem.begin, stream);
    const auto source = uploaded(problem.source, stream);
    const auto op = uploaded(problem.op, stream);
    const auto omega = uploaded(problem.omega, stream), operators = uploaded(problem.operators, stream);
    cuda::DeviceArray<Moment> mu(problem.omega.size());
    const int size = half_size(problem.order), threads = (size + 31) / 32 * 32;
    const auto bytes = sizeof(Moment) * static_cast<std::size_t>(size + half_size(2 * problem.order));
    std::vector<double> times;
    for (int run = -1; run < repeats; ++run) {
        cuda::Event start, end;
        start.record(stream);
        sparse_kernel<<<static_cast<unsigned>(problem.boxes()), threads, bytes, stream.get()>>>(
            {problem.order, begin.data(), source.data(), op.data(), omega.data(), operators.data(),
             mu.data()});
        end.record(stream);
        cuda::check_launch("computing M2L of a sparse tree");
        if (const double time = cuda::Event::milliseconds(start, end); run >= 0) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    SparseResult result{times[times.size() / 2], std::vector<Moment>(mu.size())};
    cuda::copy(result.mu.data(), mu.data(), mu.size(), stream.get());
    stream.synchronize();
    return result;
}

} // namespace farfield::strategies
