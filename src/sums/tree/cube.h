// The cube that an octree divides.
#pragma once

#include "sums/points/prepared.h"

#include <array>

namespace farfield {

struct TreeCube {
    double low[3] = {0.0, 0.0, 0.0};
    double side = 1.0;
};

/// Around points in these ranges, which lie in its middle. @param steps  as in TreeShape
TreeCube cube_around(const std::array<Extent, 3>& ranges, bool steps);

} // namespace farfield
