// The operators of a whole far field on a GPU: harmonics, and for a softened kernel polynomials beside them
// or in their place (softened.h).
#pragma once

#include "sums/fmm/plain_operators.h"

#include "sums/lattice/images/image_operator.h"

#include <memory>

namespace farfield {

template <class T>
struct PlainFar {
    /// One kind of expansions: cells send theirs to others of their level on these levels.
    struct Part {
        std::shared_ptr<const PlainOperators<T>> operators; ///< null: there is nothing to do
        int first_level = 0;
        int end_level = 0;
    };
    Part harmonics, polynomials;
    /// Of a periodic tree: what cells of level 0, and all their images, send each other in place of
    /// `harmonics`.
    std::shared_ptr<const ImageOperator> images;
    double harmonic_work = 0.0; ///< multiply-adds of all translations of harmonics to a cell

    [[nodiscard]] bool is_empty() const { return !harmonics.operators && !polynomials.operators; }
    /// Of all translations to a cell of a level.
    [[nodiscard]] double multiply_adds(int level) const {
        return (level < harmonics.end_level ? harmonic_work : 0.0) +
               (polynomials.operators ? polynomials.operators->multiply_adds(level) : 0.0);
    }
};

/// Without images. @param softening  ε, in widths of a cell of level 0 @param levels  of the tree
/// @param least_harmonic_levels  that have harmonics also where polynomials carry the kernel whole
template <class T>
PlainFar<T> plain_far(const FmmOrder& order, double softening, int levels, int least_harmonic_levels,
                      int threads);

extern template PlainFar<float> plain_far<float>(const FmmOrder&, double, int, int, int);
extern template PlainFar<double> plain_far<double>(const FmmOrder&, double, int, int, int);

} // namespace farfield
