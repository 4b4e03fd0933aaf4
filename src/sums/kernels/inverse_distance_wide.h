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

/// What some pairs add up to.
struct WideSums {
    double potential = 0.0;
    double field[3] = {};
    double hessian[6] = {};

    /// A source of strength q at distance d, in lengths 2^`length_exponent` times those of d.
    void add(const WideRange& pair, const double d[3], double q, int length_exponent) {
        const auto terms = pair.of_source(q, length_exponent);
        const double curvature = terms.pull / std::ldexp(pair.r, length_exponent); // q/r³
        const double e[3] = {d[0] / pair.r, d[1] / pair.r, d[2] / pair.r};
        potential += terms.potential;
        for (int k = 0; k < 3; ++k) field[k] += terms.pull * e[k];
        int place = 0;
        for (int i = 0; i < 3; ++i)
            for (int k = i; k < 3; ++k)
                hessian[place++] += curvature * (3.0 * e[i] * e[k] - (i == k ? 1.0 : 0.0));
    }

    /// A dipole p there.
    void add_dipole(const WideRange& pair, const double d[3], const double p[3], int length_exponent) {
        const double r = std::ldexp(pair.r, length_exponent);
        const double e[3] = {d[0] / pair.r, d[1] / pair.r, d[2] / pair.r};
        const double along = p[0] * e[0] + p[1] * e[1] + p[2] * e[2];
        potential += along / r / r;
        int place = 0;
        for (int i = 0; i < 3; ++i) {
            field[i] += (3.0 * along * e[i] - p[i]) / r / r / r;
            for (int k = i; k < 3; ++k)
                hessian[place++] += (15.0 * along * e[i] * e[k] - 3.0 * (p[i] * e[k] + p[k] * e[i]) -
                                     (i == k ? 3.0 * along : 0.0)) /
                                    r / r / r / r;
        }
    }
};

} // namespace farfield
