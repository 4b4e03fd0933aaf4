// The linear maps of Cartesian expansions (cartesian.h), written out term by term: moments about another
// centre, and the numbers that are evaluated. Lists are made on the host; kernels read copies of them.
#pragma once

#include "math/host_device.h"
#include "sums/expansions/cartesian.h"

namespace farfield {

/// A number of `far_numbers` is a sum of moments: numbers[to] = Σ weight·moments[from].
struct FarTerm {
    int to;
    int from;
    double weight;
};

/// Along one axis, moments after a shift by d: to += weight·d^power·from, one after the other, in place.
struct ShiftTerm {
    int to;
    int from;
    int power;
    double weight;
};

struct CartesianTerms {
    const FarTerm* numbers = nullptr; ///< by rising `to`
    int number_terms = 0;
    const ShiftTerm* shift[3] = {}; ///< x, y and z
    int shift_terms[3] = {};
    const int* degree = nullptr; ///< of each moment
};

/// Of an order up to the highest, for the host.
CartesianTerms cartesian_terms(int order);

/// Adds moments about another centre (shift_moments) of an order up to `Most`.
template <int Most>
FF_HD inline void add_shifted_moments(const CartesianTerms& terms, int order, const double* from,
                                      const double shift[3], double scale, double* to) {
    const int numbers = monomials_below(order + 1);
    double moved[monomials_below(Most + 1)];
    double powers[Most + 1];
    powers[0] = 1.0;
    for (int k = 1; k <= order; ++k) powers[k] = powers[k - 1] * scale;
    for (int k = 0; k < numbers; ++k) moved[k] = from[k] * powers[terms.degree[k]];
    for (int axis = 0; axis < 3; ++axis) {
        for (int k = 1; k <= order; ++k) powers[k] = powers[k - 1] * shift[axis];
        for (int t = 0; t < terms.shift_terms[axis]; ++t) {
            const auto& term = terms.shift[axis][t];
            moved[term.to] += term.weight * powers[term.power] * moved[term.from];
        }
    }
    for (int k = 0; k < numbers; ++k) to[k] += moved[k];
}

/// far_numbers_of
template <class T>
FF_HD inline void set_far_numbers(const CartesianTerms& terms, const double* moments, T* numbers) {
    double sum = 0.0;
    int to = 0;
    for (int t = 0; t < terms.number_terms; ++t) {
        const auto& term = terms.numbers[t];
        if (term.to != to) {
            numbers[to] = static_cast<T>(sum);
            sum = 0.0;
            to = term.to;
        }
        sum += term.weight * moments[term.from];
    }
    numbers[to] = static_cast<T>(sum);
}

} // namespace farfield
