#include "sums/fmm/common/rank_cells.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

/// Numbers below a bound for each rank, each once.
class NumbersOfRanks {
public:
    NumbersOfRanks(std::size_t ranks, std::size_t bound) : bound_(bound), there_(ranks), numbers_(ranks) {}
    void add(std::int32_t rank, std::int32_t number) {
        auto& there = there_[static_cast<std::size_t>(rank)];
        if (there.empty()) there.resize(bound_);
        auto& is_there = there[static_cast<std::size_t>(number)];
        if (is_there == 0) numbers_[static_cast<std::size_t>(rank)].push_back(number);
        is_there = 1;
    }
    [[nodiscard]] std::vector<std::vector<std::int32_t>> take() { return std::move(numbers_); }

private:
    std::size_t bound_;
    std::vector<std::vector<char>> there_; ///< empty where a rank has none
    std::vector<std::vector<std::int32_t>> numbers_;
};

void order(RankCells::Halo& halo) {
    for (auto* side : {&halo.to, &halo.from})
        for (auto& numbers : *side) {
            std::sort(numbers.begin(), numbers.end());
            numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        }
}

/// The rank that has a leaf.
std::int32_t rank_at(const std::vector<std::int32_t>& first_leaves, std::int32_t leaf) {
    const auto next = std::upper_bound(first_leaves.begin(), first_leaves.end(), leaf);
    return static_cast<std::int32_t>(next - first_leaves.begin()) - 1;
}

} // namespace

RankCells::RankCells(const Octree& tree, const NearLists& lists, std::vector<std::int32_t> first_leaves,
                     int rank)
    : RankCells(tree, lists, std::move(first_leaves), rank, leaves_within(tree, lists.leaves)) {}

RankCells::RankCells(const Octree& part, const NearLists& lists, std::vector<std::int32_t> first_leaves,
                     int rank, std::vector<LeafRange> within)
    : tree_(part), lists_(lists), first_of_whole_(std::move(first_leaves)), rank_(rank),
      leaves_(std::move(within)) {
    for (const auto first : first_of_whole_) first_leaves_.push_back(leaf_here(first));
}

std::int32_t RankCells::leaf_here(std::int32_t leaf) const {
    const auto found =
        std::partition_point(lists_.leaves.begin(), lists_.leaves.end(), [&](std::int32_t cell) {
            return leaves_[static_cast<std::size_t>(cell)].first < leaf;
        });
    return static_cast<std::int32_t>(found - lists_.leaves.begin());
}

std::int32_t RankCells::owner(std::int32_t cell) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto rank = rank_at(first_of_whole_, begin);
    return end <= first_of_whole_[static_cast<std::size_t>(rank) + 1] ? rank : several;
}

RankCells::Halo RankCells::leaf_halo() const {
    const auto count = static_cast<std::size_t>(ranks());
    NumbersOfRanks to(count, lists_.leaves.size()), from(count, lists_.leaves.size());
    const auto own = own_leaves();
    const auto is_own = [&](std::int32_t leaf) { return own.first <= leaf && leaf < own.second; };
    const auto owner_of = [&](std::int32_t leaf) { return rank_at(first_leaves_, leaf); };
    const auto meet = [&](std::int32_t mine, std::int32_t other) {
        const auto rank = owner_of(other);
        to.add(rank, mine);
        from.add(rank, other);
    };
    for (std::int32_t leaf = 0; leaf < std::ssize(lists_.leaves); ++leaf) {
        const auto n = static_cast<std::size_t>(leaf);
        for (auto k = lists_.direct.first[n]; k < lists_.direct.first[n + 1]; ++k) {
            const auto partner = lists_.direct.partners[static_cast<std::size_t>(k)];
            if (is_own(leaf) == is_own(partner)) continue;
            if (tree_.self()) // either may be computed where the other is
                meet(is_own(leaf) ? leaf : partner, is_own(leaf) ? partner : leaf);
            else if (is_own(leaf))
                from.add(owner_of(partner), partner);
            else
                to.add(owner_of(leaf), partner);
        }
    }
    for (std::int32_t leaf = 0; leaf < std::ssize(lists_.leaves) && tree_.is_periodic(); ++leaf) {
        const auto n = static_cast<std::size_t>(leaf);
        for (auto k = lists_.images.first[n]; k < lists_.images.first[n + 1]; ++k) {
            const auto partner = lists_.images.partners[static_cast<std::size_t>(k)];
            if (is_own(leaf) && !is_own(partner)) from.add(owner_of(partner), partner);
            if (is_own(partner) && !is_own(leaf)) to.add(owner_of(leaf), partner);
        }
    }
    std::vector<std::int32_t> number(tree_.cells().size()); // of a leaf
    for (std::size_t n = 0; n < lists_.leaves.size(); ++n)
        number[static_cast<std::size_t>(lists_.leaves[n])] = static_cast<std::int32_t>(n);
    std::vector<std::int32_t> holders;
    for (std::size_t cell = 0; cell + 1 < lists_.sources.first.size(); ++cell)
        for (auto k = lists_.sources.first[cell]; k < lists_.sources.first[cell + 1]; ++k) {
            const auto partner =
                static_cast<std::size_t>(lists_.sources.partners[static_cast<std::size_t>(k)]);
            const auto leaf = number[partner];
            if (!is_own(leaf)) {
                if (holds_own(static_cast<std::int32_t>(cell))) from.add(owner_of(leaf), leaf);
                continue;
            }
            holders.clear();
            add_holders(static_cast<std::int32_t>(cell), holders);
            for (const auto rank : holders)
                if (rank != rank_) to.add(rank, leaf);
        }
    Halo out{.to = to.take(), .from = from.take()};
    order(out);
    return out;
}

