// x = k π/2 + r for sin and cos, over the whole range of the format.
// Moderate x: Cody & Waite (1980) with four parts of π/2. Large x: Payne & Hanek (1983) in integers, lane by
// lane.
#pragma once

#include "math/portable/coefficients.h"
#include "math/portable/lanes.h"

namespace farfield::portable {

/// r = hi + lo with |r| ≤ π/4 (and a rounding error more), and k, of which only k mod 4 counts.
template <class V>
struct Reduced {
    V hi;
    V lo;
    V k;
};

/// Payne & Hanek for finite |x| ≥ 2^16. With x = m·2^e, 192 bits of 2/π are taken from the one of weight
/// 2^(1−e) on: more significant ones change x·2/π by multiples of 4, less significant ones by less than
/// 2^-137. No double is closer to a multiple of π/2 than 2^-62.
FF_HD inline Reduced<double> reduce_large(double x) {
    using F = Format<double>;
    const std::uint64_t pattern = Lanes<double>::bits(x);
    const int e = static_cast<int>((pattern & ~F::sign) >> 52) - 1075;
    const std::uint64_t m = (pattern & F::mantissa) | (std::uint64_t{1} << 52);
    // Bit i ≥ 1 of 2/π, of weight 2^-i, stands at place i − 1 + 64 of the words; the first wanted is i = e
    // − 1.
    const int place = e - 2 + 64;
    const int word = place >> 5;
    const int shift = place & 31;
    std::uint32_t window[6]; // least significant first
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t two =
            (std::uint64_t{two_over_pi_word(word + i)} << 32) | two_over_pi_word(word + i + 1);
        window[5 - i] = static_cast<std::uint32_t>(two >> (32 - shift));
    }
    // product = m·window modulo 2^192, in units of 2^-190.
    std::uint32_t product[6] = {0, 0, 0, 0, 0, 0};
    const std::uint64_t limbs[2] = {m & 0xFFFFFFFFU, m >> 32};
    for (int j = 0; j < 2; ++j) {
        std::uint64_t carry = 0;
        for (int i = 0; i + j < 6; ++i) {
            const std::uint64_t sum = limbs[j] * window[i] + product[i + j] + carry;
            product[i + j] = static_cast<std::uint32_t>(sum);
            carry = sum >> 32;
        }
    }
    const std::uint32_t top = product[5];
    const bool upper_half =
        ((top >> 29) & 1U) != 0; // the fraction is at least ½: round up, r becomes negative
    const std::uint32_t quadrant = ((top >> 30) + (upper_half ? 1U : 0U)) & 3U;
    product[5] = top & 0x3FFFFFFFU;
    if (upper_half) { // 1 − fraction
        std::uint64_t carry = 1;
        for (int i = 0; i < 6; ++i) {
            const std::uint64_t sum = std::uint64_t{static_cast<std::uint32_t>(~product[i])} + carry;
            product[i] = static_cast<std::uint32_t>(sum);
            carry = sum >> 32;
        }
        product[5] &= 0x3FFFFFFFU;
    }
    Pair<double> fraction{0.0, 0.0};
    double weight = 0.25 / 268435456.0; // 2^-30, of the lowest bit of the top limb
    for (int i = 5; i >= 0; --i) {
        const Pair<double> s = two_sum(fraction.hi, static_cast<double>(product[i]) * weight);
        fraction = {s.hi, fraction.lo + s.lo};
        weight *= 1.0 / 4294967296.0;
    }
    const Pair<double> half_pi{1.5707963267948966, 6.123233995736766e-17};
    Pair<double> r = multiply(fast_two_sum(fraction.hi, fraction.lo), half_pi);
    const bool negative = upper_half != ((pattern & F::sign) != 0);
    if (negative) r = {-r.hi, -r.lo};
    const double k = static_cast<double>(quadrant);
    return {r.hi, r.lo, (pattern & F::sign) != 0 ? -k : k};
}

/// Largest |x| that Cody & Waite's parts serve: k·part must be exact.
template <class T>
FF_HD constexpr T moderate_limit() {
    return sizeof(T) == 8 ? T(1048576.0) : T(1024.0);
}

/// Replaces the result of a lane whose argument is too large for the parts.
template <class T>
struct ReduceLargeLane {
    FF_HD void operator()(T& x, T& hi, T& lo, T& k) const {
        if (!(absolute(x) > moderate_limit<T>())) return;
        if (!(absolute(x) < Lanes<T>::value(Format<T>::infinity))) return;
        const Reduced<double> r = reduce_large(static_cast<double>(x));
        hi = static_cast<T>(r.hi);
        lo = static_cast<T>((r.hi - static_cast<double>(hi)) + r.lo);
        k = static_cast<T>(r.k);
    }
};

template <class V>
FF_HD Reduced<V> reduce(V x) {
    using T = ScalarOf<V>;
    using C = Coefficients<T>;
    const auto large = absolute(x) > V(moderate_limit<T>());
    const V small = Lanes<V>::select(large, V(T(0)), x);
    const V k = nearest_integer(small * V(C::two_over_pi));
    const V t = small - k * V(C::half_pi_1); // exact, as are the next two products
    const Pair<V> a = two_sum(t, -(k * V(C::half_pi_2)));
    const Pair<V> b = two_sum(a.hi, -(k * V(C::half_pi_3)));
    const Pair<V> r = fast_two_sum(b.hi, (b.lo + a.lo) - k * V(C::half_pi_4));
    Reduced<V> out{r.hi, r.lo, k};
    if (Lanes<V>::any(large)) Lanes<V>::each(ReduceLargeLane<T>{}, x, out.hi, out.lo, out.k);
    return out;
}

} // namespace farfield::portable
