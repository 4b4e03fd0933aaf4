// Half-stored complex moments and their p⁴ translation, as on the slides "FMM goes GPU" (The Fast Multipole
// Method, M2L Operation – Internal Structure), for host and GPU. With the solid harmonics
//     R_lm(x) = r^l P_lm(cos θ) e^{imφ}/(l + m)!,   S_lm(x) = (l − m)! P_lm(cos θ) e^{imφ}/r^(l+1)
// (Condon–Shortley phase in P_lm), a source at a from its centre, a target at b from its own and R from the
// source's centre to the target's:
//     ω_jk = Σ q conj R_jk(a),   µ_lm = Σ_jk S_(l+j)(m+k)(R) ω_jk,   φ = Σ_lm conj R_lm(−b) µ_lm.
// All obey c_(l,−m) = (−1)^m conj c_lm, so m = 0 … l are stored, at l(l + 1)/2 + m.
//
// Lengths are in boxes times `unit(p)` = 2p/e: S_lm grows as (l/e)^l up to l = 2p, which this unit balances,
// so that operators and moments stay within 1e±9 for p ≤ 18, in float as well.
#pragma once

#include "math/host_device.h"

#include <cmath>

namespace farfield::strategies {

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
    Real re, im;
};

FF_HD constexpr int half_size(int order) { return (order + 1) * (order + 2) / 2; }
FF_HD constexpr int half_place(int l, int m) { return l * (l + 1) / 2 + m; }

inline double unit(int order) { return order < 2 ? 1.0 : 2.0 * order / 2.718281828459045; }

/// c_lm for m of either sign.
template <class Real>
FF_HD Complex<Real> coefficient(const Complex<Real>* half, int l, int m) {
    if (m >= 0) return half[half_place(l, m)];
    const Complex<Real> value = half[half_place(l, -m)];
    return (m & 1) != 0 ? Complex<Real>{-value.re, value.im} : Complex<Real>{value.re, -value.im};
}

/// sum + a·b
template <class Real>
FF_HD void multiply_add(Complex<Real>& sum, const Complex<Real>& a, const Complex<Real>& b) {
    sum.re += a.re * b.re - a.im * b.im;
    sum.im += a.re * b.im + a.im * b.re;
}

/// Σ_k of µ_lm for one j: the innermost loop.
template <class Real>
FF_HD void add_row(Complex<Real>& sum, const Complex<Real>* op, const Complex<Real>* omega, int l, int m,
                   int j) {
    for (int k = -j; k <= j; ++k) multiply_add(sum, coefficient(op, l + j, m + k), coefficient(omega, j, k));
}

/// The slides' M2L_operation: adds to µ.
template <class Real>
FF_HD void m2l_operation(const Complex<Real>* omega, const Complex<Real>* op, Complex<Real>* mu, int order) {
    for (int l = 0; l <= order; ++l)
        for (int m = 0; m <= l; ++m) {
            Complex<Real> sum{0, 0};
            for (int j = 0; j <= order; ++j) add_row(sum, op, omega, l, m, j);
            mu[half_place(l, m)].re += sum.re;
            mu[half_place(l, m)].im += sum.im;
        }
}

/// conj R_lm(x, y, z), l ≤ order.
template <class Real>
FF_HD void regular(Real x, Real y, Real z, int order, Complex<Real>* out) {
    const Real square = x * x + y * y + z * z;
    Complex<Real> diagonal{1, 0};
    for (int m = 0; m <= order; ++m) {
        if (m > 0) { // conj: times −(x − iy)/(2m)
            const Real scale = Real(-1) / static_cast<Real>(2 * m);
            diagonal = {scale * (diagonal.re * x + diagonal.im * y),
                        scale * (diagonal.im * x - diagonal.re * y)};
        }
        Complex<Real> before{0, 0}, now = diagonal;
        for (int l = m;; ++l) {
            out[half_place(l, m)] = now;
            if (l == order) break;
            const Real scale = Real(1) / static_cast<Real>((l + 1) * (l + 1) - m * m);
            const Real up = static_cast<Real>(2 * l + 1) * z * scale, back = square * scale;
            const Complex<Real> next{up * now.re - back * before.re, up * now.im - back * before.im};
            before = now;
            now = next;
        }
    }
}

/// S_lm(x, y, z), l ≤ order.
template <class Real>
FF_HD void singular(Real x, Real y, Real z, int order, Complex<Real>* out) {
    const Real inverse = Real(1) / (x * x + y * y + z * z);
    Complex<Real> diagonal{std::sqrt(inverse), 0};
    for (int m = 0; m <= order; ++m) {
        if (m > 0) { // times −(2m − 1)(x + iy)/r²
            const Real scale = -static_cast<Real>(2 * m - 1) * inverse;
            diagonal = {scale * (diagonal.re * x - diagonal.im * y),
                        scale * (diagonal.im * x + diagonal.re * y)};
        }
        Complex<Real> before{0, 0}, now = diagonal;
        for (int l = m;; ++l) {
            out[half_place(l, m)] = now;
            if (l == order) break;
            const Real up = static_cast<Real>(2 * l + 1) * z * inverse;
            const Real back = static_cast<Real>(l * l - m * m) * inverse;
            const Complex<Real> next{up * now.re - back * before.re, up * now.im - back * before.im};
            before = now;
            now = next;
        }
    }
}

/// Multiply-adds of real numbers in one translation as the loops are written: a complex one has four.
constexpr double multiply_adds(int order) { return 4.0 * half_size(order) * (order + 1.0) * (order + 1.0); }

} // namespace farfield::strategies
