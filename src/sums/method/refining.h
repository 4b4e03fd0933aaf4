// When a sum that was compared with exact values is computed again, and how much more accurately.
#pragma once

#include <algorithm>
#include <cmath>

namespace farfield {

/// Of a tolerance: larger errors are not left alone where more is to be had, as samples may miss the targets
/// that are off most.
inline constexpr double kept_share = 0.6;

/// By how much smaller an error to aim at, after one that was too large or is no number.
inline double refinement(double error, double tolerance) {
    constexpr double least = 4.0, most = 1e4;
    return std::isfinite(error) ? std::clamp(2.0 * error / tolerance, least, most) : most;
}

} // namespace farfield
