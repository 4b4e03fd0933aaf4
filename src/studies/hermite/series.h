// The evaluation of a Hermite series as the paper does it (equation 9, Figures 8 and 9), for host and GPU:
//     G(y) = Σ_α A_α h_α(t),   h_α(t) = e^(−|t|²) H_a(t_x) H_b(t_y),   t = (y − s)/√2σ,   a, b = 0 … p − 1,
//     A_α = M_α/(a! b!),       M_α = Σ_j q_j u_x^a u_y^b,              u = (x_j − s)/√2σ.
// A cluster keeps its moments M_α; each of its p² terms takes two polynomials by Horner's rule and a division
// by the factorials.
#pragma once

#include "math/ops.h"

#include <cmath>

namespace farfield::hermite {

/// H_0 = 1, H_1 = 2t, H_(n+1) = 2t H_n − 2n H_(n−1), by their coefficients. All are whole numbers that a
/// float holds up to p = 12.
template <int p>
struct Polynomials {
    float at[p][p]; ///< of H_n that of t^k at [n][p − 1 − k], so that zeros come first

    constexpr Polynomials() : at{} {
        at[0][p - 1] = 1;
        if constexpr (p > 1) at[1][p - 2] = 2;
        for (int n = 1; n + 1 < p; ++n)
            for (int i = 0; i < p; ++i)
                at[n + 1][i] = (i + 1 < p ? 2 * at[n][i + 1] : 0) - static_cast<float>(2 * n) * at[n - 1][i];
    }
};

/// Figure 8: the loop knows its length only when it runs.
FF_INLINE float horner_loop(const float* coefficients, float t, int length) {
    float sum = coefficients[0];
    FF_ROLLED
    for (int i = 1; i < length; ++i) sum = Ops<float>::fma(t, sum, coefficients[i]);
    return sum;
}
/// Figure 9: the same without a loop.
template <int length>
FF_INLINE float horner_unrolled(const float* coefficients, float t) {
    float sum = coefficients[0];
    FF_UNROLLED
    for (int i = 1; i < length; ++i) sum = Ops<float>::fma(t, sum, coefficients[i]);
    return sum;
}

/// The series of one cluster, term by term. `moments`: M_α of [a][b]; `factorials`: p of them; `terms`: p,
/// for the loops.
template <int p, bool unrolled>
FF_INLINE float series(const float* moments, const int* factorials, const Polynomials<p>& polynomials,
                       float x, float y, int terms) {
    float sum = 0;
    int a = 0, b = 0;
    FF_ROLLED
    for (int term = 0; term < terms * terms; ++term) {
        const float* of_x = polynomials.at[a];
        const float* of_y = polynomials.at[b];
        const float h_x = unrolled ? horner_unrolled<p>(of_x, x) : horner_loop(of_x, x, terms);
        const float h_y = unrolled ? horner_unrolled<p>(of_y, y) : horner_loop(of_y, y, terms);
        const float both = static_cast<float>(factorials[a]) * static_cast<float>(factorials[b]);
        sum = Ops<float>::fma(moments[term] / both * h_x, h_y, sum);
        if (++b == terms) {
            b = 0;
            ++a;
        }
    }
    return sum * std::exp(-(x * x + y * y));
}

} // namespace farfield::hermite
