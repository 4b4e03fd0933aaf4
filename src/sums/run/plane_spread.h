// The spread of weighted points of the plane, and Gaussians as wide as it says (Scott 1992, Multivariate
// Density Estimation, §6.2; Silverman 1986, §4.3; as SciPy's gaussian_kde has them).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace farfield {

/// Rules for the width of Gaussians: the covariance of one is that of the points times f². In the plane both
/// have f = n^(−1/6) with n = (Σw)²/Σw².
struct PlaneSpread {
    double factor = 1.0; ///< f
    std::array<double, 2> mean{};
    // L of C = L Lᵀ, C = Σ w (x − mean)(x − mean)ᵀ/(1 − Σw²) with Σw = 1.
    double xx = 1.0, yx = 0.0, yy = 1.0;

    /// L⁻¹(x − mean): of covariance 1.
    [[nodiscard]] std::array<double, 2> whitened(double x, double y) const {
        const double u = (x - mean[0]) / xx;
        return {u, (y - mean[1] - yx * u) / yy};
    }
    /// Widths of a Gaussian along x and along y.
    [[nodiscard]] std::array<double, 2> widths() const;
};

/// Points N×2, weights N. @throws InvalidArgument for a weight < 0, fewer than two points with a weight, and
/// points on a line.
PlaneSpread plane_spread(std::span<const double> points, std::span<const double> weights);

/// Gaussians of one width along both axes, about the middle of the points.
PlaneSpread round_spread(std::span<const double> points, std::span<const double> weights, double sigma);

} // namespace farfield
