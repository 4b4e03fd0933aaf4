// Which leaves and cells of a tree are whose where ranks share a sum: a plan, of the whole tree or the part
// of it that a rank needs (essential_cells.h). Leaves follow each other along the tree's curve, so that the
// cells whose leaves several ranks share are few.
#pragma once

#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

class RankCells {
public:
    /// The owner of cells whose leaves are those of several ranks.
    static constexpr std::int32_t several = -1;

    /// Rank r has leaves [first_leaves[r], first_leaves[r + 1]) of the lists; `rank` is this one.
    RankCells(const Octree& tree, const NearLists& lists, std::vector<std::int32_t> first_leaves, int rank);
    /// The same of this rank's part of a tree. @param first_leaves, within  of the leaves of the whole tree;
    /// within each cell of the part
    RankCells(const Octree& part, const NearLists& lists, std::vector<std::int32_t> first_leaves, int rank,
              std::vector<LeafRange> within);

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return static_cast<int>(first_leaves_.size()) - 1; }
    /// Of each rank, and the end, within the lists.
    [[nodiscard]] std::span<const std::int32_t> first_leaves() const { return first_leaves_; }
    [[nodiscard]] std::pair<std::int32_t, std::int32_t> own_leaves() const {
        const auto r = static_cast<std::size_t>(rank_);
        return {first_leaves_[r], first_leaves_[r + 1]};
    }
    /// The leaf of the lists that is number `leaf` of the whole tree, or the next that is there.
    [[nodiscard]] std::int32_t leaf_here(std::int32_t leaf) const;
    /// The rank that has all leaves within a cell, or `several`.
    [[nodiscard]] std::int32_t owner(std::int32_t cell) const;
    /// Some leaf within a cell is this rank's.
    [[nodiscard]] bool holds_own(std::int32_t cell) const;
    /// The rows of the tree's targets that each rank has.
    [[nodiscard]] std::vector<RowRanges> target_rows() const;

    using Halo = RankHalo;
    /// Leaves whose points, or images of them, meet another rank's leaves point by point, or go into local
    /// expansions of cells that hold its targets.
    [[nodiscard]] Halo leaf_halo() const;
    /// Cells with sources that belong to one rank and whose multipole expansions another needs: to translate
    /// them to cells that hold its targets, to evaluate them there, or to gather those of several ranks.
    [[nodiscard]] Halo cell_halo() const;

private:
    [[nodiscard]] LeafRange own_of_whole() const {
        const auto r = static_cast<std::size_t>(rank_);
        return {first_of_whole_[r], first_of_whole_[r + 1]};
    }
    [[nodiscard]] bool is_beside_own(std::int32_t cell) const;
    /// Ranks that have leaves within a cell, in rising order, appended.
    void add_holders(std::int32_t cell, std::vector<std::int32_t>& out) const;

    const Octree& tree_;
    const NearLists& lists_;
    std::vector<std::int32_t> first_of_whole_; ///< leaves of the whole tree
    std::vector<std::int32_t> first_leaves_;   ///< of the lists
    int rank_;
    std::vector<LeafRange> leaves_; ///< of the whole tree, within each cell
};

} // namespace farfield
