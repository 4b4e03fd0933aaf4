// M2L of the 2D Laplace kernel in two forms, for host and GPU. d leads from the source's centre to the
// target's, in sides of a box; t = 1/d.
//
// The paper's (equation 8), of w(z) = Σ m_k/(z − x_j)^(k+1) = Σ l_n (z − x_i)^n:
//     l_n = Σ_k a_nk m_k,   a_nk = (−1)^n C(n+k, k) t^(n+k+1),   n, k = 0 … p − 1.
// It has no logarithm, as w is a field; its potential would need one more number.
//
// Ours, of φ(z) = −a_0 ln(z − x_j) + Σ_k≥1 a_k/(z − x_j)^k = Σ b_n (z − x_i)^n:
//     b_n = (−t)^n Σ_k h_nk t^k a_k − [n = 0] a_0 ln d,   h_nk = C(n+k−1, k−1),   h_n0 = 1/n,   h_00 = 0.
// H is real and the same for every offset. Turns by 90° of an offset, d_r = i^r d, have t_r = i^(−r) t: what
// they add to b_n differs by i^(−r(n+k)) alone, so that the turns of an orbit share one product with H.
#pragma once

#include "math/host_device.h"

#include <array>

namespace farfield::m2l2d {

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
    Real re, im;
};

