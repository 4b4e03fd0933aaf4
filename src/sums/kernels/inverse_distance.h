// 1/r and 1/r³ from r², over any value type with Ops: an estimate y of 1/r, then one correction step.
//
// With h = 1 − r²y², r⁻ᵖ = yᵖ (1 − h)^(−p/2), and (1 − h)^(−p/2) = Σ c_k hᵏ, c_k = c_(k−1) (p/2 + k − 1)/k.
// The series is cut at the degree that the estimate's error needs (degree 1 is Newton's step), and divided by
// its leading coefficient, which saves an operation. So what comes out is r⁻ᵖ divided by the constant
// `factor`; whoever sums multiplies by it once, at the end.
#pragma once

#include "math/ops.h"

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

} // namespace farfield
