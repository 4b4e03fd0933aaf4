// How many terms p an axis the expansions of a box take. Lengths in σ; r is half a box's longest side.
//
// By Cramér's inequality (hermite_function.h) what n ≥ p gives along an axis is at most, for a source of
// strength 1 and at any distance,
//   e = K Σ_{n≥p} rⁿ/√n!                                        of a Hermite or a Taylor expansion,
//   e = K Σ_{n≥p or m≥p} r^(n+m) √(n+m)!/(n! m!)                of one translated to the other.
// A Gaussian is at most 1 along each axis, a truncated one at most 1 + e, so that their products over d axes
// differ by (1 + e)^d − 1. (Greengard and Strain multiplied the tails of the axes, which is less than the
// error for d ≥ 2.) Gradients have the slopes of the same series.
#pragma once

namespace farfield {

struct BoxTruncation {
    int dimension = 1;
    double radius = 0.5;        ///< r
    bool translated = false;    ///< whether there are translations
    bool with_gradient = false; ///< whether gradients count
};

/// The bound for p = order.
double box_error(const BoxTruncation& truncation, int order);
/// Of the gradient, in units of 1/(σ√e), the largest gradient that a source of strength 1 has.
double box_gradient_error(const BoxTruncation& truncation, int order);

/// The largest p that `box_order` gives: p^d numbers have to be worth their memory.
int most_box_order(int dimension);

/// The least p whose bounds are within the tolerance; 0 where none is, or where rounding would be more.
int box_order(const BoxTruncation& truncation, double tolerance);

} // namespace farfield
