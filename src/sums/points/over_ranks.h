// What points and strengths tell together where each rank has some of them: the same on all ranks.
#pragma once

#include "sums/points/float_range.h"
#include "sums/points/prepared.h"

#include <farfield/sum_options.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// The ranges of all ranks' points.
std::array<Extent, 3> extents_over_ranks(comm::Transport& ranks, const std::array<Extent, 3>& mine);

/// The ranges of these points (N×3 and M×3), and of those of other ranks; null: there are none.
std::array<Extent, 3> extents_of(comm::Transport* ranks, std::span<const double> sources,
                                 std::span<const double> targets, int threads);

/// `strength_exponent` of all ranks' strengths and dipoles.
int strength_exponent_over_ranks(comm::Transport& ranks, std::span<const double> strengths,
                                 std::span<const double> dipoles, int lengths, int threads);

/// The frame of all ranks' points, at least one.
Frame frame_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                       std::span<const double> targets, double softening, int threads);

/// `pair_beyond_float` of all ranks' points, as rows of all ranks' points. Only where some coordinate is that
/// small do all ranks get all points.
std::optional<LostPair> pair_beyond_float_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                                                     std::span<const double> targets, const Frame& frame,
                                                     double softening, Precision precision, int threads);

/// `require_float_range` likewise. @throws InvalidArgument on all ranks
void require_float_range_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                                    std::span<const double> targets, const Frame& frame, double softening,
                                    Precision precision, int threads);

/// True where pairs of these points need double (`pair_beyond_float`). `ranks`: who has others; null: none.
/// @throws InvalidArgument instead, on all ranks, where they may not have it
bool need_double(comm::Transport* ranks, std::span<const double> sources, std::span<const double> targets,
                 double softening, Precision precision, bool may_have_it, int threads);

/// All ranks' numbers, one rank after the other.
std::vector<double> all_of_ranks(comm::Transport& ranks, std::span<const double> mine);

} // namespace farfield
