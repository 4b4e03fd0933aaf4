#include "studies/cuda/ceilings.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/pair.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

namespace farfield::cuda {

namespace {

constexpr int fma_a_thread = 32768, rsqrt_chains = 8, rsqrt_repeats = 512, runs = 5;

// `unroll` is how often the loop over all chains stands in a trip of the machine's loop. `in` holds numbers
// near 1 and near 0 that the compiler does not know.
template <class Real, int chains, int unroll, bool own_operands>
__global__ void fma_kernel(const Real* in, Real* out, long long* cycles, int fma_each, Real a, Real b) {
    const long long start = clock64();
    Real value[chains], factor[chains], addend[chains];
    for (int k = 0; k < chains; ++k) {
        value[k] = static_cast<Real>(threadIdx.x + k);
        factor[k] = own_operands ? in[2 * k] : a;
        addend[k] = own_operands ? in[2 * k + 1] : b;
    }
    const int trips = fma_each / (chains * unroll);
#pragma unroll 1
    for (int i = 0; i < trips; ++i)
#pragma unroll
        for (int u = 0; u < unroll; ++u)
#pragma unroll
            for (int k = 0; k < chains; ++k)
                value[k] = own_operands ? fma(value[k], factor[k], addend[k]) : fma(value[k], a, b);
    Real sum = 0;
    for (int k = 0; k < chains; ++k) sum += value[k];
    if (sum == Real(-1)) *out = sum; // never; keeps the loop
    __syncthreads();                 // the first warps run ahead of the others
    if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - start;
}

__global__ void rsqrt_kernel(float* out) {
    float value[rsqrt_chains];
    for (int k = 0; k < rsqrt_chains; ++k) value[k] = static_cast<float>(threadIdx.x + k + 1);
    for (int i = 0; i < rsqrt_repeats; ++i)
#pragma unroll
        for (int k = 0; k < rsqrt_chains; ++k) value[k] = rsqrt_estimate(value[k]);
    float sum = 0;
    for (int k = 0; k < rsqrt_chains; ++k) sum += value[k];
    if (sum == -1.0f) *out = sum;
}

template <class Work>
double median_seconds(const Stream& stream, Work&& work) {
    std::vector<double> times;
    for (int run = -1; run < runs; ++run) {
        Event start, end;
        start.record(stream);
        work();
        end.record(stream);
        const double time = 1e-3 * Event::milliseconds(start, end);
        if (run >= 0) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    return times[runs / 2];
}

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device), "finding the current GPU");
    check(cudaDeviceGetAttribute(&value, which, device), "reading the properties of a GPU");
    return value;
}

/// Blocks of `threads`, `blocks_each` of them on a multiprocessor at a time.
struct Launch {
    int threads, blocks_each, rounds;
};

template <class Real, int chains, int unroll, bool own_operands>
FmaLoop measure_fma(const Stream& stream, const Launch& launch) {
    std::vector<Real> numbers(2 * chains);
    for (std::size_t k = 0; k < chains; ++k) {
        numbers[2 * k] = Real(1) + Real(1e-7) * static_cast<Real>(k);
        numbers[2 * k + 1] = Real(1e-9) * static_cast<Real>(k);
    }
    DeviceArray<Real> in(numbers.size()), out(1);
    DeviceArray<long long> cycles(1);
    copy(in.data(), numbers.data(), numbers.size(), stream.get());
    const int blocks = launch.rounds * launch.blocks_each * attribute(cudaDevAttrMultiProcessorCount);
    const double seconds = median_seconds(stream, [&] {
        fma_kernel<Real, chains, unroll, own_operands><<<blocks, launch.threads, 0, stream.get()>>>(
            in.data(), out.data(), cycles.data(), fma_a_thread, Real(1.0000001), Real(1e-9));
    });
    check_launch("measuring FMAs");
    return {.is_double = sizeof(Real) == 8,
            .own_operands = own_operands,
            .chains = chains,
            .unroll = unroll,
            .warps = launch.threads / 32 * launch.blocks_each,
            .per_second = static_cast<double>(blocks) * launch.threads * fma_a_thread / seconds};
}

