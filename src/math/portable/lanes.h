// What the portable functions need of a value type: its bit pattern, comparisons that give masks, a choice by
// mask. `Lanes<float>` and `Lanes<double>` are one lane, on the host and on a device; backend/simd gives the
// same for batches. A function written over Lanes does the same IEEE operations in the same order in every
// lane, so it gives the same bits for every value type.
#pragma once

#include "math/host_device.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace farfield::portable {

/// Layout of an IEEE format.
template <class T>
struct Format;

template <>
struct Format<double> {
    using Bits = std::uint64_t;
    static constexpr int mantissa_bits = 52;
    static constexpr Bits one = 0x3FF0000000000000U;
    static constexpr Bits sqrt_half = 0x3FE6A09E667F3BCDU;
    static constexpr Bits sign = 0x8000000000000000U;
    static constexpr Bits mantissa = 0x000FFFFFFFFFFFFFU;
    static constexpr Bits split_mask = 0xFFFFFFFFC0000000U; ///< keeps 22 bits after the leading one
    static constexpr Bits quiet_nan = 0x7FF8000000000000U;
    static constexpr Bits infinity = 0x7FF0000000000000U;
    static constexpr double bias = 1023.0;
    static constexpr double integer_one = 4503599627370496.0; ///< 2^52: from here on all numbers are integers
    static constexpr double split_factor = 134217729.0;       ///< 2^27 + 1, for exact products
    static constexpr double min_normal = 2.2250738585072014e-308;
    static constexpr double rescale = 18014398509481984.0; ///< 2^54 lifts every subnormal to a normal number
    static constexpr double rescale_exponent = 54.0;
};

template <>
struct Format<float> {
    using Bits = std::uint32_t;
    static constexpr int mantissa_bits = 23;
    static constexpr Bits one = 0x3F800000U;
    static constexpr Bits sqrt_half = 0x3F3504F3U;
    static constexpr Bits sign = 0x80000000U;
    static constexpr Bits mantissa = 0x007FFFFFU;
    static constexpr Bits split_mask = 0xFFFFF000U; ///< keeps 11 bits after the leading one
    static constexpr Bits quiet_nan = 0x7FC00000U;
    static constexpr Bits infinity = 0x7F800000U;
    static constexpr float bias = 127.0F;
    static constexpr float integer_one = 8388608.0F; ///< 2^23
    static constexpr float split_factor = 4097.0F;   ///< 2^12 + 1
    static constexpr float min_normal = 1.17549435e-38F;
    static constexpr float rescale = 33554432.0F; ///< 2^25
    static constexpr float rescale_exponent = 25.0F;
};

/// The operations of a value type `V`. Specialisations define
///   Scalar               float or double
///   Bits                 unsigned integer lanes of the same width
///   bits(V), value(Bits) reinterpretation
///   select(mask, a, b)   a where the mask is true, else b
///   any(mask)            true where any lane is
///   sqrt(V)              correctly rounded
///   each(f, a, b...)     calls f(scalar&...) lane by lane, for rare cases
template <class V>
struct Lanes;

template <class T>
struct ScalarLanes {
    using Scalar = T;
    using Bits = typename Format<T>::Bits;
    FF_HD static Bits bits(T x) {
        Bits out;
        std::memcpy(&out, &x, sizeof out);
        return out;
    }
    FF_HD static T value(Bits x) {
        T out;
        std::memcpy(&out, &x, sizeof out);
        return out;
    }
    FF_HD static T select(bool mask, T a, T b) { return mask ? a : b; }
    FF_HD static bool any(bool mask) { return mask; }
    FF_HD static T sqrt(T x) {
        using std::sqrt; // device code finds CUDA's, correctly rounded unless asked otherwise
        return sqrt(x);
    }
    template <class F, class... V>
    FF_HD static void each(F f, V&... values) {
        f(values...);
    }
};

template <>
struct Lanes<double> : ScalarLanes<double> {};
template <>
struct Lanes<float> : ScalarLanes<float> {};

