// Hermite functions along one axis, normalised. Lengths are in σ:
//     ψ_n(v) = He_n(v) e^(−v²/2) / √n!,    |ψ_n(v)| ≤ 1.0864 e^(−v²/4)    (Cramér)
// With the μ_n(u) = uⁿ/√n! of a source at u, and D the way from the centre of sources to that of targets:
//     e^(−(v − u)²/2) = Σ_n μ_n(u) ψ_n(v)                        Hermite expansion about the sources' centre
//                     = Σ_m μ_m(v) ψ_m(u)                        Taylor expansion about the targets' centre
//     ψ_n(D + w)      = Σ_m μ_m(w) (−1)^m √C(n + m, n) ψ_{n+m}(D)    translation of the first to the second
//     ψ_n'(v) = −√(n + 1) ψ_{n+1}(v),    μ_n'(u) = √n μ_{n−1}(u)
// Greengard and Strain (1991) have t = v/√2 and h_n(t) = H_n(t) e^(−t²) = √(2ⁿ n!) ψ_n(v), which overflows.
#pragma once

#include "math/host_device.h"

#include <cmath>

namespace farfield {

/// |ψ_n(v)| ≤ this·e^(−v²/4).
inline constexpr double cramer_constant = 1.086435;

/// Calls put(n, ψ_n(v)/ψ_0(v)) for n < count: the polynomials He_n(v)/√n!, of which the first is 1.
template <class V, class Put>
FF_HD inline void hermite_polynomials(V v, int count, const Put& put) {
    V before = V(0), now = V(1);
    for (int n = 0; n < count; ++n) {
        put(n, now);
        const V next = (v * now - V(std::sqrt(static_cast<double>(n))) * before) *
                       V(1.0 / std::sqrt(static_cast<double>(n + 1)));
        before = now;
        now = next;
    }
}

/// Calls put(n, μ_n(u)) for n < count.
template <class V, class Put>
FF_HD inline void scaled_powers(V u, int count, const Put& put) {
    V now = V(1);
    for (int n = 0; n < count; ++n) {
        put(n, now);
        now = now * u * V(1.0 / std::sqrt(static_cast<double>(n + 1)));
    }
}

/// ψ_0(v) … ψ_{count−1}(v).
FF_HD inline void hermite_functions(double v, int count, double* out) {
    const double weight = std::exp(-0.5 * v * v);
    hermite_polynomials(v, count, [&](int n, double value) { out[n] = weight * value; });
}

} // namespace farfield
