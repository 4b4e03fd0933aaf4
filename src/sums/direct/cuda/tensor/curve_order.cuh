// Puts points into the order of Hilbert's curve: extremes of all points, a key a point; the keys are sorted
// in tensor.cu.
#pragma once

#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/tensor/hilbert.h"

#include <cstdint>

namespace farfield::cuda {

constexpr int extremes_threads = 128; ///< a block, where extremes are taken

/// Box and largest |strength| of points; maxima come out alike in any order.
class Extremes {
public:
    __device__ void include(const Vec4<float>& p) {
        const float value[7] = {-p.x, -p.y, -p.z, p.x, p.y, p.z, fabsf(p.w)};
#pragma unroll
        for (int k = 0; k < 7; ++k) most_[k] = fmaxf(most_[k], value[k]);
    }
    __device__ void include(const Extremes& other) {
#pragma unroll
        for (int k = 0; k < 7; ++k) most_[k] = fmaxf(most_[k], other.most_[k]);
    }
    /// Of all threads of a block of `extremes_threads`; once in a kernel.
    __device__ void of_block() {
        __shared__ float of_warps[extremes_threads / 32][7];
#pragma unroll
        for (int k = 0; k < 7; ++k) {
            for (int step = 16; step > 0; step /= 2)
                most_[k] = fmaxf(most_[k], __shfl_xor_sync(0xffffffffU, most_[k], step));
            if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32][k] = most_[k];
        }
        __syncthreads();
        for (const auto& of_warp : of_warps)
#pragma unroll
            for (int k = 0; k < 7; ++k) most_[k] = fmaxf(most_[k], of_warp[k]);
    }
    [[nodiscard]] __device__ float low(int axis) const { return -most_[axis]; }
    [[nodiscard]] __device__ float high(int axis) const { return most_[3 + axis]; }
    [[nodiscard]] __device__ float strength() const { return most_[6]; }

private:
    static constexpr float none = -3.4e38F;
    float most_[7] = {none, none, none, none, none, none, 0}; ///< −x −y −z x y z |q|
};

/// A block's share of the points in each of `gridDim.x` elements.
static __global__ void extremes_kernel(const Point<float>* points, int n, Extremes* out) {
    Extremes most;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n);
         i += gridDim.x * blockDim.x)
        most.include(points[i].at);
    most.of_block();
    if (threadIdx.x == 0) out[blockIdx.x] = most;
}

/// Keys of the points in the cube around all of them, and their indices.
static __global__ void keys_kernel(const Point<float>* points, int n, const Extremes* extremes, int shares,
                                   std::uint64_t* keys, int* indices) {
    Extremes all;
    for (int k = static_cast<int>(threadIdx.x); k < shares; k += extremes_threads) all.include(extremes[k]);
    all.of_block();
    float size = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k) size = fmaxf(size, all.high(k) - all.low(k));
    constexpr unsigned cells = 1U << hilbert_bits;
    const float scale = size > 0 ? cells / size : 0;
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const Vec4<float> p = points[i].at;
    const auto cell = [&](float x, int axis) {
        return min(cells - 1, static_cast<unsigned>((x - all.low(axis)) * scale));
    };
    keys[i] = hilbert_key(cell(p.x, 0), cell(p.y, 1), cell(p.z, 2));
    indices[i] = i;
}

static __global__ void gather_kernel(const Point<float>* points, const int* order, int n, Point<float>* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = points[order[i]];
}

static __global__ void scatter_kernel(const Vec4<float>* sums, const int* order, int n, Vec4<float>* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[order[i]] = sums[i];
}

} // namespace farfield::cuda
