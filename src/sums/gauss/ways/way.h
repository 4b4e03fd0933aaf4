// A way to compute the fast Gauss transform: the grid, pairs up to a cut-off, and whatever else
// `GaussStrategy` names. FgtSum prepares one for its points and then calls it for each set of strengths.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/direct/gauss/gauss_points.h"
#include "sums/direct/gauss/gauss_results.h"
#include "sums/gauss/ways/shape.h"

#include <farfield/sum.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

/// How ways divide their work among threads, and the unit in which they tell how much there is.
inline constexpr std::int32_t sources_of_a_part = 4096, most_block_targets = 512;
inline constexpr double picoseconds = 1e12; ///< of a second

/// Points in the caller's units, N×d and M×d; no targets: the sources. Extent and frame: of all ranks'
/// points.
struct GaussPointSets {
    std::span<const double> sources, targets;
    const GaussExtent& extent;
    const GaussFrame& frame;
    /// Pairs: of the targets, which are in the order of cells, those that are summed at; none given: all.
    std::optional<BlockRange> own{};
    bool shared = false; ///< all ranks have these, and share the targets
};

class GaussWay {
public:
    virtual ~GaussWay() = default;

    /// The points need not outlive the call.
    virtual void set_points(const GaussShape& shape, const GaussPointSets& points) = 0;

    /// Another shape of the same strategy for the points that were set, which are given again.
    virtual void set_shape(const GaussShape& shape, const GaussPointSets& points) {
        set_points(shape, points);
    }

    /// Sums in the frame, of strengths N×vectors times 2^exponent, in the order of `target_order`; the self
    /// term as the problem has it. `passes`: seconds of each, overwritten. Gives up where `watch` says so.
    virtual void add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
                     std::vector<PassTime>& passes, WorkWatch& watch) = 0;

    /// Sum i is of the caller's row order[i], or of row i of an empty order.
    [[nodiscard]] virtual std::span<const std::int32_t> target_order() const = 0;
    /// For one vector of strengths, in the unit that `watch` is told.
    [[nodiscard]] virtual double work() const = 0;
    /// Fills `fgt` and, where it is not that of the problem, `precision`.
    virtual void describe(SumReport& report) const = 0;
};

} // namespace farfield
