// What a pair in the plane takes from r², for plain numbers on a GPU (logarithm.h and vortex_cores.h have the
// formulas); on the host for tests.
#pragma once

#include "math/host_device.h"
#include "sums/kernels/vortex_cores.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace farfield::plane {

/// Floats have logarithms to base 2: whoever adds them up multiplies the sum.
template <class Real>
inline constexpr Real unit_of_log = sizeof(Real) == 8 ? Real(1) : Real(0.69314718055994530942);

template <class Real>
struct Terms {
    Real log; ///< ln r² over `unit_of_log`, of cores ln r² + E₁(r²/2σ²); 0 where no potential is wanted
    Real inverse; ///< 1/r², of cores times 1 − exp(−r²/2σ²)
};

// The hardware's 1/x: float to 1 ulp or so, double to about 2⁻²⁰. Subnormal numbers count as 0.
FF_INLINE float inverse_estimate(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0F / x;
#endif
}
FF_INLINE double inverse_estimate(double x) {
#if defined(__CUDA_ARCH__)
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
#else
    return static_cast<double>(1.0F / static_cast<float>(x));
#endif
}

FF_INLINE float inverse(float x) { return inverse_estimate(x); }
/// The estimate y and two terms of y/(1 − e), e = 1 − x y, leave e³ ≈ 2⁻⁶⁰.
FF_INLINE double inverse(double x) {
    const double y = inverse_estimate(x);
    const double e = Ops<double>::fnma(x, y, 1.0);
    return Ops<double>::fma(y * e, 1.0 + e, y);
}

FF_INLINE std::uint64_t bits_of(double x) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}
FF_INLINE double number_of(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(bits));
#else
    double x = 0.0;
    std::memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

FF_INLINE float log2_of(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return std::log2(x);
#endif
}

FF_INLINE Terms<float> log_terms(float r2) { return {log2_of(r2), inverse(r2)}; }
/// As `PlaneLogarithm::of_value`: one quotient serves both.
FF_INLINE Terms<double> log_terms(double r2) {
    constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    constexpr std::uint64_t integer_one = 0x4330000000000000; // 2⁵²
    const std::uint64_t pattern = bits_of(r2) + (one - sqrt_half);
    const double exponent = number_of((pattern >> 52) | integer_one) - (0x1p52 + 1023.0);
    const double m = number_of((pattern & 0xfffffffffffff) + sqrt_half);
    const double f = m - 1.0;
    const double sum = m + 1.0;
    const double t = inverse(r2 * sum);
    const double s = f * (t * r2);
    const double z = s * s;
    using O = Ops<double>;
    double series = 1.479819860511658591e-01; // LogarithmSeries<double>
    series = O::fma(series, z, 1.531383769920937332e-01);
    series = O::fma(series, z, 1.818357216161805012e-01);
    series = O::fma(series, z, 2.222219843214978396e-01);
    series = O::fma(series, z, 2.857142874366239149e-01);
    series = O::fma(series, z, 3.999999999940941908e-01);
    series = O::fma(series, z, 6.666666666666735130e-01);
    const double log_m = s * O::fma(series, z, 2.0);
    return {O::fma(exponent, 0.69314718055994530942, log_m), t * sum};
}

/// ln x
template <class Real>
FF_INLINE Real natural_log(Real x) {
    return unit_of_log<Real> * log_terms(x).log;
}

/// Of points.
template <bool with_potential, class Real>
FF_INLINE Terms<Real> point_terms(Real r2) {
    if constexpr (with_potential) return log_terms(r2);
    return {Real(0), inverse(r2)};
}

struct TwoInverses {
    float first, second;
};

/// factor/a and factor/b: one quotient serves both. a·b is a float, and no subnormal one.
FF_INLINE TwoInverses two_inverses(float a, float b, float factor) {
    const float quotient = factor * inverse(a * b);
    return {quotient * b, quotient * a};
}

/// Of cores. @param core2  1/(2σ²), positive
template <bool with_potential, class Real>
FF_INLINE Terms<Real> core_terms(Real r2, Real core2) {
    const Real x = r2 * core2;
    Terms<Real> out;
    if (x < vortex::near_core<Real>)
        out.inverse = core2 * vortex::core_series(x);
    else
        out.inverse = inverse(r2) * (x < vortex::beyond<Real> ? Real(1) - portable::exp(-x) : Real(1));
    if constexpr (with_potential) {
        if (x < vortex::far_of_series<Real>)
            out.log = vortex::log_of_core(x) - natural_log(core2);
        else
            out.log =
                natural_log(r2) + (x < vortex::beyond<Real> ? vortex::exponential_integral(x) : Real(0));
    } else {
        out.log = Real(0);
    }
    return out;
}

} // namespace farfield::plane
