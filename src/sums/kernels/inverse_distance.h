// 1/r and 1/r³ from r², over any value type with Ops: an estimate y of 1/r, then one correction step.
//
// With h = 1 − r²y², r⁻ᵖ = yᵖ (1 − h)^(−p/2), and (1 − h)^(−p/2) = Σ c_k hᵏ, c_k = c_(k−1) (p/2 + k − 1)/k.
// The series is cut at the degree that the estimate's error needs (degree 1 is Newton's step), and divided by
// its leading coefficient, which saves an operation. So what comes out is r⁻ᵖ divided by the constant
// `factor`; whoever sums multiplies by it once, at the end.
#pragma once

#include "math/ops.h"

#include <cmath>
#include <limits>

namespace farfield {

/// The corrections for r⁻ᵖ in the value type V.
template <class V, int P>
class InversePower {
    using Scalar = typename Ops<V>::Scalar;

    static constexpr double coefficient(int k) {
        double c = 1.0;
        for (int i = 1; i <= k; ++i) c *= (0.5 * P + i - 1) / i;
        return c;
    }

    // y² off by the estimate's error twice; what is cut off must drown in the rounding of a few operations.
    static constexpr int needed_degree() {
        constexpr double h = 2.0 * Ops<V>::estimate_error;
        constexpr double tolerance = 4.0 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
        double power = h;
        for (int k = 0;; ++k, power *= h)
            if (coefficient(k + 1) * power <= tolerance) return k;
    }

    static constexpr int degree = needed_degree();
    static constexpr Scalar ratio(int k) { return static_cast<Scalar>(coefficient(k) / coefficient(degree)); }
    static constexpr Scalar newton = static_cast<Scalar>(1.0 + coefficient(0) / coefficient(degree));

public:
    /// The constant taken out, from the rounded coefficients: a perfect estimate then has no error at all.
    static constexpr double factor = degree == 0   ? 1.0
                                     : degree == 1 ? 1.0 / (static_cast<double>(newton) - 1.0)
                                                   : 1.0 / static_cast<double>(ratio(0));

    /// (r⁻ᵖ/yᵖ)/factor from r² and y².
    FF_INLINE static V correction(const V& r2, const V& y2) {
        if constexpr (degree == 0) {
            return Ops<V>::set(Scalar(1));
        } else if constexpr (degree == 1) {
            return Ops<V>::fnma(r2, y2, Ops<V>::set(newton));
        } else {
            const V h = Ops<V>::fnma(r2, y2, Ops<V>::set(Scalar(1)));
            V sum = h + Ops<V>::set(ratio(degree - 1));
            for (int k = degree - 2; k >= 0; --k) sum = Ops<V>::fma(sum, h, Ops<V>::set(ratio(k)));
            return sum;
        }
    }
};

/// r⁻¹ / InversePower<V, 1>::factor.
template <class V>
FF_INLINE V inverse_distance(const V& r2) {
    const V y = Ops<V>::rsqrt_estimate(r2);
    if constexpr (Ops<V>::estimate_error == 0.0) return y;
    return y * InversePower<V, 1>::correction(r2, y * y);
}

/// r⁻³ / InversePower<V, 3>::factor.
template <class V>
FF_INLINE V inverse_cube(const V& r2) {
    const V y = Ops<V>::rsqrt_estimate(r2);
    const V y2 = y * y;
    if constexpr (Ops<V>::estimate_error == 0.0) return y2 * y;
    return (y * y2) * InversePower<V, 3>::correction(r2, y2);
}

/// The formula as the pair loops take it: r² in; what goes into the potential, and what multiplies x − y in
/// the field (and V_x − V_y in its time derivative) out. Sums of both are to be multiplied by the factors,
/// and by the sign of the kernel's row.
struct InverseDistance {
    static constexpr int dimension = 3;
    static constexpr int columns = 1;
    template <bool with_potential>
    static constexpr bool takes_long = false;

    template <class V>
    struct Terms {
        V potential; ///< q/r; not set where no potential is wanted
        V weight;    ///< q/r³
    };

    template <class V, bool with_potential>
    struct Factors {
        static constexpr double potential = InversePower<V, 1>::factor;
        static constexpr double weight =
            with_potential ? potential * potential * potential : InversePower<V, 3>::factor;
    };

    /// Of a source of strength q.
    template <bool with_potential, class V>
    FF_INLINE static Terms<V> of_source(const V& r2, const V& q) {
        Terms<V> terms; // NOLINT(*-member-init): filled below, as far as wanted
        if constexpr (with_potential) {
            const V inverse = inverse_distance(r2);
            terms.potential = q * inverse;
            terms.weight = terms.potential * (inverse * inverse);
        } else {
            terms.weight = q * inverse_cube(r2);
        }
        return terms;
    }

    /// Of a unit source, for loops in which two points act on each other.
    template <bool with_potential, class V>
    FF_INLINE static Terms<V> of_unit(const V& r2) {
        Terms<V> terms; // NOLINT(*-member-init)
        if constexpr (with_potential) {
            terms.potential = inverse_distance(r2);
            terms.weight = terms.potential * terms.potential * terms.potential;
        } else {
            terms.weight = inverse_cube(r2);
        }
        return terms;
    }

    template <class V>
    struct MovingTerms {
        Terms<V> terms;
        V radial; ///< the field changes by weight·(V_x − V_y − radial·(x − y)); rv = (x − y)·(V_x − V_y)
    };
    /// d(weight·d)/dt = weight·(v − 3 (d·v)/r² d) (Makino & Aarseth 1992, PASJ 44, 141, eq. 3).
    template <class V>
    FF_INLINE static MovingTerms<V> of_moving_source(const V& r2, const V& q, const V& rv) {
        constexpr double factor = InversePower<V, 1>::factor;
        using Scalar = typename Ops<V>::Scalar;
        const V inverse = inverse_distance(r2);
        const V inverse2 = inverse * inverse;
        const V term = q * inverse;
        return {{term, term * inverse2}, rv * inverse2 * Ops<V>::set(Scalar(3.0 * factor * factor))};
    }

    /// As it is written down, of plain numbers: the first rungs of the ladder.
    template <class T>
    FF_INLINE static Terms<T> written_down(T r2, T q) {
        const T inverse = T(1) / std::sqrt(r2);
        const T term = q * inverse;
        return {term, term * inverse * inverse};
    }
};

} // namespace farfield
