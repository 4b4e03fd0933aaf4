#include "sums/treecode/cell_shares.h"

#include <algorithm>

namespace farfield {
namespace {

// Rows of sources where those of a rank begin, and their end.
std::vector<std::int32_t> cuts_of(const Octree& tree, int ranks) {
    const auto rows = tree.source_count();
    std::vector<std::int32_t> cuts;
    for (std::int64_t rank = 0; rank <= ranks; ++rank)
        cuts.push_back(static_cast<std::int32_t>(rows * rank / ranks));
    for (const auto& cell : tree.cells()) {
        if (!cell.leaf) continue;
        const auto inside = [&](std::int32_t cut) {
            return cell.sources.begin < cut && cut < cell.sources.end;
        };
        for (auto cut = std::upper_bound(cuts.begin(), cuts.end(), cell.sources.begin);
             cut != cuts.end() && inside(*cut); ++cut)
            *cut = cell.sources.begin;
    }
    return cuts;
}

} // namespace

CellShares::CellShares(const Octree& tree, int ranks) : CellShares(tree, cuts_of(tree, ranks)) {}

CellShares::CellShares(const Octree& tree, std::span<const std::int32_t> cuts)
    : levels_(tree.levels()), ranges_(place_of(static_cast<int>(cuts.size()) - 1, 0)),
      below_shared_(cuts.size() - 1) {
    constexpr int several = -1;
    const auto rank_of = [&](const BlockRange& sources) {
        const auto next = std::upper_bound(cuts.begin(), cuts.end() - 1, sources.begin);
        return sources.end <= *next ? static_cast<int>(next - cuts.begin()) - 1 : several;
    };
    for (int level = levels_ - 1; level >= 0; --level)
        for (auto number = tree.level_begin(level); number < tree.level_begin(level + 1); ++number) {
            const auto& cell = tree.cell(number);
            if (cell.sources.size() == 0) continue;
            const int rank = rank_of(cell.sources);
            if (rank != several) {
                auto& range = ranges_[place_of(rank, level)];
                if (range.size() == 0) range.begin = number;
                range.end = number + 1;
                continue;
            }
            shared_.push_back(number);
            for (const auto child : cell.children) {
                if (child == no_cell || tree.cell(child).sources.size() == 0) continue;
                if (const int of = rank_of(tree.cell(child).sources); of != several)
                    below_shared_[static_cast<std::size_t>(of)].push_back(child);
            }
        }
}

} // namespace farfield
