// What Gaussian cores add to vortices, over any value type (vortex2d.h has the kernel): g(x) = (1 −
// e^(−x))/x, and ln x + E₁(x) by its entire series or by a continued fraction. Include it only in sources
// compiled for one instruction set, or for GPUs.
#pragma once

#include "math/ops.h"
#include "math/portable/functions.h"
#if !defined(FF_ISA_SCALAR) && !defined(__CUDACC__)
#include "backend/simd/portable_lanes.h"
#endif

#include <cstddef>
#include <limits>

namespace farfield::vortex {

/// Coefficients of a series.
template <class T, std::size_t n>
struct Series {
    T c[n];
};

/// Σ c_k x^k.
template <class V, std::size_t n>
FF_INLINE V sum_of(const Series<typename Ops<V>::Scalar, n>& series, V x) {
    V sum = Ops<V>::set(series.c[n - 1]);
    FF_UNROLLED
    for (std::size_t k = n - 1; k-- > 0;) sum = Ops<V>::fma(sum, x, Ops<V>::set(series.c[k]));
    return sum;
}

/// e^(−x) is less than a rounding of 1 from here on.
template <class T>
constexpr T beyond = sizeof(T) == 8 ? T(37.5) : T(17.5);

/// Below it 1 − e^(−x) would lose digits.
template <class T>
constexpr T near_core = T(0.5);

template <class T, std::size_t n>
FF_HD constexpr Series<T, n> core_coefficients() { // (−1)^k/(k + 1)!
    Series<T, n> out{};
    double value = 1.0;
    for (std::size_t k = 0; k < n; ++k) {
        out.c[k] = static_cast<T>(value);
        value /= -static_cast<double>(k + 2);
    }
    return out;
}

/// g(x) for 0 ≤ x < near_core.
template <class V>
FF_INLINE V core_series(V x) {
    using T = typename Ops<V>::Scalar;
    constexpr std::size_t terms = sizeof(T) == 8 ? 14 : 8;
    constexpr auto coefficients = core_coefficients<T, terms>();
    return sum_of<V>(coefficients, x);
}

/// From here on the continued fraction is used.
template <class T>
constexpr T far_of_series = T(4);

template <class T, std::size_t n>
FF_HD constexpr Series<T, n> entire_coefficients() { // −γ, then (−1)^(k+1)/(k k!)
    Series<T, n> out{};
    out.c[0] = static_cast<T>(-0.57721566490153286061);
    double factorial = -1.0;
    for (std::size_t k = 1; k < n; ++k) {
        factorial *= -1.0 / static_cast<double>(k);
        out.c[k] = static_cast<T>(factorial / static_cast<double>(k));
    }
    return out;
}

/// ln x + E₁(x) for 0 ≤ x < far_of_series.
template <class V>
FF_INLINE V log_of_core(V x) {
    using T = typename Ops<V>::Scalar;
    constexpr std::size_t terms = sizeof(T) == 8 ? 32 : 20;
    constexpr auto coefficients = entire_coefficients<T, terms>();
    return sum_of<V>(coefficients, x);
}

/// E₁(x) for x ≥ far_of_series: e^(−x)/(x + 1 − 1/(x + 3 − 4/(x + 5 − …))) (DLMF 6.9.1, contracted).
template <class V>
FF_INLINE V exponential_integral(V x) {
    using T = typename Ops<V>::Scalar;
    constexpr int levels = sizeof(T) == 8 ? 20 : 6;
    V below = x + Ops<V>::set(T(2 * levels + 1));
    FF_ROLLED
    for (int k = levels; k > 0; --k) below = x + Ops<V>::set(T(2 * k - 1)) - Ops<V>::set(T(k) * T(k)) / below;
    return portable::exp(Ops<V>::set(T(0)) - x) / below;
}

} // namespace farfield::vortex
