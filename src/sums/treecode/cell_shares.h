// Which rank makes the expansion of which cell, where all have all cells of the tree. Pure data, alike on all
// ranks.
#pragma once

#include "sums/points/block_lists.h"
#include "sums/tree/octree.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class CellShares {
public:
    /// Ranks have sources in equal numbers, cut between leaves.
    CellShares(const Octree& tree, int ranks);
    /// Rank r has rows [cuts[r], cuts[r + 1]) of the sources, those of whole leaves.
    CellShares(const Octree& tree, std::span<const std::int32_t> cuts);

    /// The cells of a level whose sources are all of one rank; cells without sources may lie between.
    [[nodiscard]] BlockRange cells(int rank, int level) const { return ranges_[place_of(rank, level)]; }
    [[nodiscard]] int levels() const { return levels_; }
    /// Cells with sources of several ranks, those of deeper levels first.
    [[nodiscard]] const std::vector<std::int32_t>& shared() const { return shared_; }
    /// Children of these with sources of that rank alone.
    [[nodiscard]] const std::vector<std::int32_t>& below_shared(int rank) const {
        return below_shared_[static_cast<std::size_t>(rank)];
    }

private:
    [[nodiscard]] std::size_t place_of(int rank, int level) const {
        return static_cast<std::size_t>(rank) * static_cast<std::size_t>(levels_) +
               static_cast<std::size_t>(level);
    }

    int levels_;
    std::vector<BlockRange> ranges_; ///< of each rank those of each level
    std::vector<std::int32_t> shared_;
    std::vector<std::vector<std::int32_t>> below_shared_;
};

} // namespace farfield
