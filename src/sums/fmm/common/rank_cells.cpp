#include "sums/fmm/common/rank_cells.h"

#include <algorithm>
#include <cstddef>

namespace farfield {

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

std::int32_t RankCells::owner(std::int32_t cell) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto next = std::upper_bound(first_leaves_.begin(), first_leaves_.end(), begin);
    if (next == first_leaves_.end() || *next < end) return several;
    return static_cast<std::int32_t>(next - first_leaves_.begin()) - 1;
}

bool RankCells::holds_own(std::int32_t cell) const {
    const auto [begin, end] = leaves_[static_cast<std::size_t>(cell)];
    const auto [own_begin, own_end] = own_leaves();
    return begin < own_end && own_begin < end;
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

std::vector<std::int32_t> RankCells::owned_cells(std::int32_t rank) const {
    std::vector<std::int32_t> out;
    const auto cells = static_cast<std::int32_t>(tree_.cells().size());
    for (std::int32_t cell = 0; cell < cells; ++cell)
        if (tree_.cell(cell).sources.size() > 0 && owner(cell) == rank) out.push_back(cell);
    return out;
}

} // namespace farfield
