// Where points lie on a grid: its axes, the grid points that a point touches, and where it lies between them.
#pragma once

#include "math/host_device.h"
#include "sums/direct/gauss/gauss_points.h"
#include "sums/gauss/grid/rules.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace farfield {

/// Grid points from the first that the least coordinate touches to the last of the largest.
struct GridAxis {
    std::int64_t base, length;
};
GridAxis grid_axis(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame, std::size_t k);

/// h as a number of few digits, whose products with indices are exact, and the rest.
void split_spacing(double spacing, double (&parts)[2]);

/// Axes of grids on a GPU.
inline constexpr int most_grid_axes = 3;

/// A grid in up to three dimensions, for loops that place points by themselves.
struct GridPlacing {
    int dimension = 1;
    double half = 0.0;                                ///< w/2
    double centre[most_grid_axes] = {}, factor = 1.0; ///< of the frame; 2^exponent
    double inverse_spacing = 1.0, spacing[2] = {1.0, 0.0};
    std::int64_t base[most_grid_axes] = {};
    std::int32_t length[most_grid_axes] = {1, 1, 1}; ///< the first one in whole fours
    std::int32_t last[most_grid_axes] = {};          ///< cell, of those whose w grid points the grid has

    /// @pre 2^exponent of the frame is a normal number
    GridPlacing() = default;
    GridPlacing(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame, int dimension);

    /// Numbers of the grid from one point of an axis to the next.
    [[nodiscard]] FF_HD std::int32_t stride(int axis) const {
        return axis == 0 ? 1 : axis == 1 ? length[0] : length[0] * length[1];
    }
    [[nodiscard]] std::int64_t numbers() const { return std::int64_t{length[0]} * length[1] * length[2]; }
};

/// The number, along an axis of the grid, of the first grid point that is touched; and u of window.h.
struct PlacedCoordinate {
    std::int32_t cell;
    double u;
};
FF_HD inline PlacedCoordinate placed(const GridPlacing& grid, int axis, double x) {
    const double at = (x - grid.centre[axis]) * grid.factor;
    const double first = ceil(at * grid.inverse_spacing - grid.half);
    const double rest = (first * grid.spacing[0] - at) + first * grid.spacing[1];
    const auto cell = static_cast<std::int32_t>(static_cast<std::int64_t>(first) - grid.base[axis]);
    return {cell < 0                 ? 0
            : cell > grid.last[axis] ? grid.last[axis]
                                     : cell,
            2.0 * (rest * grid.inverse_spacing + grid.half) - 1.0};
}

} // namespace farfield
