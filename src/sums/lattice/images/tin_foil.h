// What tin foil around a large sphere of images adds to the sum in empty space, and with it a uniform
// background that makes a charged box neutral.
#pragma once

#include "sums/lattice/images/image_grid.h"
#include "sums/lattice/near_sum.h"

#include <array>
#include <span>

namespace farfield {

/// Points one coordinate after the other.
using PointViews = std::array<std::span<const double>, 3>;
inline PointViews views_of(const LatticePoints& points) { return {points[0], points[1], points[2]}; }

struct FoiledBox {
    Lengths period{}, low{};
};

/// Adds (2π/3V) Σ q |x − y|² and its negative gradient, of points in the box. All sources, also where the
/// targets are a part of them.
void add_tin_foil(const FoiledBox& box, const PointViews& sources, const PointViews& targets,
                  std::span<const double> strengths, const LatticeResults& results, int threads);

} // namespace farfield
