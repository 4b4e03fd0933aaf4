// What a rank does of a fast multipole sum: all of it, where it is alone.
#pragma once

#include "sums/direct/cpu/tiles.h"
#include "sums/fmm/common/leaf_rates.h"
#include "sums/fmm/common/near_blocks.h"
#include "sums/fmm/common/rank_cells.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace farfield {

class RankShare {
public:
    /// @param ranks  null: this process is alone
    explicit RankShare(comm::Transport* ranks) : ranks_(ranks) {}

    /// Tree and lists must outlive it. Ranks get about as much work, at these rates.
    void divide(const Octree& tree, const NearLists& lists, const std::function<LeafRates()>& rates);

    [[nodiscard]] comm::Transport* ranks() const { return ranks_; }
    /// Of the work, as it was thought to be.
    [[nodiscard]] double own_part() const { return own_part_; }
    /// Null where there is no other rank.
    [[nodiscard]] const RankCells* cells() const { return cells_ ? &*cells_ : nullptr; }
    /// `BlockSumTask::rank_blocks`.
    [[nodiscard]] std::span<const std::int32_t> first_leaves() const {
        return cells_ ? cells_->first_leaves() : std::span<const std::int32_t>();
    }
    /// [begin, end) of the leaves whose points are this rank's.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> own_leaves() const { return own_leaves_; }
    /// This rank needs the local expansion of a cell.
    [[nodiscard]] bool receives(std::int32_t cell) const {
        return tree_->cell(cell).targets.size() > 0 && (!cells_ || cells_->holds_own(cell));
    }

    /// M2M: `gather(wanted)` makes the expansions of all parents that are wanted(cell) from those of their
    /// children. A rank does it for cells of its own; then it gets what it needs of others', and all gather
    /// alike what lies above. @param expansions  of all cells, as many numbers each
    template <class T, class Gather>
    void gather(std::span<T> expansions, const Gather& gather) const {
        if (!cells_) return gather([](std::int32_t /*cell*/) { return true; });
        const auto of = [&](std::int32_t owner) {
            gather([this, owner](std::int32_t cell) { return cells_->owner(cell) == owner; });
        };
        of(cells_->rank());
        exchange(expansions);
        of(RankCells::several);
    }

    /// True on all ranks where it is true on any.
    [[nodiscard]] bool on_any(bool mine) const;
    /// All ranks get the sums of all, which each has at its own targets.
    void gather_sums(const TileSums& sums) const;

private:
    template <class T>
    void exchange(std::span<T> expansions) const;

    comm::Transport* ranks_;
    const Octree* tree_ = nullptr;
    std::optional<RankCells> cells_;
    RankCells::Halo halo_; ///< of multipole expansions
    std::pair<std::int64_t, std::int64_t> own_leaves_{0, 0};
    double own_part_ = 1.0;
};

extern template void RankShare::exchange(std::span<float>) const;
extern template void RankShare::exchange(std::span<double>) const;

} // namespace farfield
