// Where points lie on a mesh; the same on CPUs and GPUs.
#pragma once

#include "math/host_device.h"

#include <cmath>
#include <cstdint>

namespace farfield {

/// Where a point lies on one axis of a mesh of n points: the cell, 0 ≤ cell < n, and the fraction in it. Its
/// first mesh point is cell − ⌊p/2⌋ + 1.
struct SplinePlace {
    std::int32_t cell;
    double fraction;
};

/// @pre 0 ≤ x < length
FF_HD inline SplinePlace spline_place(double x, double length, std::int32_t n, int order) {
    const double at = x / length * n - (order % 2 != 0 ? 0.5 : 0.0);
    const double floor = std::floor(at);
    auto cell = static_cast<std::int32_t>(floor);
    if (cell < 0) cell += n;
    if (cell >= n) cell -= n;
    return {cell, at - floor};
}

} // namespace farfield
