// The same translation with real numbers: (p + 1)² of them an expansion, and a matrix of (p + 1)² rows and
// columns an operator, which has half the multiply-adds of the complex loops because ω_(j,−k) follows from
// ω_jk. Re c_lm lies at l² + 2m − 1, Im c_lm at l² + 2m, c_l0 at l².
#pragma once

#include "studies/fmm_strategies/moments.h"

namespace farfield::strategies {

FF_HD constexpr int real_size(int order) { return (order + 1) * (order + 1); }
FF_HD constexpr int real_place(int l, int m, bool imaginary) {
    return l * l + (m == 0 ? 0 : 2 * m - 1 + (imaginary ? 1 : 0));
}

struct RealTerm {
    int l = 0, m = 0;
    bool imaginary = false;
};
FF_HD constexpr RealTerm real_term(int place) {
    int l = 0;
    while ((l + 1) * (l + 1) <= place) ++l;
    const int rest = place - l * l;
    return {l, (rest + 1) / 2, rest > 0 && rest % 2 == 0};
}

/// Number of a real expansion in a half-stored one.
template <class Real>
FF_HD Real real_part(const Complex<Real>* half, int place) {
    const auto term = real_term(place);
    const Complex<Real> value = half[half_place(term.l, term.m)];
    return term.imaginary ? value.im : value.re;
}

/// The entry of an operator's matrix: ∂µ/∂ω of two real numbers. With a = S_(l+j)(m+k) and b =
/// (−1)^k S_(l+j)(m−k), µ = a ω + b conj ω.
template <class Real>
FF_HD Real matrix_entry(const Complex<Real>* op, int row, int column) {
    const auto to = real_term(row), from = real_term(column);
    const Complex<Real> a = coefficient(op, to.l + from.l, to.m + from.m);
    if (from.m == 0) return to.imaginary ? a.im : a.re;
    Complex<Real> b = coefficient(op, to.l + from.l, to.m - from.m);
    if ((from.m & 1) != 0) b = {-b.re, -b.im};
    if (to.imaginary) return from.imaginary ? a.re - b.re : a.im + b.im;
    return from.imaginary ? b.im - a.im : a.re + b.re;
}

} // namespace farfield::strategies
