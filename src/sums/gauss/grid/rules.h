// How a Gaussian is put together from a window φ on a grid of spacing h:
//   e^(−(x − y)²/2σ²) ≈ Σ_g Σ_g' φ(x/h − g) T(g − g') φ(y/h − g')
// with φ(z) = e^(β(√(1 − (2z/w)²) − 1)) for |z| < w/2 (Barnett, Magland, af Klinteberg 2019, equation 1.8)
// and a short row of numbers T. In d dimensions each factor is that of an axis, so there is no transform:
// spreading strengths with φ, folding with T along each axis and taking values with φ are all of the sum, in
// open space. T is the least-squares solution over distances from 0 to 8.6σ at 9 places of x between grid
// points, for the value and for 0.3σ times the derivative; β is the best of steps of 0.05w. The errors are
// the largest of some 10⁴ other distances, and 15 % more. tools/coefficients/gauss_rules.py writes rules.cpp.
#pragma once

#include <array>
#include <span>

namespace farfield {

inline constexpr int most_grid_width = 16;
inline constexpr int most_grid_reach = 28;

struct GridRule {
    int width;    ///< w, grid points that a point touches along an axis
    double ratio; ///< σ/h
    double beta;
    double error;                                 ///< of the Gaussian, along one axis
    double gradient_error;                        ///< of its derivative, times σ
    int reach;                                    ///< T(j) = 0 beyond
    std::array<double, most_grid_reach + 1> taps; ///< T(0), T(1) = T(−1), …
};

/// Those of coarse grids from the least accurate to the most, then those of finer ones, whose windows are
/// narrower.
std::span<const GridRule> grid_rules();

} // namespace farfield