template <class Real, int chains, int unroll, bool own_operands>
void add_fma_loops(const Stream& stream, std::vector<FmaLoop>& loops) {
    for (const Launch& launch : {Launch{256, 1, 4}, Launch{256, 8, 4}, Launch{1024, 2, 4}})
        loops.push_back(measure_fma<Real, chains, unroll, own_operands>(stream, launch));
}

// The clock under the load of FMAs: what the only block of a multiprocessor counts in a launch of some 20 ms.
double loaded_clock(const Stream& stream) {
    constexpr int threads = 1024, longer = 128;
    DeviceArray<float> in(2), out(1);
    DeviceArray<long long> cycles(1);
    const int blocks = attribute(cudaDevAttrMultiProcessorCount);
    const double seconds = median_seconds(stream, [&] {
        fma_kernel<float, 8, 16, false><<<blocks, threads, 0, stream.get()>>>(
            in.data(), out.data(), cycles.data(), longer * fma_a_thread, 1.0000001f, 1e-9f);
    });
    check_launch("measuring the clock");
    long long counted = 0;
    copy(&counted, cycles.data(), 1, stream.get());
    stream.synchronize();
    return static_cast<double>(counted) / seconds;
}

} // namespace

Ceilings measure_ceilings() {
    const int blocks = 8 * attribute(cudaDevAttrMultiProcessorCount);
    constexpr int threads = 1024;
    const Stream stream;
    Ceilings found;
    found.most_clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
    auto& loops = found.fma_loops;
    add_fma_loops<float, 1, 32, false>(stream, loops);
    add_fma_loops<float, 4, 8, false>(stream, loops);
    add_fma_loops<float, 8, 1, false>(stream, loops);
    add_fma_loops<float, 8, 2, false>(stream, loops);
    add_fma_loops<float, 8, 4, false>(stream, loops);
    add_fma_loops<float, 8, 16, false>(stream, loops);
    add_fma_loops<float, 16, 8, false>(stream, loops);
    add_fma_loops<float, 8, 16, true>(stream, loops);
    add_fma_loops<double, 4, 8, false>(stream, loops);
    add_fma_loops<double, 8, 16, false>(stream, loops);
    add_fma_loops<double, 8, 16, true>(stream, loops);
    for (const auto& loop : loops) {
        auto& best = loop.is_double ? found.fma_double : found.fma_float;
        best = std::max(best, loop.per_second);
    }
    found.clock_hz = loaded_clock(stream);

    constexpr std::size_t bytes = std::size_t{1} << 30;
    DeviceArray<char> from(bytes), to(bytes);
    found.rsqrt_float =
        1.0 * blocks * threads * rsqrt_chains * rsqrt_repeats / median_seconds(stream, [&] {
            rsqrt_kernel<<<blocks, threads, 0, stream.get()>>>(reinterpret_cast<float*>(to.data()));
        });
    check(cudaMemsetAsync(from.data(), 1, bytes, stream.get()), "filling memory");
    found.copy_bytes =
        2.0 * bytes / median_seconds(stream, [&] { copy(to.data(), from.data(), bytes, stream.get()); });
    constexpr std::size_t link_bytes = std::size_t{1} << 28;
    PinnedArray<char> host(link_bytes);
    std::memset(host.data(), 1, link_bytes);
    found.to_gpu_bytes = link_bytes / median_seconds(stream, [&] {
                             copy(to.data(), static_cast<const char*>(host.data()), link_bytes, stream.get());
                         });
    found.to_host_bytes =
        link_bytes / median_seconds(stream, [&] {
            copy(host.data(), static_cast<const char*>(from.data()), link_bytes, stream.get());
        });
    check_launch("measuring ceilings");
    return found;
}

} // namespace farfield::cuda
