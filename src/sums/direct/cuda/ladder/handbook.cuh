// The CUDA Handbook's kernels for one sum: `naive`, a thread a body with bodies of 16 bytes, and its variant
// with atomics, in both spellings of the address. Float and the field alone, as there; d = me − source, so
// the signs are those of pair.cuh and not the Handbook's.
#pragma once

#include "sums/direct/cuda/pair.cuh"

namespace farfield::cuda {

__device__ __forceinline__ float handbook_inverse_cube(const Difference<float>& d, float softening2) {
    const float inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + softening2);
    return inverse * inverse * inverse;
}

/// A source is read as one float4, by all threads of a warp at the same time. The Handbook has no self test:
/// with softening a body's own term is 0. `tested` is for sums without softening.
template <bool tested>
__global__ void float4_kernel(const Point<float>* bodies, Vec4<float>* sums, int n, float softening2) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const Vec4<float> me = bodies[i].at;
    Sum<float, field_only> sum;
    for (int j = 0; j < n; ++j) {
        if (tested && j == i) continue;
        const Vec4<float> source = bodies[j].at;
        const Difference<float> d{me.x - source.x, me.y - source.y, me.z - source.z};
        sum.add_field(d, source.w * handbook_inverse_cube(d, softening2));
    }
    sums[i] = sum.value();
}

/// Each pair once: what a body gives its partner goes to `forces`, three floats a body, by atomicAdd.
/// `indexed`: &force[3*j + k]; otherwise the pointer f = &force[3*j] and f + k, of which the Handbook says
/// that its compiler made much better code. The Handbook adds −a, which is right where masses are equal; here
/// the mass is the body's.
template <bool indexed>
__global__ void handbook_atomics_kernel(const Point<float>* bodies, float* force, int n, float softening2) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const Vec4<float> me = bodies[i].at;
    Sum<float, field_only> sum;
    for (int j = 0; j < i; ++j) {
        const Vec4<float> source = bodies[j].at;
        const Difference<float> d{me.x - source.x, me.y - source.y, me.z - source.z};
        const float inverse_cube = handbook_inverse_cube(d, softening2);
        sum.add_field(d, source.w * inverse_cube);
        const float weight = me.w * inverse_cube;
        const float ax = d.x * weight, ay = d.y * weight, az = d.z * weight;
        if constexpr (indexed) {
            atomicAdd(&force[3 * j + 0], -ax);
            atomicAdd(&force[3 * j + 1], -ay);
            atomicAdd(&force[3 * j + 2], -az);
        } else {
            float* f = &force[3 * j + 0];
            atomicAdd(f + 0, -ax);
            atomicAdd(f + 1, -ay);
            atomicAdd(f + 2, -az);
        }
    }
    atomicAdd(&force[3 * i + 0], sum.x);
    atomicAdd(&force[3 * i + 1], sum.y);
    atomicAdd(&force[3 * i + 2], sum.z);
}

/// Sums of three floats into the rows that all rungs leave.
inline __global__ void gather_forces_kernel(const float* force, Vec4<float>* sums, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) sums[i] = {force[3 * i], force[3 * i + 1], force[3 * i + 2], 0.0F};
}

} // namespace farfield::cuda
