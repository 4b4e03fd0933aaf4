// What the way of one rank sums over, where each rank gives points of its own.
//
// - Points of a small grid stay where they are.
// - Those of larger grids, and for pairs, are dealt out in the order of boxes along the last axis, in parts
// as
//   equal as may be: of a grid as many points each, of pairs as many pairs. For pairs a rank also gets the
//   sources of layers that its targets' cut-off reaches.
// - Clusters and boxes have expansions of all sources: all ranks get all points. So they do for pairs in a
// few
//   cells.
#pragma once

#include "base/work_array.h"
#include "sums/direct/gauss/gauss_results.h"
#include "sums/gauss/boxes/near_cells.h"
#include "sums/gauss/ranks/dealt_rows.h"
#include "sums/gauss/ways/way.h"
#include "sums/points/rows_of_ranks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

/// Of all ranks' points.
GaussExtent gauss_extent_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                                    std::span<const double> targets, int dimension, int threads);

/// That of rank 0, on all: hosts may have cost tables of their own.
GaussShape shape_of_first(comm::Transport& ranks, const GaussShape& shape);

class RankRows {
public:
    /// @param problem  of all ranks' points
    RankRows(comm::Transport& ranks, const SumProblem& problem, int threads);

    /// For a shape that all ranks have. Calls are made by all ranks; the points given must stay.
    void deal(const GaussShape& shape, const GaussPointSets& given);

    /// What this rank's way sums, with the numbers of its rows.
    [[nodiscard]] const SumProblem& problem() const { return mine_; }
    [[nodiscard]] GaussPointSets points(const GaussPointSets& given) const;
    /// Strengths of given rows, N×vectors, at the way's sources.
    [[nodiscard]] std::span<const double> strengths(std::span<const double> given, std::int64_t vectors);
    /// The way's sums in its order come back: `given` has the rows of targets that this rank gave.
    /// @returns the order of `given`, as write_gauss_sums takes it
    std::span<const std::int32_t> bring_back(GaussSums& sums, std::span<const std::int32_t> order,
                                             GaussSums& given);
    /// A rank sums at targets of its own part alone.
    [[nodiscard]] bool deals_out() const { return place_ == Place::dealt; }
    /// Sums at given rows, in an order of theirs, to all ranks: `all` has the rows of all.
    void share(GaussSums& given, std::span<const std::int32_t> order, GaussSums& all) const;

private:
    enum class Place { as_given, dealt, everywhere };
    void deal_grid(const GaussLattice& boxes, const GaussPointSets& given);
    void deal_pairs(const NearCells& cells, const GaussPointSets& given);
    void take_dealt(const GaussPointSets& given);
    void take_everything(const GaussPointSets& given);
    [[nodiscard]] std::vector<double> work_of_cells(const NearCells& cells,
                                                    std::vector<std::uint64_t>& keys) const;
    [[nodiscard]] const DealtRows& target_rows() const { return targets_ ? *targets_ : *sources_; }
    [[nodiscard]] DealtRows& target_rows() { return targets_ ? *targets_ : *sources_; }

    comm::Transport& ranks_;
    SumProblem all_, mine_;
    int threads_;
    Place place_ = Place::as_given;
    std::optional<DealtRows> sources_, targets_; ///< of points that are dealt out
    RowsOfRanks all_sources_, all_targets_;
    RawVector<double> source_points_, target_points_, strengths_; ///< but for those that are as given
    WorkArray in_rows_;                                           ///< its memory serves the next
};

} // namespace farfield
