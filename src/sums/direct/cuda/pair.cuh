// One pair of points on the device: point types of the three precisions, the inverse powers of the distance,
// and the sums they go into. With d = y_j − x_i, r² = |d|² + ε²:  Σ q_j d / r³ (field of gravity) and Σ q_j /
// r. Signs of potential and of Coulomb's field are set where the sums leave the GPU.
#pragma once

namespace farfield::cuda {

/// What a kernel computes: a sum of these bits.
enum Outputs : int { field_only = 1, potential_only = 2, field_and_potential = 3 };

/// Four numbers that move in 16-byte pieces.
template <class Real>
struct alignas(16) Vec4 {
    Real x, y, z, w;
};

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

template <class Real>
__device__ __forceinline__ Difference<Real> difference(const Point<Real>& to, const Point<Real>& from) {
    return {to.at.x - from.at.x, to.at.y - from.at.y, to.at.z - from.at.z};
}
__device__ __forceinline__ Difference<float> difference(const MixedPoint& to, const MixedPoint& from) {
    return {(to.at.x - from.at.x) + (to.low.x - from.low.x), (to.at.y - from.at.y) + (to.low.y - from.low.y),
            (to.at.z - from.at.z) + (to.low.z - from.low.z)};
}

template <class Real>
__device__ __forceinline__ Real squared_length(const Difference<Real>& d, Real softening2) {
    return fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, softening2)));
}

// The hardware's estimate of 1/√x: float to 1 ulp or so, double to about 2⁻²⁰. Denormals count as 0.
__device__ __forceinline__ float rsqrt_estimate(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ double rsqrt_estimate(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}

/// 1/r and 1/r³ of x = r²; powers that `outputs` does not need are not computed.
template <class Real>
struct InversePowers {
    Real first, third;
};
template <int outputs>
__device__ __forceinline__ InversePowers<float> inverse_powers(float x) {
    const float y = rsqrt_estimate(x);
    return {y, y * (y * y)};
}
// With e = 1 − x y² of the estimate y, x^(−k/2) = yᵏ (1 − e)^(−k/2); two terms of the series leave e³ ≈ 2⁻⁶⁰.
template <int outputs>
__device__ __forceinline__ InversePowers<double> inverse_powers(double x) {
    const double y = rsqrt_estimate(x);
    const double y2 = y * y;
    const double e = fma(-x, y2, 1.0);
    if constexpr (outputs == field_only) {
        const double y3 = y2 * y;
        return {0.0, fma(y3 * e, fma(1.875, e, 1.5), y3)};
    } else {
        const double first = fma(y * e, fma(0.375, e, 0.5), y);
        return {first, first * (first * first)};
    }
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

/// Point `index`, or beyond `n` a point of no strength so far away that it pulls on nobody.
template <class PointType>
__device__ __forceinline__ PointType load_or_padding(const PointType* points, int index, int n) {
    using Real = typename PointType::real;
    if (index < n) return points[index];
    PointType padding{};
    padding.at = {Real(1e18), Real(1e18), Real(1e18), Real(0)}; // r² = 3e36 is still a float
    return padding;
}

} // namespace farfield::cuda
