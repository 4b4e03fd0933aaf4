#include "sums/lattice/cuda/box_totals.cuh"

#include "backend/cuda/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace farfield::cuda {
namespace {

constexpr int threads = 256, most_blocks = 264;

/// A sum and its rounding errors (Knuth's two-sum).
struct Compensated {
    double sum = 0.0, rest = 0.0;

    __host__ __device__ void add(double x) {
        const double s = sum + x;
        const double part = s - sum;
        rest += (sum - (s - part)) + (x - part);
        sum = s;
    }
    __host__ __device__ void add(const Compensated& other) {
        add(other.sum);
        rest += other.rest;
    }
    [[nodiscard]] double value() const { return sum + rest; }
};

struct Share {
    Compensated strength, moment[3], second;
    double magnitude = 0.0, largest = 0.0;

    __host__ __device__ void add(const Share& other) {
        strength.add(other.strength);
        for (int k = 0; k < 3; ++k) moment[k].add(other.moment[k]);
        second.add(other.second);
        magnitude += other.magnitude;
        largest = fmax(largest, other.largest);
    }
};

__global__ void __launch_bounds__(threads)
    totals_kernel(const double* points, const double* strengths, int count, int exponent, bool with_moments,
                  Share* out) {
    Share own;
    const double unit = scalbn(1.0, exponent);
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += static_cast<std::int64_t>(gridDim.x) * threads) {
        const double q = strengths[i];
        own.strength.add(q);
        own.magnitude += fabs(q);
        own.largest = fmax(own.largest, fabs(q));
        if (!with_moments) continue;
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            const double y = unit * (points[3 * i + k] - points[k]);
            own.moment[k].add(__dmul_rn(q, y)); // no FMA: the compensation needs the same number twice
            square += y * y;
        }
        own.second.add(__dmul_rn(q, square));
    }
    __shared__ alignas(16) unsigned char memory[threads * sizeof(Share)];
    auto* const all = reinterpret_cast<Share*>(memory);
    all[threadIdx.x] = own;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x].add(all[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = all[0];
}

} // namespace

BoxTotals box_totals(const double* points, const double* strengths, int count, int exponent,
                     bool with_moments, cudaStream_t stream) {
    BoxTotals out;
    if (count == 0) return out;
    const int blocks = std::min(most_blocks, (count + threads - 1) / threads);
    DeviceArray<Share> shares(static_cast<std::size_t>(blocks));
    totals_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(points, strengths, count, exponent,
                                                                         with_moments, shares.data());
    check_launch("adding up strengths");
    std::array<Share, most_blocks> found;
    copy(found.data(), shares.data(), static_cast<std::size_t>(blocks), stream);
    if (with_moments) copy(out.origin, points, 3, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    Share all;
    for (int b = 0; b < blocks; ++b) all.add(found[static_cast<std::size_t>(b)]);
    out.strength = all.strength.value();
    out.magnitude = all.magnitude;
    out.largest = all.largest;
    for (int k = 0; k < 3; ++k) out.moment[k] = all.moment[k].value();
    out.second_moment = all.second.value();
    return out;
}

} // namespace farfield::cuda
