// Local expansions of 1/√(r² + ε²): what monopoles far from some targets do near a centre among these, as a
// polynomial of the offset.
//
// With d from the centre to a monopole q, ρ² = d² + ε² and the target at h s from the centre, the expansion
// of cartesian.h with the target's offset in the place of the source's is
//   q/√(|d − h s|² + ε²) = (q/ρ) Σ_mj a_mj t^2j |s|^2j (s·v)^m,   t = h/ρ, v = h d/ρ², m + 2j ≤ the order.
// Of monopoles only the sums S_mj = Σ (q/ρ) t^2j v^α, |α| = m, are needed; what is left out is less than
// (|s| t)^(order + 1) q/ρ, as terms of one degree are at most 1.
#pragma once

#include "sums/expansions/cartesian.h"

namespace farfield {

constexpr int local_order = 5;
/// Coefficients of a polynomial, in the order of monomials (cartesian.h).
constexpr int local_numbers = monomials_below(local_order + 1);
/// Sums S_mj: for j = 0, 1, … those of all monomials up to the order less 2j.
constexpr int local_sums = [] {
    int sums = 0;
    for (int j = 0; 2 * j <= local_order; ++j) sums += monomials_below(local_order - 2 * j + 1);
    return sums;
}();
/// What values are computed from: the potential's coefficients and those of its negative gradient, x, y and z
/// of each monomial side by side.
constexpr int local_value_numbers = local_numbers + 3 * monomials_below(local_order);

/// Adds the polynomial that these sums stand for.
void add_local_sums(const double sums[local_sums], double polynomial[local_numbers]);

/// Sets a polynomial about another centre. @param shift  from the old centre to the new one, in old units
/// @param scale  the new unit in old ones
void shift_local(const double from[local_numbers], const double shift[3], double scale,
                 double to[local_numbers]);

/// Numbers for values at targets whose offsets count in units of h. `unit`: h in the caller's lengths.
template <class T>
void local_value_numbers_of(const double polynomial[local_numbers], double unit, T out[local_value_numbers]);

extern template void local_value_numbers_of<float>(const double*, double, float*);
extern template void local_value_numbers_of<double>(const double*, double, double*);

} // namespace farfield
