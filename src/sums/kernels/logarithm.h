// ln r and 1/r² from r², over any value type with Ops and portable::Lanes, with one division for both.
//
// With r² = 2^e m, √½ ≤ m < √2, f = m − 1 and s = f/(2 + f), ln r² = e ln 2 + 2 s + s z R(z), z = s², where R
// is the polynomial of W. J. Cody and fdlibm's `log` (`logf`), whose error is below an ulp. The division is
// of t = 16/(r² (2 + f)): t r² and t (2 + f) are 16 times the quotients that s and 1/r² need. Where r² is 0
// or no normal number, t is infinite, and the pair's result is not finite; those rows are computed again.
#pragma once

#include "math/ops.h"
#include "math/portable/lanes.h"

#include <iterator>
#include <limits>

namespace farfield {

/// Coefficients of R(z) = Σ c_k zᵏ.
template <class T>
struct LogarithmSeries;

template <>
struct LogarithmSeries<double> {
    static constexpr double c[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                                   2.857142874366239149e-01, 2.222219843214978396e-01,
                                   1.818357216161805012e-01, 1.531383769920937332e-01,
                                   1.479819860511658591e-01};
};

template <>
struct LogarithmSeries<float> {
    static constexpr float c[] = {0x1.555554p-1F, 0x1.999c26p-2F, 0x1.23d3dcp-2F, 0x1.f13c4cp-3F};
};

/// Steps of a geometric series of h, |h| ≤ 2·error of the estimate, that leave less than a rounding.
template <class V>
constexpr int inverse_steps() {
    using T = typename Ops<V>::Scalar;
    const double h =
        2.0 * Ops<V>::estimate_error + 8.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
    double rest = h;
    int steps = 1;
    for (; rest * h > 0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()); ++steps) rest *= h;
    return steps;
}

/// 1/r² without a division: with y about 1/r and h = 1 − r²y² it is y²/(1 − h). Not finite at r = 0.
template <class V>
FF_INLINE V inverse_of(V r2) {
    using T = typename Ops<V>::Scalar;
    const V y = Ops<V>::rsqrt_estimate(r2);
    const V y2 = y * y;
    const V h = Ops<V>::fnma(r2, y2, Ops<V>::set(T(1)));
    V series = h;
    for (int k = 1; k < inverse_steps<V>(); ++k) series = Ops<V>::fma(series, h, h);
    return Ops<V>::fma(series, y2, y2);
}

/// The formula as loops over blocks take it (InverseDistance has the meaning of the members).
template <int Columns>
struct PlaneLogarithm {
    static constexpr int dimension = 2;
    static constexpr int columns = Columns;
    template <bool with_potential>
    static constexpr bool takes_long = with_potential;

    template <class V>
    struct Terms {
        V potential; ///< ln r²; not set where no potential is wanted
        V weight;    ///< 16/r²
    };

    template <class V, bool with_potential>
    struct Factors {
        static constexpr double potential = 0.5;
        static constexpr double weight = 1.0 / 16.0;
    };

    template <bool with_potential, class V, template <class, int> class Pack, int N>
    FF_INLINE static Terms<Pack<V, N>> of_unit(const Pack<V, N>& r2) {
        Terms<Pack<V, N>> terms; // NOLINT(*-member-init): filled below
        for (int n = 0; n < N; ++n) {
            const auto one = of_value<with_potential>(r2.v[n]);
            terms.potential.v[n] = one.potential;
            terms.weight.v[n] = one.weight;
        }
        return terms;
    }

    template <bool with_potential, class V>
    FF_INLINE static Terms<V> of_value(const V& r2) {
        using O = Ops<V>;
        using T = typename O::Scalar;
        using L = portable::Lanes<V>;
        using F = portable::Format<T>;
        using Bits = typename L::Bits;
        Terms<V> terms; // NOLINT(*-member-init): filled below
        if constexpr (!with_potential) {
            terms.weight = O::set(T(16)) * inverse_of(r2);
            return terms;
        }
        const Bits pattern = L::bits(r2) + Bits(F::one - F::sqrt_half);
        const Bits integer_one = L::bits(O::set(F::integer_one));
        // the biased exponent in the low bits of integer_one reads as integer_one + exponent + bias
        const V exponent =
            L::value((pattern >> F::mantissa_bits) | integer_one) - O::set(F::integer_one + F::bias);
        const V m = L::value((pattern & Bits(F::mantissa)) + Bits(F::sqrt_half));
        const V f = m - O::set(T(1)); // exact
        const V sum = m + O::set(T(1));
        const V t = O::set(T(16)) / (r2 * sum);
        terms.weight = t * sum;
        const V s = f * (t * r2) * O::set(T(1) / T(16));
        const V z = s * s;
        constexpr auto& c = LogarithmSeries<T>::c;
        V series = O::set(c[std::size(c) - 1]);
        for (int k = static_cast<int>(std::size(c)) - 2; k >= 0; --k)
            series = O::fma(series, z, O::set(c[k]));
        const V log_m = s * O::fma(series, z, O::set(T(2)));
        terms.potential = O::fma(exponent, O::set(static_cast<T>(0.69314718055994530942)), log_m);
        return terms;
    }
};

} // namespace farfield
