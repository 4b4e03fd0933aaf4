// The periodic box of a simulation: lengths along x, y and z, 0 along open axes.
#pragma once

#include <array>
#include <vector>

namespace farfield {

/// Along any axis.
inline bool is_periodic(const std::array<double, 3>& period) {
    return period[0] != 0.0 || period[1] != 0.0 || period[2] != 0.0;
}

/// The image of a coordinate in [0, length), length > 0. A coordinate that lies there stays what it is, bit
/// for bit; one that is not finite becomes none.
double wrapped(double x, double length);

/// Moves N×3 positions into the box, along the axes that are periodic.
void wrap(std::vector<double>& position, const std::array<double, 3>& period);

} // namespace farfield
