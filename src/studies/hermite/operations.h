// How many operations an evaluation takes for a particle, as the formulas of series.h and powers.h are
// written: additions, multiplications, divisions and exponentials count one each.
#pragma once

#include "studies/hermite/evaluations.h"

namespace farfield::hermite {

/// Of a cluster: its offset (2, and 2 to scale it), |t|² (3; 1 to scale it), the exponential, a product, a
/// sum.
constexpr double series_flop_of_cluster = 10, powers_flop_of_cluster = 9;

/// Two polynomials, the product of factorials, a division and a multiply-add with a product for each term.
constexpr double series_flop(int p, int clusters) {
    return clusters * (p * p * (4.0 * (p - 1) + 5) + series_flop_of_cluster);
}
/// p² − 1 multiply-adds.
constexpr double powers_flop(int p, int clusters) {
    return clusters * (2.0 * (p * p - 1) + powers_flop_of_cluster);
}
constexpr double flop_of(Variant variant, int p, int clusters) {
    return variant == Variant::ours ? powers_flop(p, clusters) : series_flop(p, clusters);
}

} // namespace farfield::hermite
