// 1/r of a pair over the whole range of a double, for the few pairs that the loops cannot hold.
#pragma once

#include <cmath>

namespace farfield {

/// A pair at distance d of each other.
struct WideRange {
    double r; ///< √(x² + y² + z² + ε²), also where the squares underflow

    WideRange(const double d[3], double softening) {
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening;
        r = r2 > 0x1p-960 ? std::sqrt(r2) : std::hypot(std::hypot(d[0], d[1]), std::hypot(d[2], softening));
    }

    struct Terms {
        double potential; ///< q/r
        double pull;      ///< q/r², along d/r
    };
    /// In lengths 2^`length_exponent` times those of d.
    [[nodiscard]] Terms of_source(double q, int length_exponent) const {
        const double scaled = std::ldexp(r, length_exponent);
        const double potential = q / scaled;
        return {potential, potential / scaled};
    }
};

} // namespace farfield
