#include "ceilings.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/pair.cuh"

#include <algorithm>
#include <vector>

namespace farfield::cuda {

namespace {

constexpr int chains = 8, repeats = 4096, threads = 1024, runs = 5;

template <class Real>
__global__ void fma_kernel(Real* out, Real a, Real b) {
    Real value[chains];
    for (int k = 0; k < chains; ++k) value[k] = static_cast<Real>(threadIdx.x + k);
    for (int i = 0; i < repeats; ++i)
#pragma unroll
        for (int k = 0; k < chains; ++k) value[k] = fma(value[k], a, b);
    Real sum = 0;
    for (int k = 0; k < chains; ++k) sum += value[k];
    if (sum == Real(-1)) *out = sum; // never; keeps the loop
}

__global__ void rsqrt_kernel(float* out) {
    float value[chains];
    for (int k = 0; k < chains; ++k) value[k] = static_cast<float>(threadIdx.x + k + 1);
    for (int i = 0; i < repeats / 8; ++i)
#pragma unroll
        for (int k = 0; k < chains; ++k) value[k] = rsqrt_estimate(value[k]);
    float sum = 0;
    for (int k = 0; k < chains; ++k) sum += value[k];
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

} // namespace

Ceilings measure_ceilings() {
    int multiprocessors = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
          "reading the GPU's size");
    const int blocks = 8 * multiprocessors;
    const Stream stream;
    constexpr std::size_t bytes = std::size_t{2} << 30;
    DeviceArray<char> from(bytes), to(bytes);
    auto* out = reinterpret_cast<double*>(to.data());
    const double lanes = 1.0 * blocks * threads * chains * repeats;

    Ceilings found;
    found.fma_float = lanes / median_seconds(stream, [&] {
                          fma_kernel<<<blocks, threads, 0, stream.get()>>>(reinterpret_cast<float*>(out),
                                                                           1.0000001f, 1e-9f);
                      });
    found.fma_double = lanes / median_seconds(stream, [&] {
                           fma_kernel<<<blocks, threads, 0, stream.get()>>>(out, 1.0000001, 1e-9);
                       });
    found.rsqrt_float = lanes / 8 / median_seconds(stream, [&] {
                            rsqrt_kernel<<<blocks, threads, 0, stream.get()>>>(reinterpret_cast<float*>(out));
                        });
    check(cudaMemsetAsync(from.data(), 1, bytes, stream.get()), "filling memory");
    found.copy_bytes =
        2.0 * bytes / median_seconds(stream, [&] { copy(to.data(), from.data(), bytes, stream.get()); });
    check_launch("measuring ceilings");
    return found;
}

} // namespace farfield::cuda