void RankCells::add_holders(std::int32_t cell, std::vector<std::int32_t>& out) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto last = rank_at(first_of_whole_, end - 1);
    for (auto rank = rank_at(first_of_whole_, begin); rank <= last; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        if (first_of_whole_[r] < first_of_whole_[r + 1]) out.push_back(rank);
    }
}

// Ranks whose cells may be served by the children of a parent have leaves within its neighbours; that goes
// both ways.
RankCells::Halo RankCells::cell_halo() const {
    const auto count = static_cast<std::size_t>(ranks());
    Halo out{.to = std::vector<std::vector<std::int32_t>>(count),
             .from = std::vector<std::vector<std::int32_t>>(count)};
    const auto needed_by = [&](std::int32_t cell, std::int32_t rank) {
        const auto owner = this->owner(cell);
        if (owner == several || owner == rank || tree_.cell(cell).sources.size() == 0) return;
        if (owner == rank_) out.to[static_cast<std::size_t>(rank)].push_back(cell);
        if (rank == rank_) out.from[static_cast<std::size_t>(owner)].push_back(cell);
    };
    const auto needed_by_all = [&](std::int32_t cell) {
        for (int rank = 0; rank < ranks(); ++rank) needed_by(cell, rank);
    };
    for (std::int32_t cell = 0; cell < std::ssize(tree_.cells()) && tree_.cell(cell).level == 0; ++cell)
        needed_by_all(cell);
    std::vector<std::int32_t> holders;
    for (std::int32_t parent = 0; parent < std::ssize(tree_.cells()); ++parent) {
        const auto& cell = tree_.cell(parent);
        if (cell.leaf) continue;
        const bool shared = owner(parent) == several;
        if (!shared && !is_beside_own(parent)) continue; // nor are its children of this rank
        holders.clear();
        for (const auto neighbour : tree_.neighbours(parent))
            if (neighbour != no_cell) add_holders(neighbour, holders);
        std::sort(holders.begin(), holders.end());
        holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
        for (const auto child : cell.children) {
            if (child == no_cell) continue;
            if (shared) needed_by_all(child);
            for (const auto rank : holders) needed_by(child, rank);
        }
    }
    for (std::size_t leaf = 0; leaf < lists_.leaves.size(); ++leaf)
        for (auto k = lists_.multipoles.first[leaf]; k < lists_.multipoles.first[leaf + 1]; ++k)
            needed_by(lists_.multipoles.partners[static_cast<std::size_t>(k)],
                      rank_at(first_leaves_, static_cast<std::int32_t>(leaf)));
    order(out);
    return out;
}

bool RankCells::holds_own(std::int32_t cell) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto [own_begin, own_end] = own_of_whole();
    return std::max(begin, own_begin) < std::min(end, own_end);
}

// This rank's among its neighbours, and not theirs alone.
bool RankCells::is_beside_own(std::int32_t cell) const {
    const auto [own_begin, own_end] = own_of_whole();
    bool any = false, all = true;
    const auto look_at = [&, own_begin = own_begin, own_end = own_end](std::int32_t other) {
        const auto [begin, end] = leaves_[static_cast<std::size_t>(other)];
        any = any || std::max(begin, own_begin) < std::min(end, own_end);
        all = all && own_begin <= begin && end <= own_end;
    };
    look_at(cell); // not among the neighbours that the part of a tree knows of others' cells
    for (const auto neighbour : tree_.neighbours(cell))
        if (neighbour != no_cell) look_at(neighbour);
    return any && !all;
}

std::vector<RowRanges> RankCells::target_rows() const {
    std::vector<RowRanges> rows(static_cast<std::size_t>(ranks()));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (first_leaves_[r] == first_leaves_[r + 1]) continue;
        const auto targets_of = [&](std::int32_t leaf) {
            return tree_.cell(lists_.leaves[static_cast<std::size_t>(leaf)]).targets;
        };
        rows[r] = {{targets_of(first_leaves_[r]).begin, targets_of(first_leaves_[r + 1] - 1).end}};
    }
    return rows;
}

} // namespace farfield
