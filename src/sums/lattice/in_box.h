// The image of a coordinate in a periodic box, with the same bits on the host and on a GPU.
#pragma once

#include "math/host_device.h"

#include <cmath>

namespace farfield {

/// In [0, length), for a length > 0.
FF_HD inline double image_in_box(double x, double length) {
    const double inside = fma(-floor(x / length), length, x);
    if (inside < 0.0) return inside + length < length ? inside + length : 0.0; // a rounding below
    return inside < length ? inside : 0.0;
}

} // namespace farfield
