// All that 1/r has to offer, over any value type with Ops: potential, field and second derivatives of charges
// and dipoles.
//
// With d = x − y, r² = d² + ε² and w = q/r³ + 3 (p·d)/r⁵:
//     φ = q/r + p·d/r³,   −∇φ = w d − p/r³,   ∂²φ = g dᵀ + d gᵀ − w,   g = (3 q/r⁵ + 15 (p·d)/r⁷) d/2 − 3
//     p/r⁵.
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

    /// Adds what a charge q at distance d has.
    template <bool with_hessian, class V>
    FF_INLINE static void add_charge(const V d[3], const V& inverse, const V& q, WholeSums<V>& sums) {
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

    /// Adds what a charge q with a dipole p has.
    template <bool with_hessian, class V>
    FF_INLINE static void add_both(const V d[3], const V& inverse, const V& q, const V p[3],
                                   WholeSums<V>& sums) {
        using O = Ops<V>;
        using Scalar = typename O::Scalar;
        const V inverse2 = inverse * inverse;
        const V inverse3 = inverse * inverse2;
        const V along = O::fma(p[0], d[0], O::fma(p[1], d[1], p[2] * d[2]));
        const V dipole = along * inverse3;          // p·d/r³
        const V charge = q * inverse;               // q/r
        const V steep = dipole * O::set(Scalar(3)); // 3 p·d/r³
        const V weight = (charge + steep) * inverse2;
        sums.potential() = sums.potential() + charge + dipole;
        for (int k = 0; k < 3; ++k)
            sums.field(k) = O::fnma(inverse3, p[k], O::fma(weight, d[k], sums.field(k)));
        if constexpr (with_hessian) {
            const V inverse4 = inverse2 * inverse2;
            const V along_d =
                O::fma(steep, O::set(Scalar(5)), charge * O::set(Scalar(3))) * inverse4 * O::set(Scalar(0.5));
            const V along_p = inverse3 * inverse2 * O::set(Scalar(3));
            V g[3];
            for (int k = 0; k < 3; ++k) g[k] = O::fnma(along_p, p[k], along_d * d[k]);
            int place = 0;
            for (int i = 0; i < 3; ++i)
                for (int k = i; k < 3; ++k, ++place)
                    sums.outer(place) = O::fma(g[k], d[i], O::fma(g[i], d[k], sums.outer(place)));
            sums.trace() = sums.trace() + weight;
        }
    }
};

} // namespace farfield
