// Points of the plane as points in space with z = 0: what trees, prepared points and frames take.
#pragma once

#include "base/aligned.h"
#include "sums/points/prepared.h"

#include <array>
#include <cstdint>
#include <span>

namespace farfield {

/// N×3 of N×2.
RawVector<double> lifted(std::span<const double> plane, int threads);

/// The frame of lifted points: coordinates and a core size come to lie within ±1, so that logarithms of
/// distances are about as large as those of the extent's parts.
Frame choose_plane_frame(std::span<const double> sources, std::span<const double> targets, double core,
                         int threads);

/// The same for points in these ranges along x, y and z, at least one point.
Frame choose_plane_frame(const std::array<Extent, 3>& ranges, double core);

/// The one or two columns of N×columns numbers, multiplied by 2^exponent, in the order of `from` (empty: as
/// they are). The second is empty where there is none or all of its numbers are zero.
std::array<RawVector<double>, 2> strength_columns(std::span<const double> strengths, int columns,
                                                  int exponent, std::span<const std::int32_t> from,
                                                  int threads);

/// Σ of a column, the same for any number of threads.
double sum_of(std::span<const double> values, int threads);

} // namespace farfield
