// The rungs up to `rsqrt`, and `two-loops`: a thread a body, sources straight from global memory. Written out
// one by one, the way each would be met; x, y, z and the formula are those of pair.cuh.
#pragma once

#include "sums/direct/cuda/ladder/constants.cuh"
#include "sums/direct/cuda/ladder/kernels.cuh"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/pair.cuh"

namespace farfield::cuda {

template <class Real, int outputs>
__device__ __forceinline__ Vec4<Real> sum_over_bodies(const Body<Real>* bodies, int i, int n,
                                                      Real softening2) {
    const Real px = bodies[i].x, py = bodies[i].y, pz = bodies[i].z;
    Sum<Real, outputs> sum;
    for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        const Difference<Real> d{px - bodies[j].x, py - bodies[j].y, pz - bodies[j].z};
        const Real r2 = d.x * d.x + d.y * d.y + d.z * d.z + softening2;
        sum.add(d, bodies[j].mass, written_down_powers(r2));
    }
    return sum.value();
}

template <class Real, int outputs>
__global__ void one_thread_kernel(const Body<Real>* bodies, Vec4<Real>* sums, int n, Real softening2) {
    for (int i = 0; i < n; ++i) sums[i] = sum_over_bodies<Real, outputs>(bodies, i, n, softening2);
}

template <class Real, int outputs>
__global__ void naive_kernel(const Body<Real>* bodies, Vec4<Real>* sums, int n, Real softening2) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) sums[i] = sum_over_bodies<Real, outputs>(bodies, i, n, softening2);
}

template <class Real, int outputs>
__global__ void soa_kernel(const Real* x, const Real* y, const Real* z, const Real* mass, Vec4<Real>* sums,
                           int n, Real softening2) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const Real px = x[i], py = y[i], pz = z[i];
    Sum<Real, outputs> sum;
    for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        const Difference<Real> d{px - x[j], py - y[j], pz - z[j]};
        const Real r2 = d.x * d.x + d.y * d.y + d.z * d.z + softening2;
        sum.add(d, mass[j], written_down_powers(r2));
    }
    sums[i] = sum.value();
}

template <class Real>
__device__ __forceinline__ Vec4<Real> body_at(const Parameters<Real>& p, int i) {
    return {p.body.x[i], p.body.y[i], p.body.z[i], p.body.mass[i]};
}
template <class Real>
__device__ __forceinline__ Difference<Real> away_from(const Parameters<Real>& p, const Vec4<Real>& me,
                                                      int j) {
    return {me.x - p.body.x[j], me.y - p.body.y[j], me.z - p.body.z[j]};
}

template <class Real, int outputs>
__global__ void constant_kernel() {
    const auto& p = parameters<Real>();
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= p.n) return;
    const Vec4<Real> me = body_at(p, i);
    Sum<Real, outputs> sum;
    for (int j = 0; j < p.n; ++j) {
        if (j == i) continue;
        const auto d = away_from(p, me, j);
        const Real r2 = d.x * d.x + d.y * d.y + d.z * d.z + p.softening2;
        sum.add(d, p.body.mass[j], written_down_powers(r2));
    }
    p.sums[i] = sum.value();
}

// With the one instruction for 1/√x.
template <class Real>
__device__ __forceinline__ InversePowers<Real> rsqrt_powers(const Difference<Real>& d, Real softening2) {
    return reciprocal_root_powers(d.x * d.x + d.y * d.y + d.z * d.z + softening2);
}

template <class Real, int outputs>
__global__ void rsqrt_kernel() {
    const auto& p = parameters<Real>();
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= p.n) return;
    const Vec4<Real> me = body_at(p, i);
    Sum<Real, outputs> sum;
    for (int j = 0; j < p.n; ++j) {
        if (j == i) continue;
        const auto d = away_from(p, me, j);
        sum.add(d, p.body.mass[j], rsqrt_powers(d, p.softening2));
    }
    p.sums[i] = sum.value();
}

template <class Real, int outputs>
__global__ void two_loops_kernel() {
    const auto& p = parameters<Real>();
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= p.n) return;
    const Vec4<Real> me = body_at(p, i);
    Sum<Real, outputs> sum;
    for (int j = 0; j < i; ++j) {
        const auto d = away_from(p, me, j);
        sum.add(d, p.body.mass[j], rsqrt_powers(d, p.softening2));
    }
    for (int j = i + 1; j < p.n; ++j) {
        const auto d = away_from(p, me, j);
        sum.add(d, p.body.mass[j], rsqrt_powers(d, p.softening2));
    }
    p.sums[i] = sum.value();
}

} // namespace farfield::cuda
