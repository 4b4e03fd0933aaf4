// The evaluation of a Hermite series as ours does it, for numbers, packs and SIMD batches, host and GPU. The
// sum of all Hermite polynomials of a cluster is one polynomial in the two coordinates of r = y − s,
//     G(y) = e^(−|r|²/2σ²) Σ_kl C_kl r_x^k r_y^l,
// which Horner's rule evaluates with p² − 1 multiply-adds. Powers lose no digits here: for sources within
// u √2σ of the centre along both axes, e^(−|r|²/2σ²) Σ |C_kl r_x^k r_y^l| is e^(4u²) of Σ|q| at most, which
// is 2.7 for u = ½.
#pragma once

#include "math/ops.h"

namespace farfield::hermite {

/// Numbers of a cluster, C_kl at [p − 1 − l][p − 1 − k] and zeros up to a multiple of 4.
FF_HD constexpr int powers_of(int p) { return (p * p + 3) / 4 * 4; }

/// Σ C_kl x^k y^l; `coefficient(i)` is the cluster's number i in all lanes.
template <int p, class V, class Coefficient>
FF_INLINE V polynomial(const V& x, const V& y, const Coefficient& coefficient) {
    V sum = coefficient(0);
    FF_UNROLLED
    for (int i = 1; i < p; ++i) sum = Ops<V>::fma(sum, x, coefficient(i));
    FF_UNROLLED
    for (int row = 1; row < p; ++row) {
        V value = coefficient(row * p);
        FF_UNROLLED
        for (int i = 1; i < p; ++i) value = Ops<V>::fma(value, x, coefficient(row * p + i));
        sum = Ops<V>::fma(sum, y, value);
    }
    return sum;
}

} // namespace farfield::hermite
