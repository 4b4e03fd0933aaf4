#include "studies/fmm_strategies/memory_kinds.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "studies/fmm_strategies/cuda/device_problem.cuh"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace farfield::strategies {
namespace {

struct ManagedMemory {
    static void* allocate(std::size_t bytes) {
        void* memory = nullptr;
        cuda::check(cudaMallocManaged(&memory, bytes), "allocating managed memory");
        return memory;
    }
    static void release(void* memory) noexcept { cudaFree(memory); }
};
using Managed = cuda::OwnedArray<Moment, ManagedMemory>;

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Times `bring`, the kernels and `take`, which leaves µ in `mu`.
template <class Bring, class Take>
MemoryTime measured(const std::string& what, const DeviceProblem<double>& problem, const cuda::Stream& stream,
                    int repeats, std::vector<Moment>& mu, const Bring& bring, const Take& take) {
    std::vector<double> all, kernels;
    for (int run = -1; run < repeats; ++run) { // the first warms up
        const auto begun = std::chrono::steady_clock::now();
        bring();
        cuda::Event start, end;
        start.record(stream);
        enqueue_sequential(problem, stream.get());
        end.record(stream);
        take();
        const auto passed = std::chrono::steady_clock::now() - begun;
        if (run < 0) continue;
        all.push_back(std::chrono::duration<double, std::milli>(passed).count());
        kernels.push_back(cuda::Event::milliseconds(start, end));
    }
    return {what, median_of(all), median_of(kernels), mu};
}

MemoryTime explicit_time(const Problem& problem, bool pinned, const cuda::Stream& stream, int repeats) {
    const auto size = problem.omega.size();
    cuda::DeviceArray<Moment> omega(size), operators(problem.operators.size()), mu(size);
    cuda::PinnedArray<Moment> to(pinned ? size : 0), ops(pinned ? problem.operators.size() : 0),
        from(pinned ? size : 0);
    if (pinned) { // made there in a program that uses pinned memory
        std::memcpy(to.data(), problem.omega.data(), to.bytes());
        std::memcpy(ops.data(), problem.operators.data(), ops.bytes());
    }
    std::vector<Moment> out(size);
    Moment* const place = pinned ? from.data() : out.data();
    auto time = measured(
        pinned ? "explicit copies, pinned" : "explicit copies",
        {problem.order, problem.depth, omega.data(), operators.data(), mu.data()}, stream, repeats, out,
        [&] {
            cuda::copy(omega.data(), pinned ? to.data() : problem.omega.data(), size, stream.get());
            cuda::copy(operators.data(), pinned ? ops.data() : problem.operators.data(), operators.size(),
                       stream.get());
            cuda::check(cudaMemsetAsync(mu.data(), 0, mu.bytes(), stream.get()), "clearing µ");
        },
        [&] {
            cuda::copy(place, mu.data(), size, stream.get());
            stream.synchronize();
        });
    if (pinned) time.mu.assign(from.data(), from.data() + size);
    return time;
}

void send(const Managed& array, bool to_host, const cuda::Stream& stream) {
    cudaMemLocation where{};
    where.type = to_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    if (!to_host) cuda::check(cudaGetDevice(&where.id), "finding the current GPU");
#if CUDART_VERSION >= 13000
    cuda::check(cudaMemPrefetchAsync(array.data(), array.bytes(), where, 0, stream.get()),
                "moving managed memory");
#else
    cuda::check(
        cudaMemPrefetchAsync(array.data(), array.bytes(), to_host ? cudaCpuDeviceId : where.id, stream.get()),
        "moving managed memory");
#endif
}

// The host writes ω and the operators and reads µ in place: copies stand for making and using them there.
MemoryTime managed_time(const Problem& problem, bool told, const cuda::Stream& stream, int repeats) {
    const auto size = problem.omega.size();
    Managed omega(size), operators(problem.operators.size()), mu(size);
    std::vector<Moment> out(size);
    return measured(
        told ? "managed memory, prefetched" : "managed memory",
        {problem.order, problem.depth, omega.data(), operators.data(), mu.data()}, stream, repeats, out,
        [&] {
            std::memcpy(omega.data(), problem.omega.data(), omega.bytes());
            std::memcpy(operators.data(), problem.operators.data(), operators.bytes());
            std::memset(static_cast<void*>(mu.data()), 0, mu.bytes());
            if (told)
                for (const auto* array : {&omega, &operators, &mu}) send(*array, false, stream);
        },
        [&] {
            if (told) send(mu, true, stream);
            stream.synchronize();
            std::memcpy(out.data(), mu.data(), mu.bytes());
        });
}

} // namespace

std::vector<MemoryTime> measure_memory_kinds(const Problem& problem, int repeats) {
    const cuda::Stream stream;
    std::vector<MemoryTime> times;
    for (const bool pinned : {false, true}) times.push_back(explicit_time(problem, pinned, stream, repeats));
    for (const bool told : {false, true}) times.push_back(managed_time(problem, told, stream, repeats));
    return times;
}

} // namespace farfield::strategies
