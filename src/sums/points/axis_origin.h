// The origin that far-off points are moved to before they are rounded, one axis at a time: shared by sums on
// the CPU and simulations on GPUs.
#pragma once

#include "math/host_device.h"

namespace farfield {

/// Zero, or for points far off a float within their range [low, high]. All coordinates are then within a
/// factor of two of it, so x − origin is exact (Sterbenz), for coordinates that are floats also as a float.
FF_HD inline double axis_origin(double low, double high) {
    constexpr double largest_float = 0x1.fffffep+127;
    constexpr double smallest_float = 0x1p-126;
    if (!(low > 0.0) && !(high < 0.0)) return 0.0;
    const double smaller = low > 0.0 ? low : -high;
    const double larger = low > 0.0 ? high : -low;
    if (larger > 2.0 * smaller) return 0.0;
    const double middle = low + 0.5 * (high - low);
    const double rounded = larger < largest_float && smaller > smallest_float
                               ? static_cast<double>(static_cast<float>(middle))
                               : middle;
    return rounded < low ? low : (rounded > high ? high : rounded);
}

} // namespace farfield
