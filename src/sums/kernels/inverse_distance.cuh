// 1/r and 1/r³ from r² on a GPU: the device's form of inverse_distance.h.
#pragma once

#include "sums/kernels/loop_outputs.h"

namespace farfield::cuda {

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

// The forms of the ladder's first rungs: with a division and a square root, and with one instruction for 1/√x
// that takes care of denormals.
__device__ __forceinline__ float reciprocal_root(float x) { return rsqrtf(x); }
__device__ __forceinline__ double reciprocal_root(double x) { return rsqrt(x); }
template <class Real>
__device__ __forceinline__ InversePowers<Real> powers_of(Real inverse) {
    return {inverse, inverse * inverse * inverse};
}
template <class Real>
__device__ __forceinline__ InversePowers<Real> written_down_powers(Real x) {
    return powers_of(Real(1) / sqrt(x));
}
template <class Real>
__device__ __forceinline__ InversePowers<Real> reciprocal_root_powers(Real x) {
    return powers_of(reciprocal_root(x));
}

} // namespace farfield::cuda
