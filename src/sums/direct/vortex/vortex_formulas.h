// Vortices and blobs over any value type (sums/kernels/vortex2d.h has the kernel): 1/r² without a division,
// g(x) = (1 − e^(−x))/x, and ln x + E₁(x) by its entire series or by a continued fraction. Include it only in
// sources compiled for one instruction set.
#pragma once

#include "math/ops.h"
#include "math/portable/functions.h"
#if !defined(FF_ISA_SCALAR)
#include "backend/simd/portable_lanes.h"
#endif

#include <array>
#include <cstddef>
#include <limits>

namespace farfield::vortex {

/// Steps of a geometric series of h, |h| ≤ 2·error of the estimate, that leave less than a rounding.
template <class V>
constexpr int inverse_steps() {
    using T = typename Ops<V>::Scalar;
    const double h =
        2.0 * Ops<V>::estimate_error + 8.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
    double rest = h;
    int steps = 1;
    for (; rest * h > 0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()); ++steps) rest *= h;
    return steps;
}

/// 1/r²: with y about 1/r and h = 1 − r²y² it is y²/(1 − h). Not finite at r = 0.
template <class V>
FF_INLINE V inverse(V r2) {
    using T = typename Ops<V>::Scalar;
    const V y = Ops<V>::rsqrt_estimate(r2);
    const V y2 = y * y;
    const V h = Ops<V>::fnma(r2, y2, Ops<V>::set(T(1)));
    V series = h;
    for (int k = 1; k < inverse_steps<V>(); ++k) series = Ops<V>::fma(series, h, h);
    return Ops<V>::fma(series, y2, y2);
}

/// e^(−x) is less than a rounding of 1 from here on.
template <class T>
constexpr T beyond = sizeof(T) == 8 ? T(37.5) : T(17.5);

/// Below it 1 − e^(−x) would lose digits.
template <class T>
constexpr T near_core = T(0.5);

template <class T, std::size_t n>
constexpr std::array<T, n> core_coefficients() { // (−1)^k/(k + 1)!
    std::array<T, n> out{};
    double value = 1.0;
    for (std::size_t k = 0; k < n; ++k) {
        out[k] = static_cast<T>(value);
        value /= -static_cast<double>(k + 2);
    }
    return out;
}

/// g(x) for 0 ≤ x < near_core.
template <class V>
FF_INLINE V core_series(V x) {
    using T = typename Ops<V>::Scalar;
    constexpr std::size_t terms = sizeof(T) == 8 ? 14 : 8;
    constexpr auto c = core_coefficients<T, terms>();
    V sum = Ops<V>::set(c[terms - 1]);
    for (std::size_t k = terms - 1; k-- > 0;) sum = Ops<V>::fma(sum, x, Ops<V>::set(c[k]));
    return sum;
}

/// From here on the continued fraction is used.
template <class T>
constexpr T far_of_series = T(4);

template <class T, std::size_t n>
constexpr std::array<T, n> entire_coefficients() { // −γ, then (−1)^(k+1)/(k k!)
    std::array<T, n> out{};
    out[0] = static_cast<T>(-0.57721566490153286061);
    double factorial = -1.0;
    for (std::size_t k = 1; k < n; ++k) {
        factorial *= -1.0 / static_cast<double>(k);
        out[k] = static_cast<T>(factorial / static_cast<double>(k));
    }
    return out;
}

/// ln x + E₁(x) for 0 ≤ x < far_of_series.
template <class V>
FF_INLINE V log_of_core(V x) {
    using T = typename Ops<V>::Scalar;
    constexpr std::size_t terms = sizeof(T) == 8 ? 32 : 20;
    constexpr auto c = entire_coefficients<T, terms>();
    V sum = Ops<V>::set(c[terms - 1]);
    for (std::size_t k = terms - 1; k-- > 0;) sum = Ops<V>::fma(sum, x, Ops<V>::set(c[k]));
    return sum;
}

/// E₁(x) for x ≥ far_of_series: e^(−x)/(x + 1 − 1/(x + 3 − 4/(x + 5 − …))) (DLMF 6.9.1, contracted).
template <class V>
FF_INLINE V exponential_integral(V x) {
    using T = typename Ops<V>::Scalar;
    constexpr int levels = sizeof(T) == 8 ? 20 : 6;
    V below = x + Ops<V>::set(T(2 * levels + 1));
    for (int k = levels; k > 0; --k) below = x + Ops<V>::set(T(2 * k - 1)) - Ops<V>::set(T(k) * T(k)) / below;
    return portable::exp(Ops<V>::set(T(0)) - x) / below;
}

} // namespace farfield::vortex