template <class V>
using ScalarOf = typename Lanes<V>::Scalar;
template <class V>
using FormatOf = Format<ScalarOf<V>>;

/// c0 + z (c1 + z (c2 + …)).
template <class V, class C>
FF_HD V horner(V, C c0) {
    return V(c0);
}
template <class V, class C, class... Rest>
FF_HD V horner(V z, C c0, Rest... rest) {
    return V(c0) + z * horner(z, rest...);
}

template <class V>
FF_HD V absolute(V x) {
    using Bits = typename Lanes<V>::Bits;
    return Lanes<V>::value(Lanes<V>::bits(x) & Bits(~FormatOf<V>::sign));
}

/// |size| with the sign of `sign`.
template <class V>
FF_HD V with_sign(V size, V sign) {
    using Bits = typename Lanes<V>::Bits;
    return Lanes<V>::value((Lanes<V>::bits(size) & Bits(~FormatOf<V>::sign)) |
                           (Lanes<V>::bits(sign) & Bits(FormatOf<V>::sign)));
}

/// The nearest integer, ties to even, for |x| < 2^(mantissa_bits − 1). Never −0 for x ≥ 0 or x = −0.
template <class V>
FF_HD V nearest_integer(V x) {
    const V magic(FormatOf<V>::integer_one * ScalarOf<V>(1.5));
    return (x + magic) - magic;
}

/// 2^k for an integer k in the range of normal numbers.
template <class V>
FF_HD V power_of_two(V k) {
    using Bits = typename Lanes<V>::Bits;
    // Added to 1.5·2^mantissa_bits the integer stands in the lowest bits; shifted, it is an exponent.
    const V shifted = k + V(FormatOf<V>::integer_one * ScalarOf<V>(1.5));
    return Lanes<V>::value((Lanes<V>::bits(shifted) << FormatOf<V>::mantissa_bits) + Bits(FormatOf<V>::one));
}

/// p·2^k, rounded once also where the result is subnormal. |k| up to twice the exponent range.
template <class V>
FF_HD V scale(V p, V k) {
    const V half = nearest_integer(k * V(ScalarOf<V>(0.5)));
    return p * power_of_two(half) * power_of_two(k - half);
}

/// Replaces every NaN by the same one: machines differ in sign and payload.
template <class V>
FF_HD V one_nan(V x) {
    using Bits = typename Lanes<V>::Bits;
    return Lanes<V>::select(x == x, x, Lanes<V>::value(Bits(FormatOf<V>::quiet_nan)));
}

/// An unevaluated sum hi + lo with |lo| ≤ ½ ulp(hi).
template <class V>
struct Pair {
    V hi;
    V lo;
};

/// a + b exactly, for |a| ≥ |b| or a = 0 (Dekker 1971).
template <class V>
FF_HD Pair<V> fast_two_sum(V a, V b) {
    const V s = a + b;
    return {s, b - (s - a)};
}

/// a + b exactly (Knuth).
template <class V>
FF_HD Pair<V> two_sum(V a, V b) {
    const V s = a + b;
    const V t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

/// a·b exactly where nothing over- or underflows (Dekker 1971; no FMA, so that it is the same everywhere).
template <class V>
FF_HD Pair<V> two_product(V a, V b) {
    const V factor(FormatOf<V>::split_factor);
    const V ca = factor * a;
    const V cb = factor * b;
    const V ah = ca - (ca - a);
    const V bh = cb - (cb - b);
    const V al = a - ah;
    const V bl = b - bh;
    const V p = a * b;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

/// (a.hi + a.lo)(b.hi + b.lo) to about twice the working precision.
template <class V>
FF_HD Pair<V> multiply(Pair<V> a, Pair<V> b) {
    const Pair<V> p = two_product(a.hi, b.hi);
    return fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/// a + b for |a| ≥ |b| to about twice the working precision.
template <class V>
FF_HD Pair<V> add(Pair<V> a, Pair<V> b) {
    const Pair<V> s = fast_two_sum(a.hi, b.hi);
    return fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

} // namespace farfield::portable
