// What a rank does of a fast multipole sum: all of it, where it is alone.
#pragma once

#include "backend/comm/transport.h"
#include "base/aligned.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/fmm/common/leaf_rates.h"
#include "sums/fmm/common/near_blocks.h"
#include "sums/fmm/common/rank_cells.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

class RankShare {
public:
    /// @param ranks  null: this process is alone
    explicit RankShare(comm::Transport* ranks) : ranks_(ranks) {}

    /// Ranks get about as much work, at these rates. Tree and lists must outlive it. Of a tree over ranks,
    /// the tree becomes the part that this rank needs.
    /// @param lists  are made  @param few  as near_lists has it
    void divide(Octree& tree, NearLists& lists, std::int32_t few, const std::function<LeafRates()>& rates,
                int threads);
    /// Where the shares begin that were fair the last time, as Octree takes them.
    [[nodiscard]] std::span<const double> share_begins() const { return share_begins_; }

    /// A tree over ranks, of which this rank's tree became a part.
    struct Whole {
        Octree tree;
        std::vector<std::int32_t> leaves{};      ///< in the order of their points
        std::vector<std::int32_t> new_numbers{}; ///< as Octree::part has them
        std::vector<std::int32_t> groups{}; ///< leaves that groups of mutual blocks begin with; of a self sum
        std::vector<std::int32_t> first_leaves{}; ///< of ranks
    };
    /// Null where the tree is whole, and after `forget_whole`.
    [[nodiscard]] const Whole* whole() const { return whole_ ? &*whole_ : nullptr; }
    void forget_whole() { whole_.reset(); }
    /// Leaves of the whole tree.
    [[nodiscard]] std::int64_t count_leaves() const { return leaves_of_all_; }
    /// For the near field of this rank's part of a tree, before `forget_whole`; none of a whole tree.
    [[nodiscard]] std::optional<NearBlocks::Share> near_share() const;

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
    /// This rank makes the multipole expansion of a cell of its own, or of several ranks; of others it gets
    /// some.
    [[nodiscard]] bool forms(std::int32_t cell) const {
        return !cells_ || cells_->owner(cell) == cells_->rank() || cells_->owner(cell) == RankCells::several;
    }
    /// It forms or gets it.
    [[nodiscard]] bool has_multipole(std::int32_t cell) const {
        return has_multipole_.empty() || has_multipole_[static_cast<std::size_t>(cell)] != 0;
    }
    /// This rank needs the local expansion of a cell.
    [[nodiscard]] bool receives(std::int32_t cell) const {
        return tree_->cell(cell).targets.size() > 0 && (!cells_ || cells_->holds_own(cell));
    }

    /// Multipole expansions under way between ranks.
    template <class T>
    class Arriving {
    public:
        Arriving() = default;
        Arriving(Arriving&&) noexcept = default;
        Arriving& operator=(Arriving&& other) noexcept {
            messages_ = std::move(other.messages_); // waits for those it had, before their memory goes
            to_ = std::move(other.to_);
            from_ = std::move(other.from_);
            return *this;
        }
        ~Arriving() = default;

    private:
        friend class RankShare;
        std::vector<RawVector<T>> to_, from_;
        std::vector<std::unique_ptr<comm::Message>> messages_;
    };

    /// M2M in two parts, between which other work can be done: `gather(wanted)` makes the expansions of all
    /// parents that are wanted(cell) from those of their children. A rank does it for cells of its own; then
    /// it gets what it needs of others', and all gather alike what lies above. @param expansions  of all
    /// cells, as many numbers each
    template <class T, class Gather>
    Arriving<T> begin_gather(std::span<T> expansions, const Gather& gather) const {
        if (!cells_) {
            gather([](std::int32_t /*cell*/) { return true; });
            return {};
        }
        gather([this](std::int32_t cell) { return cells_->owner(cell) == cells_->rank(); });
        return send(expansions);
    }
    template <class T, class Gather>
    void end_gather(Arriving<T>& arriving, std::span<T> expansions, const Gather& gather) const {
        if (!cells_) return;
        take(arriving, expansions);
        gather([this](std::int32_t cell) { return cells_->owner(cell) == RankCells::several; });
    }

    /// True on all ranks where it is true on any.
    [[nodiscard]] bool on_any(bool mine) const;
    /// All ranks get the sums of all, which each has at its own targets.
    void gather_sums(const TileSums& sums) const;

private:
    template <class T>
    [[nodiscard]] Arriving<T> send(std::span<T> expansions) const;
    template <class T>
    void take(Arriving<T>& arriving, std::span<T> expansions) const;

    void divide_over_ranks(Octree& tree, NearLists& lists, std::int32_t few,
                           const std::function<LeafRates()>& rates, int threads);
    void make_part(Octree& tree, NearLists& lists, std::span<const LeafRange> within, std::int32_t few,
                   int threads);
    [[nodiscard]] std::vector<double> work_of_all(const Octree& tree, const NearLists& lists,
                                                  const LeafRates& rates) const;
    void keep_share_begins(std::span<const std::int32_t> first_leaves);
    void plan(std::span<const double> work, std::span<const std::int32_t> first_leaves);

    comm::Transport* ranks_;
    std::optional<Whole> whole_;
    std::vector<double> share_begins_;
    std::int64_t leaves_of_all_ = 0;
    const Octree* tree_ = nullptr;
    std::optional<RankCells> cells_;
    RankCells::Halo halo_;                    ///< of multipole expansions
    std::vector<std::uint8_t> has_multipole_; ///< by cell; empty: all
    std::pair<std::int64_t, std::int64_t> own_leaves_{0, 0};
    double own_part_ = 1.0;
};

extern template RankShare::Arriving<float> RankShare::send(std::span<float>) const;
extern template RankShare::Arriving<double> RankShare::send(std::span<double>) const;
extern template void RankShare::take(Arriving<float>&, std::span<float>) const;
extern template void RankShare::take(Arriving<double>&, std::span<double>) const;

} // namespace farfield
