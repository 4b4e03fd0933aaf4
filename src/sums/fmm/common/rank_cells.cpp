#include "sums/fmm/common/rank_cells.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

void order(RankCells::Halo& halo) {
    for (auto* side : {&halo.to, &halo.from})
        for (auto& numbers : *side) {
            std::sort(numbers.begin(), numbers.end());
            numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        }
}

} // namespace

RankCells::RankCells(const Octree& tree, const NearLists& lists, std::vector<std::int32_t> first_leaves,
                     int rank)
    : tree_(tree), lists_(lists), first_leaves_(std::move(first_leaves)), rank_(rank),
      leaves_(leaves_within()) {}

// Children have higher numbers than their parents.
std::vector<std::pair<std::int32_t, std::int32_t>> RankCells::leaves_within() const {
    const auto cells = tree_.cells();
    std::vector<std::pair<std::int32_t, std::int32_t>> within(cells.size());
    for (std::size_t n = 0; n < lists_.leaves.size(); ++n) {
        const auto leaf = static_cast<std::int32_t>(n);
        within[static_cast<std::size_t>(lists_.leaves[n])] = {leaf, leaf + 1};
    }
    for (std::size_t number = cells.size(); number-- > 0;) {
        const auto parent = cells[number].parent;
        if (parent == no_cell) continue;
        const auto [begin, end] = within[number];
        auto& above = within[static_cast<std::size_t>(parent)];
        above = above.first == above.second
                    ? within[number]
                    : std::pair{std::min(above.first, begin), std::max(above.second, end)};
    }
    return within;
}

std::int32_t RankCells::owner_of_leaf(std::int32_t leaf) const {
    const auto next = std::upper_bound(first_leaves_.begin(), first_leaves_.end(), leaf);
    return static_cast<std::int32_t>(next - first_leaves_.begin()) - 1;
}

std::int32_t RankCells::owner(std::int32_t cell) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto rank = owner_of_leaf(begin);
    return end <= first_leaves_[static_cast<std::size_t>(rank) + 1] ? rank : several;
}

RankCells::Halo RankCells::leaf_halo() const {
    const auto count = static_cast<std::size_t>(ranks());
    Halo out{.to = std::vector<std::vector<std::int32_t>>(count),
             .from = std::vector<std::vector<std::int32_t>>(count)};
    const auto own = own_leaves();
    const auto is_own = [&](std::int32_t leaf) { return own.first <= leaf && leaf < own.second; };
    const auto add = [&](std::vector<std::vector<std::int32_t>>& side, std::int32_t rank, std::int32_t leaf) {
        auto& leaves = side[static_cast<std::size_t>(rank)];
        if (leaves.empty() || leaves.back() != leaf) leaves.push_back(leaf);
    };
    const auto meet = [&](std::int32_t mine, std::int32_t other) {
        const auto rank = owner_of_leaf(other);
        add(out.to, rank, mine);
        add(out.from, rank, other);
    };
    for (std::int32_t leaf = 0; leaf < std::ssize(lists_.leaves); ++leaf) {
        const auto n = static_cast<std::size_t>(leaf);
        for (auto k = lists_.direct.first[n]; k < lists_.direct.first[n + 1]; ++k) {
            const auto partner = lists_.direct.partners[static_cast<std::size_t>(k)];
            if (is_own(leaf) == is_own(partner)) continue;
            if (tree_.self()) // either may be computed where the other is
                meet(is_own(leaf) ? leaf : partner, is_own(leaf) ? partner : leaf);
            else if (is_own(leaf))
                add(out.from, owner_of_leaf(partner), partner);
            else
                add(out.to, owner_of_leaf(leaf), partner);
        }
    }
    std::vector<std::int32_t> holders;
    for (std::size_t cell = 0; cell + 1 < lists_.sources.first.size(); ++cell)
        for (auto k = lists_.sources.first[cell]; k < lists_.sources.first[cell + 1]; ++k) {
            const auto partner =
                static_cast<std::size_t>(lists_.sources.partners[static_cast<std::size_t>(k)]);
            const auto leaf = leaves_[partner].first;
            if (!is_own(leaf)) {
                if (holds_own(static_cast<std::int32_t>(cell))) add(out.from, owner_of_leaf(leaf), leaf);
                continue;
            }
            holders.clear();
            add_holders(static_cast<std::int32_t>(cell), holders);
            for (const auto rank : holders)
                if (rank != rank_) add(out.to, rank, leaf);
        }
    order(out);
    return out;
}

void RankCells::add_holders(std::int32_t cell, std::vector<std::int32_t>& out) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    for (auto rank = owner_of_leaf(begin); rank <= owner_of_leaf(end - 1); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        if (first_leaves_[r] < first_leaves_[r + 1]) out.push_back(rank);
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
        holders.clear();
        for (const auto neighbour : tree_.neighbours(parent))
            if (neighbour != no_cell) add_holders(neighbour, holders);
        std::sort(holders.begin(), holders.end());
        holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
        const bool shared = owner(parent) == several;
        for (const auto child : cell.children) {
            if (child == no_cell) continue;
            if (shared) needed_by_all(child);
            for (const auto rank : holders) needed_by(child, rank);
        }
    }
    for (std::size_t leaf = 0; leaf < lists_.leaves.size(); ++leaf)
        for (auto k = lists_.multipoles.first[leaf]; k < lists_.multipoles.first[leaf + 1]; ++k)
            needed_by(lists_.multipoles.partners[static_cast<std::size_t>(k)],
                      owner_of_leaf(static_cast<std::int32_t>(leaf)));
    order(out);
    return out;
}

bool RankCells::holds_own(std::int32_t cell) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto [own_begin, own_end] = own_leaves();
    return std::max(begin, own_begin) < std::min(end, own_end);
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
