#include "sums/tree/cube.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {

TreeCube cube_around(const std::array<Extent, 3>& ranges, bool steps) {
    TreeCube cube;
    double high[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const bool any = ranges[axis].low <= ranges[axis].high;
        cube.low[axis] = any ? ranges[axis].low : 0.0;
        high[axis] = any ? ranges[axis].high : 0.0;
    }
    cube.side = std::max({high[0] - cube.low[0], high[1] - cube.low[1], high[2] - cube.low[2]});
    if (cube.side == 0.0) cube.side = 1.0;
    if (steps) {
        int exponent = 0;
        const double digits = std::frexp(cube.side, &exponent);
        cube.side = std::ldexp(std::ceil(std::ldexp(digits, 5)), exponent - 5);
    }
    // Points in the middle of the cube; rounding must not put the outermost ones out of it.
    for (std::size_t axis = 0; axis < 3; ++axis)
        cube.low[axis] -= 0.5 * (cube.side - (high[axis] - cube.low[axis]));
    return cube;
}

} // namespace farfield
