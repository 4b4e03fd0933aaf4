// The influence function of a mesh: what the transform of the spread strengths is multiplied by, so that the
// field gathered by the splines' derivatives is off least in the mean square over all places of two points.
//
// With the spline's transform U(k) = Π (sin(k_i h_i/2)/(k_i h_i/2))^p, aliases k_m = k + 2πm/h and G the
// transform of the smooth part (Splitting::wave_factor), the error is Σ_{m,m'} |k_m' U_m' D U_m − δ_mm' k_m
// G_m|², least for
//   D(k) = Σ_m k_m² U_m² G_m / (Σ_m U_m² Σ_m k_m² U_m²)
// (Hockney & Eastwood, chapter 8; Ballenegger, Cerdà & Holm 2012 for differentiated splines).
#pragma once

#include "base/aligned.h"
#include "sums/lattice/periodic_frame.h"
#include "sums/lattice/splitting.h"

#include <array>
#include <cstdint>
#include <functional>

namespace farfield {

/// D(k)/V, [z][y][x] for 0 ≤ index ≤ n/2 of each axis; 0 for k = 0. Rows y of which `is_wanted` is false are
/// left as they are.
RawVector<double> influence_of(const PeriodicFrame& frame, const Splitting& splitting,
                               const std::array<std::int32_t, 3>& mesh, int order, int threads,
                               const std::function<bool(std::int64_t)>& is_wanted = {});

} // namespace farfield
