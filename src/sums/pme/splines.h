// Cardinal B-splines M_p between points and a mesh (Essmann et al. 1995, eqs. 4.1 and 4.2), as the powers
// that loops evaluate.
#pragma once

#include "base/aligned.h"
#include "sums/pme/spline_place.h"

#include <array>
#include <cstdint>

namespace farfield {

inline constexpr int least_spline_order = 4, most_spline_order = 14;

/// Mesh points that a row of weights is padded to, by zeros: a whole number of vectors of any width.
FF_HD constexpr int padded_order(int order) { return order <= 8 ? 8 : 16; }

/// A point at the fraction f of a cell gives the weight M_p(f + p − 1 − j) to mesh point j of its p, from low
/// to high.
struct Splines {
    int order;
    AlignedVector<double> values; ///< [power of f − ½][j]: weights, p rows of `padded_order` numbers
    AlignedVector<double> slopes; ///< their derivatives by f, p − 1 rows

    explicit Splines(int order);
};

} // namespace farfield
