// One pair of points on the device: point types of the three precisions, and the sums that pairs go into.
// With d = x_i − y_j, as on the CPU, and r² = |d|² + ε²: the sums of the kernel's formula, Σ q_j d/r³ and Σ
// q_j/r. The kernel's sign is set where the sums leave the GPU.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/kernels/inverse_distance.cuh"
#include "sums/kernels/loop_outputs.h"

namespace farfield::cuda {

/// A point of a one-precision sum: x, y, z and the strength in w.
template <class Real>
struct Point {
    using real = Real;
    Vec4<Real> at;
};

/// A point given as float high and low parts (low.w is unused): differences of near points keep their digits.
struct MixedPoint {
    using real = float;
    Vec4<float> at;
    Vec4<float> low;
};

template <class Real>
struct Difference {
    Real x, y, z;
};

/// x − y.
template <class Real>
__device__ __forceinline__ Difference<Real> difference(const Point<Real>& target, const Point<Real>& source) {
    return {target.at.x - source.at.x, target.at.y - source.at.y, target.at.z - source.at.z};
}
__device__ __forceinline__ Difference<float> difference(const MixedPoint& target, const MixedPoint& source) {
    return {(target.at.x - source.at.x) + (target.low.x - source.low.x),
            (target.at.y - source.at.y) + (target.low.y - source.low.y),
            (target.at.z - source.at.z) + (target.low.z - source.low.z)};
}

template <class Real>
__device__ __forceinline__ Real squared_length(const Difference<Real>& d, Real softening2) {
    return fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, softening2)));
}

/// Sums of one point.
template <class Real, int outputs>
struct Sum {
    Real x = 0, y = 0, z = 0, potential = 0;

    /// Adds strength·d/r³ and strength/r, fused.
    __device__ __forceinline__ void add(const Difference<Real>& d, Real strength,
                                        const InversePowers<Real>& inverse) {
        if constexpr (outputs & potential_only) potential = fma(strength, inverse.first, potential);
        if constexpr (outputs & field_only) add_field(d, strength * inverse.third);
    }
    /// The partner's share: the same distance, the opposite direction.
    __device__ __forceinline__ void add_opposite(const Difference<Real>& d, Real strength,
                                                 const InversePowers<Real>& inverse) {
        if constexpr (outputs & potential_only) potential = fma(strength, inverse.first, potential);
        if constexpr (outputs & field_only) add_field({-d.x, -d.y, -d.z}, strength * inverse.third);
    }
    __device__ __forceinline__ void add_field(const Difference<Real>& d, Real weight) {
        x = fma(d.x, weight, x);
        y = fma(d.y, weight, y);
        z = fma(d.z, weight, z);
    }
    __device__ __forceinline__ Sum& operator+=(const Sum& other) {
        if constexpr (outputs & field_only) {
            x += other.x;
            y += other.y;
            z += other.z;
        }
        if constexpr (outputs & potential_only) potential += other.potential;
        return *this;
    }
    __device__ __forceinline__ Vec4<Real> value() const { return {x, y, z, potential}; }
};

/// Point `index`, or beyond `n` a point of no strength so far away that nobody feels it.
template <class PointType>
__device__ __forceinline__ PointType load_or_padding(const PointType* points, int index, int n) {
    using Real = typename PointType::real;
    if (index < n) return points[index];
    PointType padding{};
    padding.at = {Real(1e18), Real(1e18), Real(1e18), Real(0)}; // r² = 3e36 is still a float
    return padding;
}

} // namespace farfield::cuda
