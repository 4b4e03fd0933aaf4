// All functions of a basis at some points at once, for the loops that form and evaluate expansions.
#pragma once

#include "math/ops.h"
#include "sums/expansions/loops.h"

namespace farfield {

/// Calls visit(t, cosine, sine) for each (m, l), numbered t; the sine function is 0 for m = 0. Recurrences:
/// basis.h.
template <class V, class Visit>
FF_INLINE void each_harmonic(const HarmonicLoop& loop, const V& x, const V& y, const V& z,
                             const Visit& visit) {
    using T = typename Ops<V>::Scalar;
    using O = Ops<V>;
    const auto* diagonal = static_cast<const T*>(loop.diagonal);
    const auto* climb = static_cast<const T*>(loop.climb);
    const auto* back = static_cast<const T*>(loop.climb_back);
    const V r2 = O::fma(x, x, O::fma(y, y, z * z));
    V first_cosine = O::set(T(1));
    V first_sine = O::set(T(0));
    int t = 0;
    for (int m = 0; m <= loop.order; ++m) {
        if (m > 0) {
            const V factor = O::set(diagonal[m]);
            const V cosine = factor * O::fnma(first_sine, y, first_cosine * x);
            first_sine = factor * O::fma(first_sine, x, first_cosine * y);
            first_cosine = cosine;
        }
        V cosine = first_cosine;
        V sine = first_sine;
        V cosine_before = O::set(T(0));
        V sine_before = O::set(T(0));
        visit(t++, cosine, sine);
        for (int l = m + 1; l <= loop.order; ++l, ++t) {
            const V a = O::set(climb[t]) * z;
            const V b = O::set(back[t]) * r2;
            const V next_cosine = O::fma(a, cosine, b * cosine_before);
            const V next_sine = O::fma(a, sine, b * sine_before);
            cosine_before = cosine;
            sine_before = sine;
            cosine = next_cosine;
            sine = next_sine;
            visit(t, cosine, sine);
        }
    }
}

} // namespace farfield
