// All that 1/r has to offer, over any value type with Ops: potential, field and second derivatives of
// charges.
//
// With d = x − y, r² = d² + ε² and w = q/r³: φ = q/r, −∇φ = w d, ∂²φ = 3 w/r² d dᵀ − w.
#pragma once

#include "sums/kernels/inverse_distance.h"

namespace farfield {

/// Sums over sources. The Hessian's numbers are those of `outer` (xx, xy, xz, yy, yz, zz) minus `trace` on
/// the diagonal.
template <class V>
struct WholeSums {
    static constexpr int numbers = 11;
    V all[numbers];

    FF_INLINE V& potential() { return all[0]; }
    FF_INLINE V& field(int k) { return all[1 + k]; }
    FF_INLINE V& outer(int k) { return all[4 + k]; }
    FF_INLINE V& trace() { return all[10]; }
};

struct WholeInverseDistance {
    /// 1/r.
    template <class V>
    FF_INLINE static V inverse(const V& r2) {
        using Scalar = typename Ops<V>::Scalar;
        return inverse_distance(r2) * Ops<V>::set(static_cast<Scalar>(InversePower<V, 1>::factor));
    }

    /// Adds what a source of strength q at distance d has.
    template <bool with_hessian, class V>
    FF_INLINE static void add(const V d[3], const V& inverse, const V& q, WholeSums<V>& sums) {
        using O = Ops<V>;
        const V inverse2 = inverse * inverse;
        const V term = q * inverse;
        const V weight = term * inverse2;
        sums.potential() = sums.potential() + term;
        for (int k = 0; k < 3; ++k) sums.field(k) = O::fma(weight, d[k], sums.field(k));
        if constexpr (with_hessian) {
            const V steep = weight * inverse2 * O::set(typename O::Scalar(3));
            int place = 0;
            for (int i = 0; i < 3; ++i) {
                const V row = steep * d[i];
                for (int k = i; k < 3; ++k, ++place) sums.outer(place) = O::fma(row, d[k], sums.outer(place));
            }
            sums.trace() = sums.trace() + weight;
        }
    }
};

} // namespace farfield
