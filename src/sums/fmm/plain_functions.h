// Functions at points as the kernels of a GPU take them, and which coefficients an expansion has of them.
// Harmonics (l, m) are at l² for m = 0, at l² + 2m − 1 for cosines and at l² + 2m for sines of an expansion;
// polynomial_place says where polynomials are.
#pragma once

#include "sums/expansions/operators.h"
#include "sums/expansions/polynomials.h"
#include "sums/expansions/translation.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield {

/// The place of a function in the order of degrees.
constexpr std::int32_t degree_place(int degree, int order, bool sine) {
    return degree * degree + (order == 0 ? 0 : 2 * order - (sine ? 0 : 1));
}

/// Polynomials of a degree lie by c, then by b.
constexpr std::int32_t polynomial_place(const std::array<int, 3>& of) {
    const int b = of[1];
    const int c = of[2];
    const int degree = of[0] + b + c;
    return degree * (degree + 1) * (degree + 2) / 6 + c * (degree + 1) - c * (c - 1) / 2 + b;
}

/// Rows of a sparse matrix: row i has the terms [first[i], first[i + 1]).
template <class T>
struct SparseRows {
    std::vector<std::int32_t> first{0};
    std::vector<std::int32_t> from;
    std::vector<T> weight;
};

/// The functions in pairs, as FunctionLoop meets them, and the coefficients that expansions at points need.
template <class T>
struct PlainFunctions {
    Functions functions = Functions::harmonics;
    int order = 0;
    int pairs = 0;
    std::vector<T> diagonal, climb, climb_back; ///< of harmonics
    std::vector<std::int32_t> places;           ///< of the 2·pairs functions in an expansion; −1: none
    /// Coefficients in the order of the loop, 2·pairs rows of each set: an expansion and its derivatives
    /// along x, y, z; or the second ones xx, xy, xz, yy, yz, zz and two sets without terms.
    SparseRows<T> sets;
    /// With first derivatives: what the sums of p_a·function over dipoles p add to an expansion. Row a·size +
    /// i is for coefficient i and axis a, `from` counts in the order of the loop.
    SparseRows<T> gradients;
};

std::int32_t plain_place(const Harmonic& h); ///< −1 for padding
std::int32_t plain_place(const Polynomial& f);

/// ∂/∂x, ∂/∂y, ∂/∂z of expansions, by places of the bases.
using Derivatives = std::array<std::vector<SparseTerm>, 3>;

/// Of expansions in `basis`, whose derivatives are expansions in `functions`.
template <class T, class Basis>
PlainFunctions<T> plain_functions(const Basis& basis, const Basis& functions, const Derivatives& derivatives);
/// Second derivatives: `first` leads from `basis` to expansions that `then` leads from.
template <class T, class Basis>
PlainFunctions<T> plain_second_functions(const Basis& basis, const Basis& functions, const Derivatives& first,
                                         const Derivatives& then);

} // namespace farfield
