// Sources by their widths, and the sums that make up a sum of several widths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

using Rows = std::vector<std::int64_t>;

/// Sources of one width.
struct SigmaSources {
    double sigma = 0.0;
    Rows rows; ///< rising
};

/// By rising width. @throws InvalidArgument for a width ≤ 0 (names the row) and for too many of them.
std::vector<SigmaSources> group_by_sigma(std::span<const double> sigmas);

/// A sum of one width: some sources at some targets.
struct SigmaPart {
    std::size_t group = 0;
    bool self = false; ///< targets are the group's sources
    bool all = false;  ///< of targets: those of the whole sum; otherwise the rows
    Rows targets{};    ///< rising
};

/// Each pair of a source and a target is in one part. `self`: targets are the sources; `without_own`: pairs
/// of a source with itself are in parts at the group's own sources, which leave them out.
std::vector<SigmaPart> parts_of(std::span<const SigmaSources> groups, std::int64_t sources, bool self,
                                bool without_own);

/// Some rows of a matrix.
std::vector<double> rows_at(std::span<const double> values, std::size_t width, const Rows& rows);

} // namespace farfield
