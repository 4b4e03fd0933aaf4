// One coordinate brought into a periodic box; the same on CPUs and GPUs.
#pragma once

#include "math/host_device.h"

#include <cmath>

namespace farfield {

/// The image of x with 0 ≤ x < length.
FF_HD inline double wrapped_coordinate(double x, double length) {
    const double inside = std::fma(-std::floor(x / length), length, x);
    if (inside < 0.0) return inside + length < length ? inside + length : 0.0; // a rounding below
    return inside < length ? inside : 0.0;
}

} // namespace farfield
