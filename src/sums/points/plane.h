// Points of the plane as points in space with z = 0: what trees, prepared points and frames take.
#pragma once

#include "base/aligned.h"
#include "sums/points/prepared.h"

#include <array>
#include <cstdint>
#include <span>

namespace farfield {
namespace comm {
class Transport;
}

/// N×3 of N×2.
RawVector<double> lifted(std::span<const double> plane, int threads);

/// The frame of lifted points: coordinates and a core size come to lie within ±1, so that logarithms of
/// distances are about as large as those of the extent's parts.
Frame choose_plane_frame(std::span<const double> sources, std::span<const double> targets, double core,
                         int threads);

/// The same for points in these ranges along x, y and z, at least one point.
Frame choose_plane_frame(const std::array<Extent, 3>& ranges, double core);

/// Some strength of N×columns numbers has an imaginary part that is not 0.
bool are_complex(std::span<const double> strengths, int columns, int threads);

/// The real and, if they are `complex`, the imaginary parts of N×columns strengths, multiplied by 2^exponent,
/// in the order of `from` (empty: as they are).
std::array<RawVector<double>, 2> strength_columns(std::span<const double> strengths, int columns,
                                                  bool complex, int exponent,
                                                  std::span<const std::int32_t> from, int threads);

/// Σ of a column, the same for any number of threads.
double sum_of(std::span<const double> values, int threads);
/// The same of a column of which each rank has a part, rank after rank: with the bits of one rank, on all.
double sum_of_all(comm::Transport& ranks, std::span<const double> mine, int threads);

} // namespace farfield
