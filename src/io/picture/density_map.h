// Projected density on a square of pixels, smoothed as the local number of bodies allows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield::picture {

/// A body's place in the picture, in pixels from the lower left corner, and its mass.
struct PlacedBody {
    double x;
    double y;
    double mass;
};

/// Surface density (mass per pixel) on size×size pixels, row 0 at the bottom.
///
/// Each body is spread over a disc by (1 − r²/R²)² (the biweight kernel; Silverman 1986, Density Estimation,
/// §4.2), and R is proportional to the half-width of the square around it that holds a fixed number of bodies
/// (an adaptive estimate in the sense of his §5.3): many bodies give fine detail, few give a smooth map.
/// Bodies just outside of the square count. Sums are done in the order of the bodies, whatever the
/// number of threads.
std::vector<double> density_map(std::span<const PlacedBody> bodies, int size, int threads);

} // namespace farfield::picture
