// Softened kernels 1/√(r² + ε²) in the far field. Harmonics carry 1/r as ever; of what is missing, 1/√(r² +
// ε²) − 1/r ≈ −ε²/2r³, polynomials (expansions/polynomials.h) carry as many digits as the order of the
// harmonics asks for, which are few where cells are wide beside ε. On levels whose cells are not, where the
// softened kernel is smoother than its difference, polynomials carry it whole and the harmonics nothing.
#pragma once

#include "sums/fmm/operators.h"

#include <memory>

namespace farfield {

/// What softened operators depend on.
struct SoftenedOrder {
    FmmOrder order;         ///< of the harmonics
    double softening = 0.0; ///< ε, in widths of a cell of level 0
    int levels = 1;

    friend bool operator==(const SoftenedOrder&, const SoftenedOrder&) = default;
};

template <class T>
struct SoftenedOperators {
    FmmOperators<T> polynomials;
    int harmonic_levels; ///< on levels from this one on, polynomials carry the kernel whole
};

/// Made once for an order; the last few are kept.
template <class T>
std::shared_ptr<const SoftenedOperators<T>> softened_operators(const SoftenedOrder& order, int threads);

/// About what the polynomials of a level cost, in multiply-adds a cell, where ε is `softening` of its widths,
/// and whether harmonics are needed beside them.
struct SoftenedCost {
    double multiply_adds = 0.0;
    double functions = 0.0;            ///< of an expansion
    double functions_of_offsets = 0.0; ///< that all classes of offsets need
    bool whole = false;
};
SoftenedCost softened_cost(const FmmOrder& order, double softening);

/// At most, about, for any ε and so many levels of cells: bytes of the operators while they are made, and
/// functions of an expansion.
struct SoftenedSize {
    double bytes = 0.0, functions = 0.0;
};
SoftenedSize predicted_softened_size(const FmmOrder& order, bool wide, int levels);

extern template std::shared_ptr<const SoftenedOperators<float>> softened_operators(const SoftenedOrder&, int);
extern template std::shared_ptr<const SoftenedOperators<double>> softened_operators(const SoftenedOrder&,
                                                                                    int);

} // namespace farfield
