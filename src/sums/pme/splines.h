// Cardinal B-splines M_p between points and a mesh (Essmann et al. 1995, eqs. 4.1 and 4.2), as the powers
// that loops evaluate.
#pragma once

#include "base/aligned.h"

#include <array>
#include <cstdint>

namespace farfield {

inline constexpr int least_spline_order = 4, most_spline_order = 14;

/// Mesh points that a row of weights is padded to, by zeros: a whole number of vectors of any width.
inline int padded_order(int order) { return order <= 8 ? 8 : 16; }

/// A point at the fraction f of a cell gives the weight M_p(f + p − 1 − j) to mesh point j of its p, from low
/// to high.
struct Splines {
    int order;
    AlignedVector<double> values; ///< [power of f − ½][j]: weights, p rows of `padded_order` numbers
    AlignedVector<double> slopes; ///< their derivatives by f, p − 1 rows

    explicit Splines(int order);
};

/// Where a point lies on one axis of a mesh of n points: the cell, 0 ≤ cell < n, and the fraction in it. Its
/// first mesh point is cell − ⌊p/2⌋ + 1.
struct SplinePlace {
    std::int32_t cell;
    double fraction;
};
SplinePlace spline_place(double x, double length, std::int32_t n, int order);

} // namespace farfield
