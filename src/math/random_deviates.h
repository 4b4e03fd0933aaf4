// Random numbers of other distributions than the uniform one, through the portable functions: the same bits
// on every machine.
#pragma once

#include "base/random.h"

#include <array>

namespace farfield {

/// Two independent standard normal deviates (Box & Muller 1958).
std::array<double, 2> normal_pair(RandomStream& random);

/// Three independent standard normal deviates; draws four.
std::array<double, 3> normal_vector(RandomStream& random);

/// A unit vector, uniform on the sphere.
std::array<double, 3> unit_vector(RandomStream& random);

} // namespace farfield
