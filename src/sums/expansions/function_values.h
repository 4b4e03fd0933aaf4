// All functions of a basis at some points at once, two by two, for the loops that form and evaluate
// expansions.
#pragma once

#include "math/ops.h"
#include "sums/expansions/loops.h"

namespace farfield {

/// Calls visit(t, cosine, sine) for each (m, l), numbered t; the sine function is 0 for m = 0. Recurrences:
/// basis.h.
template <class V, class Visit>
FF_INLINE void each_harmonic(const FunctionLoop& loop, const V& x, const V& y, const V& z,
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

/// Calls visit(t, first, second) for each pair of polynomials; a second one beyond the order means nothing,
/// yet it is finite.
template <class V, class Visit>
FF_INLINE void each_polynomial(const FunctionLoop& loop, const V& x, const V& y, const V& z,
                               const Visit& visit) {
    using T = typename Ops<V>::Scalar;
    using O = Ops<V>;
    constexpr int most = most_polynomial_order + 2;
    V values[3][most];
    const V at[3] = {x, y, z}; // in widths of the cell
    const int count = loop.order + 2;
    for (int axis = 0; axis < 3; ++axis) {
        const V twice = O::set(T(4)) * at[axis];
        values[axis][0] = O::set(T(1));
        values[axis][1] = O::set(T(2)) * at[axis];
        for (int k = 2; k < count; ++k)
            values[axis][k] = O::fma(twice, values[axis][k - 1], O::set(T(0)) - values[axis][k - 2]);
    }
    int t = 0;
    for (int c = 0; c <= loop.order; ++c)
        for (int b = 0; b <= loop.order - c; ++b) {
            const V other = values[1][b] * values[2][c];
            for (int a = 0; a <= loop.order - b - c; a += 2, ++t)
                visit(t, other * values[0][a], other * values[0][a + 1]);
        }
}

/// Calls run<kind, number type>() for the functions of a loop.
template <class Run>
void with_functions(const FunctionLoop& loop, const Run& run) {
    const auto of_kind = [&]<Functions Kind>() {
        if (loop.wide)
            run.template operator()<Kind, double>();
        else
            run.template operator()<Kind, float>();
    };
    if (loop.functions == Functions::harmonics)
        of_kind.template operator()<Functions::harmonics>();
    else
        of_kind.template operator()<Functions::polynomials>();
}

template <Functions Kind, class V, class Visit>
FF_INLINE void each_function(const FunctionLoop& loop, const V& x, const V& y, const V& z,
                             const Visit& visit) {
    if constexpr (Kind == Functions::harmonics)
        each_harmonic<V>(loop, x, y, z, visit);
    else
        each_polynomial<V>(loop, x, y, z, visit);
}

} // namespace farfield
