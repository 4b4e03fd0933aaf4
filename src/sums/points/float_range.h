// Pairs that a sum in float or mixed precision would lose: points so near each other, beside points so far
// off, that float has no number for their distance.
#pragma once

#include "sums/points/prepared.h"

#include <farfield/sum_options.h>

#include <cstdint>
#include <optional>
#include <span>

namespace farfield {

struct LostPair {
    std::int64_t target = 0; ///< row
    std::int64_t source = 0; ///< row
    double distance = 0.0;
};

/// A pair of points of different places whose distance in the frame is below float's normal numbers, if there
/// is one that matters: with a softening above a billionth of the extent none does. `targets` empty: they are
/// the sources. A scan of the points unless some coordinate is that small.
std::optional<LostPair> pair_beyond_float(std::span<const double> sources, std::span<const double> targets,
                                          const Frame& frame, double softening, Precision precision,
                                          int threads = 1);

/// Some coordinate is so small, not 0, that a point nearby could be of such a pair.
bool may_go_beyond_float(std::span<const double> points, const Frame& frame, double softening,
                         Precision precision, int threads = 1);

/// @throws InvalidArgument where there is such a pair, naming its rows; nothing for double.
void require_float_range(std::span<const double> sources, std::span<const double> targets, const Frame& frame,
                         double softening, Precision precision, int threads = 1);

} // namespace farfield
