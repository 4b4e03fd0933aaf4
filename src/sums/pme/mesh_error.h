// What meshes of splines leave of an error, by the mean square over all places of points.
#pragma once

#include "sums/pme/splines.h"

#include <array>

namespace farfield {

/// The square of the relative error of fields, over αa with a = (V/N)^⅓, for splines of each order from
/// `least_spline_order` on: the least of influence.h in the limit of many waves,
///   (1/(2π)³) ∫ (16π²/κ²) g² ε d³κ,   κ = k/α,
/// with ε the share that aliases along each axis have, and beyond the mesh's waves all. g² = exp(−κ²/2), of
/// softened images less.
/// `spacing`: of the mesh, times α; `softness`: αε.
std::array<double, most_spline_order - least_spline_order + 1> mesh_errors(double spacing, double softness);

} // namespace farfield
