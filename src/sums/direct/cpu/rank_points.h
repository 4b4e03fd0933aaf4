// Points of ranks that each give some of their own. A point is summed over by the rank that has its leaf: it
// goes there before the sum, and its sums come back. Points of other ranks' leaves come along where a leaf of
// this rank meets them.
#pragma once

#include "base/aligned.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/points/homes.h"
#include "sums/points/power_of_two.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

/// Rows of points that a rank gives, in the order of the tree.
struct GivenRows {
    std::vector<std::int32_t> order; ///< number i is given as row order[i]
    std::vector<std::int64_t> ends;  ///< of those of each rank's leaves
};

/// Of a tree over ranks. @param leaves  leaves_in_order  @param first_leaves  of ranks
GivenRows given_rows(const Octree& tree, PointSet set, std::span<const std::int32_t> leaves,
                     std::span<const std::int32_t> first_leaves);

class RankPoints {
public:
    /// Calls are made by all ranks, of a tree that was made of all ranks' points.
    /// @param tree  or the part of it that this rank needs  @param leaves  in the order of their points
    /// @param own  leaves of this rank  @param halo  leaves whose points come along, and those that others
    /// get
    /// @param given  this rank's, N×3, as the tree was made of
    /// @param numbers  of these, different ones, by which those with the same key are in order; on all ranks
    /// empty: by rank, and as they are given  @throws comm::RankFailed
    RankPoints(comm::Transport& ranks, PointSet set, const Octree& tree, std::span<const std::int32_t> leaves,
               LeafRange own, const RankHalo& halo, GivenRows rows, std::span<const double> given,
               std::span<const double> numbers, int threads);

    /// What the tree takes; gone then.
    [[nodiscard]] Octree::LeafPoints take_points() { return std::move(points_); }
    /// Rows of the tree's points that this rank has, those of leaves of others among them; at least one.
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    /// Those of this rank's own leaves among them: [begin, end), in the order of the tree.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> own_rows() const {
        return {own_begin_, own_begin_ + own_count_};
    }
    /// Given points stand in an order of their own, too: number i is given as row order()[i].
    [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }

    [[nodiscard]] Homes homes() const;

    /// Scaled numbers of the given points, `width` each (1 to 3), at the rows of the tree's points.
    void bring(std::span<const double> given, std::int64_t width, const PowerOfTwo& scale,
               double* rows) const;
    /// Sums at the rows of this rank's leaves become sums of given points, in their order.
    void bring_back(const TileSums& rows, const TileSums& given) const;

private:
    void order_by_numbers(SortedKeys& sorted, std::span<const double> numbers) const;
    template <class Put>
    void each_row(const Put& put) const;
    void number_rows(const Octree& tree, std::span<const std::int32_t> leaves, LeafRange own,
                     const RankHalo& halo);
    void plan_given(std::span<const std::int64_t> ends);
    /// Numbers of given points, in their order, at the ranks that have their leaves: in the order of ranks.
    [[nodiscard]] RawVector<double> arrived(std::span<const double> given, std::int64_t width,
                                            const PowerOfTwo& scale) const;

    comm::Transport& ranks_;
    PointSet set_;
    int threads_;
    std::vector<std::int32_t> order_;
    std::vector<RowRanges> given_to_;     ///< given points that rank r sums over, in their order
    std::vector<RowRanges> arrived_from_; ///< as they arrive
    RawVector<std::int32_t> place_;       ///< own row i of the tree arrives as number place_[i]; empty: as i
    std::int64_t rows_ = 1, own_begin_ = 0, own_count_ = 0;
    Octree::LeafPoints points_;
    std::vector<RowRanges> halo_to_, halo_from_;
};

} // namespace farfield
