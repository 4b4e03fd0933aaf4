// Arguments for the portable functions and a hash of the results: what every machine must agree on. No
// headers of the tests' framework, so that device code and sources built for one instruction set can include
// it.
#pragma once

#include "math/portable/functions.h"

#include <cstdint>

namespace farfield::portable_cases {

constexpr int functions = 7;
constexpr const char* names[functions] = {"exp", "log", "sin", "cos", "tanh", "cbrt", "pow"};

FF_HD inline std::uint64_t mixed(std::uint64_t z) { // the finaliser of splitmix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

/// Bits that are all 0, all 1, a special value, or any: a quarter of the arguments are moderate numbers.
template <class T>
FF_HD T argument(std::uint64_t index, std::uint64_t salt) {
    using F = portable::Format<T>;
    using L = portable::Lanes<T>;
    using Bits = typename F::Bits;
    const std::uint64_t random = mixed(index * 0x9E3779B97F4A7C15U + salt);
    const Bits any = static_cast<Bits>(random >> (64 - 8 * sizeof(Bits)));
    const Bits specials[8] = {0,         1, F::one, F::infinity, F::quiet_nan, F::mantissa, F::infinity - 1,
                              F::one + 1};
    switch (random & 7U) {
    case 0:
        return L::value((any & F::sign) | specials[(random >> 3) & 7U]);
    case 1:
    case 2:
        return L::value((any & (F::sign | F::mantissa)) | F::one) * T(4);
    case 3:
        return L::value((any & (F::sign | F::mantissa)) | F::one) * T(300) - T(450);
    default:
        return L::value(any);
    }
}

/// Function number `f` over a value type.
template <class V>
FF_HD V evaluate(int f, V x, V y) {
    switch (f) {
    case 0:
        return portable::exp(x);
    case 1:
        return portable::log(x);
    case 2:
        return portable::sin(x);
    case 3:
        return portable::cos(x);
    case 4:
        return portable::tanh(x);
    case 5:
        return portable::cbrt(x);
    default:
        return portable::pow(x, y);
    }
}

/// One result's share of the hash; shares are added, in any order.
template <class T>
FF_HD std::uint64_t share(std::uint64_t index, T result) {
    return mixed(std::uint64_t{portable::Lanes<T>::bits(result)} + 0x9E3779B97F4A7C15U * (index + 1));
}

template <class T>
FF_HD std::uint64_t share_of_case(int f, std::uint64_t index) {
    return share(index, evaluate(f, argument<T>(index, 1), argument<T>(index, 2)));
}

} // namespace farfield::portable_cases
