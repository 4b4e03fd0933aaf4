// The two kinds of numbers that exact rows are computed with: doubles, and pairs of doubles with twice the
// digits (Dekker 1971; some 2⁻¹⁰⁰ of a product, 2⁻⁶⁶ of a logarithm). Include it only in sources compiled for
// one instruction set.
#pragma once

#include "backend/simd/value.h"
#include "math/portable/functions.h"
#if !defined(FF_ISA_SCALAR)
#include "backend/simd/portable_lanes.h"
#endif

namespace farfield::exact {

using V = Value<double>;
using O = Ops<V>;

struct InDoubles {
    using Number = V;
    FF_INLINE static V leading(V a) { return a; }
    FF_INLINE static V number(V a) { return a; }
    FF_INLINE static V zero() { return O::set(0.0); }
    FF_INLINE static V difference(V a, V b) { return a - b; }
    FF_INLINE static V sum(V a, V b) { return a + b; }
    FF_INLINE static V negative(V a) { return O::set(0.0) - a; }
    FF_INLINE static V product(V a, V b) { return a * b; }
    FF_INLINE static V inverse(V a) { return O::set(1.0) / a; }
    FF_INLINE static V inverse_root(V a) { return O::set(1.0) / portable::Lanes<V>::sqrt(a); }
    struct LogAndInverse {
        V log, inverse;
    };
    /// Of a normal a > 0 = 2^e m, √½ ≤ m < √2: ln a = e ln 2 + 2 artanh s, s = (m − 1)/(m + 1). One division
    /// serves s and 1/a.
    FF_INLINE static LogAndInverse log_and_inverse(V a) {
        using F = portable::Format<double>;
        using L = portable::Lanes<V>;
        using Bits = typename L::Bits;
        const Bits pattern = L::bits(a) + Bits(F::one - F::sqrt_half);
        const Bits biased = (pattern >> F::mantissa_bits) | L::bits(O::set(F::integer_one));
        const V exponent = L::value(biased) - O::set(F::integer_one + F::bias);
        const V m = L::value((pattern & Bits(F::mantissa)) + Bits(F::sqrt_half));
        const V above = m + O::set(1.0);
        const V quotient = O::set(1.0) / (a * above);
        const V s = (m - O::set(1.0)) * (quotient * a);
        const V z = s * s;
        const V tail = s * z * portable::Coefficients<double>::log(z);
        const V log_m = O::fma(O::set(2.0), s, tail);
        return {O::fma(exponent, O::set(0.69314718055994530942), log_m), quotient * above};
    }
    /// Of a ≤ 0: 2^n e^r with |r| ≤ ½ ln 2, by Taylor's series; 0 below 2^−1022. The series may end a
    /// rounding below 1 for r = 0, which is why n stays above −1023: the exponent would be that of a NaN.
    FF_INLINE static V exponential(V a) {
        using L = portable::Lanes<V>;
        const V least = O::set(-1022.0), integers = O::set(0x1.8p52);
        const V power = a * O::set(portable::Coefficients<double>::log2_e);
        const V bounded = O::select(power >= least, power, least);
        const V shifted = bounded + integers; // its low bits are n
        const V r = (bounded - (shifted - integers)) * O::set(0.69314718055994530942);
        double factor = 1.0 / 6227020800.0; // 1/13!
        V series = O::set(factor);
        for (int n = 13; n-- > 0;) series = O::fma(series, r, O::set(factor *= n + 1));
        const V value =
            L::value(L::bits(series) + (L::bits(shifted) << portable::Format<double>::mantissa_bits));
        return O::select(power >= least, value, O::set(0.0));
    }
    /// Adds without keeping the order of magnitudes.
    FF_INLINE static void add(V& total, V a) { total = total + a; }
    template <class Mask>
    FF_INLINE static V select(const Mask& mask, V yes, V no) {
        return O::select(mask, yes, no);
    }
    FF_INLINE static portable::Pair<double> lane(const V& a, int k) {
        alignas(64) double lanes[O::width];
        O::store(lanes, a);
        return {lanes[k], 0.0};
    }
};

struct InPairs {
    using Number = portable::Pair<V>;
    FF_INLINE static V leading(const Number& a) { return a.hi; }
    FF_INLINE static Number number(V a) { return {a, O::set(0.0)}; }
    FF_INLINE static Number zero() { return number(O::set(0.0)); }
    FF_INLINE static Number difference(V a, V b) { return portable::two_sum(a, O::set(0.0) - b); }
    FF_INLINE static Number sum(const Number& a, const Number& b) {
        const Number s = portable::two_sum(a.hi, b.hi);
        return portable::fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
    }
    FF_INLINE static Number negative(const Number& a) { return {O::set(0.0) - a.hi, O::set(0.0) - a.lo}; }
    FF_INLINE static Number product(const Number& a, const Number& b) {
        const Number p = exact_product(a.hi, b.hi);
        return portable::fast_two_sum(p.hi, p.lo + O::fma(a.hi, b.lo, a.lo * b.hi));
    }
    FF_INLINE static Number product(V a, const Number& b) {
        const Number p = exact_product(a, b.hi);
        return portable::fast_two_sum(p.hi, O::fma(a, b.lo, p.lo));
    }
    /// One step of Newton's from the inverse in double.
    FF_INLINE static Number inverse(const Number& a) {
        const V first = O::set(1.0) / a.hi;
        return portable::fast_two_sum(first, first * rest_of_one(product(first, a)));
    }
    /// The same.
    FF_INLINE static Number inverse_root(const Number& a) {
        const V first = O::set(1.0) / portable::Lanes<V>::sqrt(a.hi);
        const V rest = rest_of_one(product(exact_product(first, first), a));
        return portable::fast_two_sum(first, first * rest * O::set(0.5));
    }
    struct LogAndInverse {
        Number log, inverse;
    };
    FF_INLINE static LogAndInverse log_and_inverse(const Number& a) {
        const Number of_a = inverse(a);
        return {sum(portable::log_pair(a.hi), number(a.lo * of_a.hi)), of_a};
    }
    /// (e^(r/8))^8 2^k with |r| ≤ ½ ln 2: Taylor's series from the third power on in doubles; some 2⁻⁶⁴ of
    /// the result.
    FF_INLINE static Number exponential(const Number& a) {
        using C = portable::Coefficients<double>;
        const V top = portable::clamp(a.hi, -750.0, 750.0); // beyond lies nothing that double holds
        const V k = portable::nearest_integer(top * O::set(C::log2_e));
        const Number whole =
            portable::two_sum(top - k * O::set(C::ln2_1), O::set(0.0) - k * O::set(C::ln2_2));
        const V low = O::select(top <= a.hi, a.lo, O::set(0.0));
        const Number of = portable::fast_two_sum(whole.hi, whole.lo + low);
        const Number r{of.hi * O::set(0.125), of.lo * O::set(0.125)};
        const Number square = product(r, r);
        const Number half_square{square.hi * O::set(0.5), square.lo * O::set(0.5)};
        const V tail = square.hi * r.hi *
                       portable::horner(r.hi, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800);
        Number out = sum(number(O::set(1.0)), sum(r, sum(half_square, number(tail))));
        for (int doubling = 0; doubling < 3; ++doubling) out = product(out, out);
        return {portable::scale(out.hi, k), portable::scale(out.lo, k)};
    }
    FF_INLINE static void add(Number& total, const Number& a) {
        const Number s = portable::two_sum(total.hi, a.hi);
        total = {s.hi, total.lo + (s.lo + a.lo)};
    }
    template <class Mask>
    FF_INLINE static Number select(const Mask& mask, const Number& yes, const Number& no) {
        return {O::select(mask, yes.hi, no.hi), O::select(mask, yes.lo, no.lo)};
    }
    FF_INLINE static portable::Pair<double> lane(const Number& a, int k) {
        return {InDoubles::lane(a.hi, k).hi, InDoubles::lane(a.lo, k).hi};
    }

private:
    FF_INLINE static Number exact_product(V a, V b) {
#if defined(FF_ISA_AVX512) || defined(FF_ISA_AVX2)
        const V p = a * b;
        return {p, O::fma(a, b, O::set(0.0) - p)};
#else
        return portable::two_product(a, b); // no instruction with one rounding
#endif
    }
    /// 1 − a for a near 1.
    FF_INLINE static V rest_of_one(const Number& a) { return (O::set(1.0) - a.hi) - a.lo; }
};

} // namespace farfield::exact
