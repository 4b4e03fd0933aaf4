// Results of sums from the scaled numbers that loops work with to the caller's units.
#pragma once

#include "sums/points/power_of_two.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace farfield {

/// value·sign·2^exponent, in two steps, as 2^exponent itself may overflow where the product does not. Beyond
/// ±2000 even its half may.
class ResultScale {
public:
    ResultScale(double sign, int exponent)
        : sign_(sign), exponent_(exponent), far_(std::abs(exponent) > 2000),
          first_(far_ ? 0.0 : sign * PowerOfTwo::normal(exponent / 2)),
          second_(far_ ? 0.0 : PowerOfTwo::normal(exponent - exponent / 2)) {}

    [[nodiscard]] double operator()(double value) const {
        return far_ ? sign_ * std::ldexp(value, exponent_) : value * first_ * second_;
    }

private:
    double sign_;
    int exponent_;
    bool far_;
    double first_, second_;
};

inline void rescale_values(double* values, std::int64_t n, double sign, int exponent) {
    const ResultScale scale(sign, exponent);
    for (std::int64_t i = 0; i < n; ++i) values[i] = scale(values[i]);
}

} // namespace farfield
