// What the loops over blocks ask of a pair formula, and the only one so far. A formula is a structure of
// static functions of r² over any value type with Ops: potential Σ q P(r²), field Σ q W(r²) (x − y).
#pragma once

#include "sums/kernels/inverse_distance.h"

namespace farfield {

/// P and W of a pair, each divided by a constant (`potential_factor`, `field_factor`) that the loops multiply
/// by once, at the end.
template <class V>
struct PairTerms {
    V potential;
    V weight;
};

/// P = 1/r, W = 1/r³; r² includes the softening.
struct InverseDistance {
    /// Without the potential, W comes straight from the estimate of 1/r.
    template <bool potential_wanted, bool field_wanted, class V>
    FF_INLINE static PairTerms<V> terms(const V& r2) {
        if constexpr (!potential_wanted) {
            const V weight = inverse_cube(r2);
            return {weight, weight};
        } else {
            const V inverse = inverse_distance(r2);
            return {inverse, inverse * inverse * inverse};
        }
    }

    template <bool potential_wanted, class V>
    static constexpr double potential_factor = InversePower<V, 1>::factor;
    template <bool potential_wanted, class V>
    static constexpr double field_factor =
        potential_wanted ? InversePower<V, 1>::factor* InversePower<V, 1>::factor* InversePower<V, 1>::factor
                         : InversePower<V, 3>::factor;
};

} // namespace farfield
