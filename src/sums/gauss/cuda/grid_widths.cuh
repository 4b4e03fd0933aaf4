// Which widths and dimensions loops over grids are compiled for.
#pragma once

#include "sums/gauss/cuda/grid_passes.cuh"

#include <farfield/error.h>

namespace farfield::cuda {

template <class Real, int D, int Width, class Body>
void with_grid_width_from(int width, const Body& body) {
    constexpr int most = sizeof(Real) == 8 ? most_double_width : most_float_width;
    if constexpr (Width > most) {
        throw InternalError("a grid of a width that no loop was compiled for");
    } else {
        if (width == Width)
            body.template operator()<Width, D>();
        else
            with_grid_width_from<Real, D, Width + 1>(width, body);
    }
}

/// The same for grids in space: calls body.operator()<width, 3>().
template <class Real, class Body>
void with_space_width(int width, const Body& body) {
    constexpr int least = sizeof(Real) == 8 ? least_double_width : least_grid_width;
    with_grid_width_from<Real, 3, least>(width, body);
}

/// Calls body.operator()<width, dimension>().
template <class Real, class Body>
void with_grid_width(int width, int dimension, const Body& body) {
    constexpr int least = sizeof(Real) == 8 ? least_double_width : least_grid_width;
    if (dimension == 3)
        with_grid_width_from<Real, 3, least>(width, body);
    else if (dimension == 2)
        with_grid_width_from<Real, 2, least>(width, body);
    else if constexpr (sizeof(Real) == 8)
        with_grid_width_from<Real, 1, least>(width, body);
    else
        throw InternalError("a line of floats, which no loop was compiled for");
}

} // namespace farfield::cuda
