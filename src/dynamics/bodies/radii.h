// Where bodies are densest, and how far from there parts of their mass reach.
#pragma once

#include <farfield/simulation.h>

#include <array>

namespace farfield {

/// Where the bodies are densest; of 100 bodies or fewer their centre of mass. So it is
/// where the square of a distance is infinite. The same bits for any number of threads.
std::array<double, 3> density_centre(const Bodies& bodies, int threads);

/// Lagrangian radii: the distance from the density centre of the body at which the mass inside, bodies sorted
/// by distance, first reaches 10, 50 and 90 % of the whole (within 1e-12 of it, so that equal masses do not
/// depend on rounding); 0 where there is no mass, infinite where the square of the distance is. The same bits
/// for any number of threads.
std::array<double, 3> lagrangian_radii(const Bodies& bodies, int threads);

} // namespace farfield