template <class Real>
FF_HD Complex<Real> operator+(const Complex<Real>& a, const Complex<Real>& b) {
    return {a.re + b.re, a.im + b.im};
}
template <class Real>
FF_HD Complex<Real> operator-(const Complex<Real>& a, const Complex<Real>& b) {
    return {a.re - b.re, a.im - b.im};
}
template <class Real>
FF_HD Complex<Real> operator*(const Complex<Real>& a, const Complex<Real>& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// sum + a·b
template <class Real>
FF_HD Complex<Real> multiply_add(const Complex<Real>& a, const Complex<Real>& b, const Complex<Real>& sum) {
    return {sum.re + a.re * b.re - a.im * b.im, sum.im + a.re * b.im + a.im * b.re};
}
/// i^(−turns) a; turns may be any number that the compiler knows.
template <class Real>
FF_HD Complex<Real> turned_back(const Complex<Real>& a, int turns) {
    switch (turns & 3) {
    case 1:
        return {a.im, -a.re};
    case 2:
        return {-a.re, -a.im};
    case 3:
        return {-a.im, a.re};
    default:
        return a;
    }
}

/// H of p terms, the numbers that a compiler puts into instructions.
template <int p, class Real>
struct SharedOperator {
    Real at[p][p];
};
template <int p, class Real>
FF_HD constexpr SharedOperator<p, Real> shared_operator() {
    SharedOperator<p, Real> h{};
    for (int n = 0; n < p; ++n) {
        h.at[n][0] = n == 0 ? Real(0) : static_cast<Real>(1.0 / n);
        double binomial = 1; // C(n+k−1, k−1)
        for (int k = 1; k < p; ++k) {
            h.at[n][k] = static_cast<Real>(binomial);
            binomial = binomial * (n + k) / k;
        }
    }
    return h;
}

/// (−t)^n from t^n.
template <class Real>
FF_HD Complex<Real> signed_power(const Complex<Real>& power, int n) {
    return (n & 1) != 0 ? Complex<Real>{-power.re, -power.im} : power;
}

/// b of one translation with the shared operator, handed to `store(n, b_n)`. `power[k]` is t^k, `log` −ln d.
template <int p, class Real, class Powers, class Store>
FF_HD void shared_translation(const Complex<Real>* a, const Powers& power, const Complex<Real>& log,
                              const Store& store) {
    constexpr auto h = shared_operator<p, Real>();
    Complex<Real> x[p];
    x[0] = a[0];
    FF_UNROLLED
    for (int k = 1; k < p; ++k) x[k] = power(k) * a[k];
    FF_UNROLLED
    for (int n = 0; n < p; ++n) {
        Complex<Real> sum = n == 0 ? log * a[0] : Complex<Real>{h.at[n][0] * x[0].re, h.at[n][0] * x[0].im};
        FF_UNROLLED
        for (int k = 1; k < p; ++k) {
            sum.re += h.at[n][k] * x[k].re;
            sum.im += h.at[n][k] * x[k].im;
        }
        store(n, n == 0 ? sum : signed_power(power(n), n) * sum);
    }
}

/// One source to the targets at the turns of an orbit: the same product with H, in parts by k mod 4, whose
/// Fourier transform has the turns. `store(n, turn, b_n)`; `log(turn)` is −ln d of a turn.
template <int p, int turns, class Real, class Powers, class Logs, class Store>
FF_HD void spread_orbit(const Complex<Real>* a, const Powers& power, const Logs& log, const Store& store) {
    constexpr auto h = shared_operator<p, Real>();
    Complex<Real> x[p];
    x[0] = a[0];
    FF_UNROLLED
    for (int k = 1; k < p; ++k) x[k] = power(k) * a[k];
    FF_UNROLLED
    for (int n = 0; n < p; ++n) {
        Complex<Real> part[4]; // Σ of k ≡ c (mod 4)
        FF_UNROLLED
        for (int k = 0; k < p; ++k) {
            auto& sum = part[k & 3];
            sum = n + k == 0 ? Complex<Real>{Real(0), Real(0)}
                  : k < 4    ? Complex<Real>{h.at[n][k] * x[k].re, h.at[n][k] * x[k].im}
                             : Complex<Real>{sum.re + h.at[n][k] * x[k].re, sum.im + h.at[n][k] * x[k].im};
        }
        const auto even = part[0] + part[2], odd = part[1] + part[3];
        Complex<Real> of[4];
        of[0] = even + odd;
        if constexpr (turns > 1) {
            const auto even_half = part[0] - part[2], odd_half = turned_back(part[1] - part[3], 1);
            of[1] = even_half + odd_half;
            of[3] = even_half - odd_half;
            of[2] = even - odd;
        }
        const auto scale = n == 0 ? Complex<Real>{Real(1), Real(0)} : signed_power(power(n), n);
        FF_UNROLLED
        for (int turn = 0; turn < turns; ++turn)
            store(n, turn,
                  n == 0 ? multiply_add(log(turn), a[0], of[turn]) : scale * turned_back(of[turn], turn * n));
    }
}

/// The sources at the turns of an orbit to one target, added to b. `source(k, turn)` is a_k of a turn.
template <int p, int turns, class Real, class Powers, class Logs, class Sources>
FF_HD void gather_orbit(Complex<Real>* b, const Powers& power, const Logs& log, const Sources& source) {
    constexpr auto h = shared_operator<p, Real>();
    Complex<Real> sum[p]; // Σ_k h_nk t^k Σ_r i^(−r(n+k)) a_k
    FF_UNROLLED
    for (int k = 0; k < p; ++k) {
        Complex<Real> of[4], x[4];
        FF_UNROLLED
        for (int turn = 0; turn < turns; ++turn) {
            const auto value = source(k, turn);
            if (k == 0) b[0] = multiply_add(log(turn), value, b[0]);
            of[turn] = k == 0 ? value : power(k) * value;
        }
        if constexpr (turns == 4) {
            const auto even = of[0] + of[2], odd = of[1] + of[3];
            const auto even_half = of[0] - of[2], odd_half = turned_back(of[1] - of[3], 1);
            x[0] = even + odd;
            x[1] = even_half + odd_half;
            x[2] = even - odd;
            x[3] = even_half - odd_half;
        } else if constexpr (turns == 2) {
            x[0] = of[0] + of[1];
            x[1] = of[0] + turned_back(of[1], 1);
            x[2] = of[0] - of[1];
            x[3] = of[0] - turned_back(of[1], 1);
        } else {
            x[0] = x[1] = x[2] = x[3] = of[0];
        }
        FF_UNROLLED
        for (int n = 0; n < p; ++n) {
            const auto& value = x[(n + k) & 3];
            sum[n] = n + k == 0 ? Complex<Real>{Real(0), Real(0)}
                     : k == 0   ? Complex<Real>{h.at[n][0] * value.re, h.at[n][0] * value.im}
                                : Complex<Real>{sum[n].re + h.at[n][k] * value.re,
                                                sum[n].im + h.at[n][k] * value.im};
        }
    }
    FF_UNROLLED
    for (int n = 0; n < p; ++n)
        b[n] = n == 0 ? b[0] + sum[0] : multiply_add(signed_power(power(n), n), sum[n], b[n]);
}

} // namespace farfield::m2l2d
