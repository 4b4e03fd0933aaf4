// The periodic box of a simulation: lengths along x, y and z, 0 along open axes.
#pragma once

#include "math/host_device.h"

#include <array>
#include <cmath>
#include <vector>

namespace farfield {

/// Along any axis.
inline bool is_periodic(const std::array<double, 3>& period) {
    return period[0] != 0.0 || period[1] != 0.0 || period[2] != 0.0;
}

/// The image of a coordinate in [0, length), length > 0. A coordinate that lies there stays what it is, bit
/// for bit; one that is not finite becomes none.
FF_HD inline double wrapped(double x, double length) {
    if (x >= 0.0 && x < length) return x;
    const double rest = fmod(x, length); // exact, and of the sign of x
    if (rest >= 0.0) return rest + 0.0;  // not −0
    const double inside = rest + length;
    return inside < length ? inside : 0.0; // a rounding below 0
}

/// Moves N×3 positions into the box, along the axes that are periodic.
void wrap(std::vector<double>& position, const std::array<double, 3>& period);

} // namespace farfield
