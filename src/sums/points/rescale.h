// Results of sums from the scaled numbers that loops work with to the caller's units.
#pragma once

#include "sums/points/power_of_two.h"

#include <cstdint>

namespace farfield {

/// values·sign·2^exponent, in two steps, as 2^exponent itself may overflow where the product does not. Beyond
/// ±2000 even its half may.
inline void rescale_values(double* values, std::int64_t n, double sign, int exponent) {
    if (std::abs(exponent) > 2000) {
        for (std::int64_t i = 0; i < n; ++i) values[i] = sign * std::ldexp(values[i], exponent);
        return;
    }
    const double first = sign * PowerOfTwo::normal(exponent / 2);
    const double second = PowerOfTwo::normal(exponent - exponent / 2);
    for (std::int64_t i = 0; i < n; ++i) values[i] = values[i] * first * second;
}

} // namespace farfield
