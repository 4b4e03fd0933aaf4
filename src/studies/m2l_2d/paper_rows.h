// The ways of the paper to form a_nk m_k (translation.h, equation 8) without storing the matrix, for host and
// GPU: by diagonals (its Figure 5a), and by rows (5b) with the powers of Figures 6 and 7.
#pragma once

#include "studies/m2l_2d/translation.h"

namespace farfield::m2l2d {

/// t = 1/(x + iy).
template <class Real>
FF_HD Complex<Real> reciprocal(Real x, Real y) {
    const Real over_square = Real(1) / (x * x + y * y);
    return {x * over_square, -y * over_square};
}

/// t^(k+n+1): the loop of Figure 6, as many trips as k + n.
template <class Real>
FF_HD Complex<Real> power_of_figure_6(const Complex<Real>& t, int k, int n) {
    auto power = t;
    FF_ROLLED
    for (int m = 1; m < k + n + 1; ++m) power = power * t;
    return power;
}

/// t^(n+1): the loop of Figure 7, always p − 1 trips.
template <int p, class Real>
FF_HD Complex<Real> power_of_figure_7(const Complex<Real>& t, int n) {
    auto power = t;
    FF_UNROLLED
    for (int m = 1; m < p; ++m)
        if (n >= m) power = power * t;
    return power;
}

/// (−1)^n s·m
template <class Real>
FF_HD Complex<Real> with_sign(int n, const Complex<Real>& sum) {
    return (n & 1) != 0 ? Complex<Real>{-sum.re, -sum.im} : sum;
}

/// l_n, a power of its own for each k.
template <class Real>
FF_HD Complex<Real> row_of_figure_6(const Complex<Real>* m, const Complex<Real>& t, int n, int p) {
    Complex<Real> sum{0, 0};
    Real binomial = 1; // C(n+k, k)
    FF_ROLLED
    for (int k = 0; k < p; ++k) {
        const auto power = power_of_figure_6(t, k, n);
        sum = multiply_add({binomial * power.re, binomial * power.im}, m[k], sum);
        binomial = binomial * static_cast<Real>(n + k + 1) / static_cast<Real>(k + 1);
    }
    return with_sign(n, sum);
}

/// l_n, the power of k + 1 from that of k.
template <int p, class Real>
FF_HD Complex<Real> row_of_figure_7(const Complex<Real>* m, const Complex<Real>& t, int n) {
    auto power = power_of_figure_7<p>(t, n);
    Complex<Real> sum{0, 0};
    Real binomial = 1;
    FF_ROLLED
    for (int k = 0; k < p; ++k) {
        sum = multiply_add({binomial * power.re, binomial * power.im}, m[k], sum);
        power = power * t;
        binomial = binomial * static_cast<Real>(n + k + 1) / static_cast<Real>(k + 1);
    }
    return with_sign(n, sum);
}

/// The same with no loop left: 1/(k + 1) becomes a number of the instruction.
template <int p, class Real>
FF_HD Complex<Real> row_unrolled(const Complex<Real>* m, const Complex<Real>& t, int n) {
    auto power = power_of_figure_7<p>(t, n);
    Complex<Real> sum{0, 0};
    Real binomial = 1;
    FF_UNROLLED
    for (int k = 0; k < p; ++k) {
        sum = multiply_add({binomial * power.re, binomial * power.im}, m[k], sum);
        power = power * t;
        binomial = binomial * (static_cast<Real>(n + k + 1) * static_cast<Real>(1.0 / (k + 1)));
    }
    return with_sign(n, sum);
}

/// All l_n, one diagonal n + k = s after the other: t^(s+1) stays, the binomial goes on from C(s, k) to
/// C(s, k+1). `l[n·stride]` begins at 0.
template <class Real>
FF_HD void diagonals_of_figure_5(const Complex<Real>* m, const Complex<Real>& t, int p, Complex<Real>* l,
                                 int stride) {
    auto power = t;
    Real first = 1; // of the diagonal
    FF_ROLLED
    for (int s = 0; s < 2 * p - 1; ++s) {
        const int k_first = s < p ? 0 : s - p + 1, k_last = s < p ? s : p - 1;
        if (s >= p) first = first * static_cast<Real>(s) / static_cast<Real>(s - p + 1); // C(s, s−p+1)
        Real binomial = first;
        FF_ROLLED
        for (int k = k_first; k <= k_last; ++k) {
            const int n = s - k, place = n * stride;
            const Real signed_binomial = (n & 1) != 0 ? -binomial : binomial;
            auto& to = l[place];
            to = multiply_add({signed_binomial * power.re, signed_binomial * power.im}, m[k], to);
            binomial = binomial * static_cast<Real>(s - k) / static_cast<Real>(k + 1);
        }
        power = power * t;
    }
}

/// The matrix of a translation, `a[(n·p + k)·stride]`, in `Stored`.
template <class Stored, class Real>
FF_HD void store_matrix(const Complex<Real>& t, int p, Complex<Stored>* a, int stride) {
    auto row = t; // t^(n+1)
    FF_ROLLED
    for (int n = 0; n < p; ++n) {
        auto power = row;
        Real binomial = (n & 1) != 0 ? Real(-1) : Real(1);
        FF_ROLLED
        for (int k = 0; k < p; ++k) {
            const int place = (n * p + k) * stride;
            a[place] = {static_cast<Stored>(binomial * power.re), static_cast<Stored>(binomial * power.im)};
            power = power * t;
            binomial = binomial * static_cast<Real>(n + k + 1) / static_cast<Real>(k + 1);
        }
        row = row * t;
    }
}

} // namespace farfield::m2l2d
