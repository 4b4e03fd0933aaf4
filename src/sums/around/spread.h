// The spread of weighted points, and coordinates in which they have covariance 1. Formulas and sources:
// farfield/density.h.
#pragma once

#include "sums/kernels/exact.h"

#include <farfield/density.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// What weights come to. Sums have the range of long double.
struct WeightSums {
    long double sum = 0, squares = 0;
    std::int64_t positive = 0; ///< weights > 0
    double least = 0.0, most = 0.0;
    std::int64_t heaviest = 0; ///< row of `most`

    [[nodiscard]] long double effective() const { return sum * sum / squares; }
};

/// @throws InvalidArgument that names a row with a weight < 0, and where none is > 0 or a double does not
/// hold their sum.
WeightSums weight_sums(std::span<const double> weights);

/// Numbers of a matrix, at most.
inline constexpr std::size_t most_entries = std::size_t{most_dimensions} * most_dimensions;

/// Gaussians of covariance f² L Lᵀ about any point. Without a rule L is 1 and f the width.
struct Spread {
    int dimension = 0;
    long double factor = 1;
    bool whitens = false; ///< false: L is 1 and the mean 0
    std::array<long double, most_dimensions> mean{};
    std::array<long double, most_entries> lower{}; ///< L, row by row, dimension a row

    [[nodiscard]] std::size_t place(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(dimension) +
               static_cast<std::size_t>(column);
    }
    [[nodiscard]] long double at(int row, int column) const { return lower[place(row, column)]; }
    /// Widths of a Gaussian along the axes.
    [[nodiscard]] std::vector<double> widths() const;
    /// (2π)^{d/2} f^d det L: the integral of a Gaussian of height 1.
    [[nodiscard]] long double volume() const;
    /// L⁻¹(x − mean) of points N×d.
    [[nodiscard]] std::vector<double> whitened(std::span<const double> points) const;
    /// L⁻ᵀ g: the gradient along x of what has the gradient g along L⁻¹ x.
    [[nodiscard]] std::array<long double, most_dimensions> gradient(const double* whitened) const;
};

/// By Scott's or Silverman's rule. @throws InvalidArgument where the points have no extent in some direction.
Spread spread_by_rule(BandwidthRule rule, std::span<const double> points, int dimension,
                      std::span<const double> weights, const WeightSums& sums);

/// Gaussians of one width in every direction.
Spread round_spread(int dimension, double sigma);

} // namespace farfield
