// exp, log, sin, cos, tanh, cbrt and pow from fixed sequences of + − × ÷ √ and operations on bits: the same
// bits on every machine, compiler, instruction set and device. README.md has the methods and the error
// bounds. Needs IEEE arithmetic, round to nearest, no contraction of a·b + c (-ffp-contract=off,
// --fmad=false).
#pragma once

#include "math/portable/coefficients.h"
#include "math/portable/lanes.h"
#include "math/portable/reduction.h"

namespace farfield::portable {

/// e^(hi+lo) for arguments whose result neither overflows twice the exponent range nor is NaN.
template <class V>
FF_HD V exp_of_sum(V hi, V lo) {
    using T = ScalarOf<V>;
    using C = Coefficients<T>;
    const V k = nearest_integer(hi * V(C::log2_e));
    const V top = hi - k * V(C::ln2_1); // exact
    const Pair<V> r = fast_two_sum(top, lo - k * V(C::ln2_2));
    const V p = V(T(1)) + (r.hi + (r.lo + r.hi * r.hi * C::exp(r.hi)));
    return scale(p, k);
}

template <class V>
FF_HD V clamp(V x, ScalarOf<V> low, ScalarOf<V> high) {
    const V not_above = Lanes<V>::select(x > V(high), V(high), x);
    return Lanes<V>::select(x < V(low), V(low), not_above); // NaN passes
}

/// e^x. Overflows to ∞, underflows gradually to 0.
template <class V>
FF_HD V exp(V x) {
    using T = ScalarOf<V>;
    const T limit = sizeof(T) == 8 ? T(750) : T(110);
    return one_nan(exp_of_sum(clamp(x, -limit, limit), V(T(0))));
}

/// x = 2^exponent·(1 + f) with √½ ≤ 1 + f < √2, for finite x > 0.
template <class V>
struct Decomposed {
    V exponent;
    V mantissa; ///< 1 + f
};

/// `floor_bits` are the bits of the lower end of the mantissa's octave.
template <class V>
FF_HD Decomposed<V> decompose(V x, typename FormatOf<V>::Bits floor_bits) {
    using T = ScalarOf<V>;
    using F = FormatOf<V>;
    using Bits = typename Lanes<V>::Bits;
    using L = Lanes<V>;
    const auto subnormal = x < V(F::min_normal);
    const V lifted = L::select(subnormal, x * V(F::rescale), x);
    const Bits pattern = L::bits(lifted) + Bits(F::one - floor_bits);
    const Bits integer_one = L::bits(V(F::integer_one));
    // The biased exponent in the low bits of integer_one reads as integer_one + exponent + bias.
    const V exponent = L::value((pattern >> F::mantissa_bits) | integer_one) - V(F::integer_one + F::bias);
    const V mantissa = L::value((pattern & Bits(F::mantissa)) + Bits(floor_bits));
    return {L::select(subnormal, exponent - V(F::rescale_exponent), exponent),
            L::select(x == x, mantissa, V(T(1)))};
}

/// Natural logarithm; −∞ at ±0, NaN below.
template <class V>
FF_HD V log(V x) {
    using T = ScalarOf<V>;
    using F = FormatOf<V>;
    using C = Coefficients<T>;
    using L = Lanes<V>;
    const Decomposed<V> d = decompose(x, F::sqrt_half);
    const V f = d.mantissa - V(T(1)); // exact
    const V s = f / (V(T(2)) + f);
    const V z = s * s;
    const V half_square = V(T(0.5)) * f * f;
    const V tail = s * (half_square + z * C::log(z)) + d.exponent * V(C::ln2_2);
    const V result = d.exponent * V(C::ln2_1) - ((half_square - tail) - f);
    const V infinity = L::value(typename L::Bits(F::infinity));
    const V below = L::select(x == V(T(0)), -infinity, L::value(typename L::Bits(F::quiet_nan)));
    return one_nan(L::select(x > V(T(0)), L::select(x == infinity, x, result), below));
}

/// sin(hi+lo) and cos(hi+lo) for |hi| ≤ π/4.
template <class V>
FF_HD V sin_kernel(V hi, V lo) {
    using T = ScalarOf<V>;
    const V z = hi * hi;
    const V cubic = hi * z * Coefficients<T>::sin(z);
    return hi + (cubic + lo * (V(T(1)) - V(T(0.5)) * z));
}
template <class V>
FF_HD V cos_kernel(V hi, V lo) {
    using T = ScalarOf<V>;
    const V z = hi * hi;
    const V half = V(T(0.5)) * z;
    const V top = V(T(1)) - half;
    return top + (((V(T(1)) - top) - half) + (z * z * Coefficients<T>::cos(z) - hi * lo));
}

/// sin or cos from a reduced argument: quadrant `q` = k for the sine, k + 1 for the cosine.
template <class V>
FF_HD V from_quadrant(Reduced<V> r, V q) {
    using T = ScalarOf<V>;
    using F = FormatOf<V>;
    using L = Lanes<V>;
    using Bits = typename L::Bits;
    const V half = q * V(T(0.5));
    const V size = L::select(nearest_integer(half) == half, sin_kernel(r.hi, r.lo), cos_kernel(r.hi, r.lo));
    const V shifted = q + V(F::integer_one * T(1.5));
    // Bit 1 of the quadrant is the sign.
    const Bits sign = (L::bits(shifted) << (F::mantissa_bits + (sizeof(T) == 8 ? 10 : 7))) & Bits(F::sign);
    return L::value(L::bits(size) ^ sign);
}

template <class V>
FF_HD V nan_if_infinite(V x, V result) {
    using L = Lanes<V>;
    using F = FormatOf<V>;
    const V infinity = L::value(typename L::Bits(F::infinity));
    return one_nan(L::select(absolute(x) < infinity, result, L::value(typename L::Bits(F::quiet_nan))));
}

/// Sine of x radians, over the whole range; NaN at ±∞.
template <class V>
FF_HD V sin(V x) {
    using T = ScalarOf<V>;
    const Reduced<V> r = reduce(x);
    return nan_if_infinite(x, Lanes<V>::select(x == V(T(0)), x, from_quadrant(r, r.k)));
}

/// Cosine of x radians, over the whole range; NaN at ±∞.
template <class V>
FF_HD V cos(V x) {
    using T = ScalarOf<V>;
    const Reduced<V> r = reduce(x);
    return nan_if_infinite(x, from_quadrant(r, r.k + V(T(1))));
}

/// Hyperbolic tangent.
template <class V>
FF_HD V tanh(V x) {
    using T = ScalarOf<V>;
    using L = Lanes<V>;
    const V a = absolute(x);
    const V z = a * a;
    const V near = a + a * z * Coefficients<T>::tanh(z);
    const T limit = sizeof(T) == 8 ? T(40) : T(20); // 1 from there on
    const V e = exp_of_sum(clamp(a + a, T(0), limit), V(T(0)));
    const V far = V(T(1)) - V(T(2)) / (e + V(T(1)));
    return one_nan(with_sign(L::select(a < V(T(0.625)), near, far), x));
}

/// Real cube root.
template <class V>
FF_HD V cbrt(V x) {
    using T = ScalarOf<V>;
    using F = FormatOf<V>;
    using L = Lanes<V>;
    using Bits = typename L::Bits;
    const V a = absolute(x);
    const Decomposed<V> d = decompose(a, F::one);
    const V third = nearest_integer((d.exponent - V(T(1))) * V(T(1) / T(3)));
    const V m = d.mantissa * power_of_two(d.exponent - V(T(3)) * third); // [1, 8)
    const V guess = Coefficients<T>::cbrt_start(m);
    const V cube = guess * guess * guess;
    const V halley = guess * (cube + m + m) / (cube + cube + m);
    // Few enough bits that the square is exact; Halley's step then loses next to nothing.
    const V t = L::value(L::bits(halley) & Bits(F::split_mask));
    const V quotient = m / (t * t);
    const V root = t + t * ((quotient - t) / (t + t + quotient));
    const V result = root * power_of_two(third);
    const V infinity = L::value(Bits(F::infinity));
    const auto ordinary = (a > V(T(0))) & (a < infinity);
    return one_nan(with_sign(L::select(ordinary, result, a), x));
}

/// ln x as a pair, for finite x > 0: relative error below 2^-66 (float: 2^-36).
template <class V>
FF_HD Pair<V> log_pair(V x) {
    using T = ScalarOf<V>;
    using C = Coefficients<T>;
    const Decomposed<V> d = decompose(x, FormatOf<V>::sqrt_half);
    const V f = d.mantissa - V(T(1));
    const Pair<V> below = two_sum(V(T(1)), d.mantissa); // 2 + f
    const V s0 = f / below.hi;
    const Pair<V> back = two_product(s0, below.hi);
    const Pair<V> s = fast_two_sum(s0, (((f - back.hi) - back.lo) - s0 * below.lo) / below.hi);
    const Pair<V> z = multiply(s, s);
    // 2s (1 + z (1/3 + z (1/5 + z P(z))))
    const Pair<V> inner =
        add(Pair<V>{V(C::fifth_1), V(C::fifth_2)}, Pair<V>{z.hi * C::log_tail(z.hi), V(T(0))});
    const Pair<V> middle = add(Pair<V>{V(C::third_1), V(C::third_2)}, multiply(z, inner));
    const Pair<V> cubic = multiply(s, multiply(z, middle));
    const Pair<V> mantissa = add(s, cubic);
    const V k = d.exponent;
    const Pair<V> top = two_sum(k * V(C::ln2_1), mantissa.hi + mantissa.hi); // k·ln2_1 is exact
    return fast_two_sum(top.hi, top.lo + ((mantissa.lo + mantissa.lo) + k * V(C::ln2_2)));
}

/// The special cases of C's pow (C17, F.10.4.4), given |x|^y for the ordinary ones.
template <class V>
FF_HD V pow_cases(V x, V y, V ordinary) {
    using T = ScalarOf<V>;
    using F = FormatOf<V>;
    using L = Lanes<V>;
    const V zero(T(0));
    const V one(T(1));
    const V infinity = L::value(typename L::Bits(F::infinity));
    const V nan = L::value(typename L::Bits(F::quiet_nan));
    const V big(F::integer_one);
    const V a = absolute(x);
    const V b = absolute(y);
    const V half = b * V(T(0.5));
    const auto integer = (b >= big) | (((b + big) - big) == b);
    const auto even = (half >= big) | (((half + big) - big) == half);
    const V vanishing = L::select(y > zero, zero, infinity); // 0^y
    const V growing = L::select(y > zero, infinity, zero);   // ∞^y
    V r = L::select(a == zero, vanishing, L::select(a == infinity, growing, ordinary));
    r = L::select(b == infinity, L::select(a > one, growing, vanishing), r);
    r = L::select((b == infinity) & (a == one), one, r);
    // A negative base (−0 too) keeps its sign for odd y; a finite one has no power that is not an integer.
    const V signed_base = L::select(integer, L::select(even, one, with_sign(one, x)), one);
    r = r * signed_base;
    r = L::select((x < zero) & (a < infinity) & (b < infinity), L::select(integer, r, nan), r);
    r = L::select((x == x) & (y == y), r, nan);
    return L::select((y == zero) | (x == one), one, r);
}

/// x^y with the special cases of C's pow.
template <class V>
FF_HD V pow(V x, V y) {
    using T = ScalarOf<V>;
    using F = FormatOf<V>;
    using L = Lanes<V>;
    const V a = absolute(x);
    const V infinity = L::value(typename L::Bits(F::infinity));
    const V base = L::select((a > V(T(0))) & (a < infinity), a, V(T(1)));
    // Beyond this exponent every base but 1 over- or underflows.
    const T largest = sizeof(T) == 8 ? T(73786976294838206464.0) : T(8589934592.0);
    const V exponent = clamp(L::select(y == y, y, V(T(0))), -largest, largest);
    const Pair<V> l = log_pair(base);
    const Pair<V> p = two_product(exponent, l.hi);
    const T limit = sizeof(T) == 8 ? T(750) : T(110);
    const auto inside = absolute(p.hi) < V(limit);
    const V low = L::select(inside, p.lo + exponent * l.lo, V(T(0)));
    return one_nan(pow_cases(x, y, exp_of_sum(clamp(p.hi, -limit, limit), low)));
}

} // namespace farfield::portable
