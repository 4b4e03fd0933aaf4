#include "sums/tree/near_lists.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace farfield {
namespace {

struct Entry {
    std::int32_t target, partner;
};

constexpr std::size_t leaves_a_task = 256;

/// What some of the leaves find.
struct NearParts {
    std::vector<Entry> direct, images, multipoles, sources;
    bool in_order = true; ///< `direct` has the rows of these leaves alone, one after the other
};

/// Rows in the order in which their entries come.
BlockRows rows_of(std::size_t rows, const std::vector<NearParts>& parts,
                  std::vector<Entry> NearParts::*entries) {
    BlockRows out;
    out.first.assign(rows + 1, 0);
    for (const auto& part : parts)
        for (const auto& entry : part.*entries) ++out.first[static_cast<std::size_t>(entry.target) + 1];
    for (std::size_t row = 0; row < rows; ++row) out.first[row + 1] += out.first[row];
    auto next = out.first;
    out.partners.resize(static_cast<std::size_t>(out.first.back()));
    for (const auto& part : parts)
        for (const auto& [target, partner] : part.*entries)
            out.partners[static_cast<std::size_t>(next[static_cast<std::size_t>(target)]++)] = partner;
    return out;
}

/// Entries of rows [begin, end) alone, row by row.
bool are_in_order(const std::vector<Entry>& entries, std::size_t begin, std::size_t end) {
    if (entries.empty()) return true;
    return static_cast<std::size_t>(entries.front().target) >= begin &&
           static_cast<std::size_t>(entries.back().target) < end &&
           std::is_sorted(entries.begin(), entries.end(),
                          [](const Entry& a, const Entry& b) { return a.target < b.target; });
}

/// Rows of `direct`, if all parts have it in order.
BlockRows direct_rows(std::size_t rows, const std::vector<NearParts>& parts, int threads) {
    std::vector<std::size_t> begin{0}; // of each part
    for (const auto& part : parts) begin.push_back(begin.back() + part.direct.size());
    BlockRows out;
    out.first.assign(rows + 1, 0);
    out.partners.resize(begin.back());
    parallel_parts(
        threads, rows,
        [&](std::size_t first, std::size_t last) {
            const auto number = first / leaves_a_task;
            const auto& entries = parts[number].direct;
            std::size_t at = 0;
            for (auto row = first; row < last; ++row) {
                for (; at < entries.size() && entries[at].target == static_cast<std::int32_t>(row); ++at)
                    out.partners[begin[number] + at] = entries[at].partner;
                out.first[row + 1] = static_cast<std::int32_t>(begin[number] + at);
            }
        },
        leaves_a_task);
    return out;
}

/// The distance of a cell from a larger or equal one, in its own widths, on the axis where they are farthest
/// apart; of a periodic tree that of its nearest image.
int distance(const Octree& tree, const TreeCell& large, const TreeCell& small) {
    const int levels = small.level - large.level;
    const auto image = tree.image_near(small, large);
    int most = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int first = large.index[axis] << levels;
        const int last = first + (1 << levels) - 1;
        const int index = small.index[axis] + image[axis] * tree.across(small.level);
        most = std::max({most, first - index, index - last});
    }
    return most;
}

class Finder {
public:
    Finder(const Octree& tree, std::int32_t few) : tree_(tree), few_(few) {
        out_.leaves = leaves_in_order(tree);
        leaf_number_.assign(tree.cells().size(), no_cell);
        for (std::size_t i = 0; i < out_.leaves.size(); ++i)
            leaf_number_[static_cast<std::size_t>(out_.leaves[i])] = static_cast<std::int32_t>(i);
    }

    NearLists find(int threads) {
        const auto parts = parallel_results(
            threads, out_.leaves.size(),
            [&](std::size_t begin, std::size_t end) {
                NearParts found;
                for (auto n = begin; n < end; ++n) look_around(out_.leaves[n], found);
                found.in_order = are_in_order(found.direct, begin, end);
                return found;
            },
            leaves_a_task);
        const bool in_order =
            std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.in_order; });
        out_.direct = in_order ? direct_rows(out_.leaves.size(), parts, threads)
                               : rows_of(out_.leaves.size(), parts, &NearParts::direct);
        out_.images = rows_of(out_.leaves.size(), parts, &NearParts::images);
        out_.multipoles = rows_of(out_.leaves.size(), parts, &NearParts::multipoles);
        out_.sources = rows_of(tree_.cells().size(), parts, &NearParts::sources);
        return std::move(out_);
    }

private:
    void look_around(std::int32_t leaf, NearParts& found) const {
        for (const auto other : tree_.neighbours(leaf)) {
            if (other == no_cell) continue;
            if (tree_.cell(other).leaf)
                acts_directly(leaf, other, found);
            else
                descend(leaf, other, found);
        }
    }

    /// `target` gets what the sources of `source` do to it; the two are leaves.
    void acts_directly(std::int32_t target, std::int32_t source, NearParts& found) const {
        const Entry entry{leaf_number_[static_cast<std::size_t>(target)],
                          leaf_number_[static_cast<std::size_t>(source)]};
        if (tree_.image_near(tree_.cell(source), tree_.cell(target)) != std::array{0, 0, 0}) {
            if (tree_.cell(target).targets.size() > 0 && tree_.cell(source).sources.size() > 0)
                found.images.push_back(entry);
            return;
        }
        const bool wanted =
            tree_.self() ? entry.target < entry.partner
                         : tree_.cell(target).targets.size() > 0 && tree_.cell(source).sources.size() > 0;
        if (wanted) found.direct.push_back(entry);
    }

    /// A leaf and the cells within a neighbour that is divided.
    void descend(std::int32_t leaf, std::int32_t divided, NearParts& found) const {
        const auto& large = tree_.cell(leaf);
        for (const auto child : tree_.cell(divided).children) {
            if (child == no_cell) continue;
            const auto& small = tree_.cell(child);
            if (meet_by_expansions(tree_, large, small, few_)) {
                if (large.targets.size() > 0 && small.sources.size() > 0)
                    found.multipoles.push_back({leaf_number_[static_cast<std::size_t>(leaf)], child});
                if (large.sources.size() > 0 && small.targets.size() > 0)
                    found.sources.push_back({child, leaf});
            } else if (small.leaf) {
                acts_directly(leaf, child, found);
                acts_directly(child, leaf, found);
            } else {
                descend(leaf, child, found);
            }
        }
    }

    const Octree& tree_;
    std::int32_t few_;
    NearLists out_;
    std::vector<std::int32_t> leaf_number_; ///< by cell
};

} // namespace

// Depth first along the curve, which the cells of level 0 and children by octant follow.
std::vector<std::int32_t> leaves_in_order(const Octree& tree) {
    std::vector<std::int32_t> leaves, waiting;
    if (tree.levels() == 0) return leaves;
    for (auto cell = tree.level_begin(1); cell-- > 0;) waiting.push_back(cell);
    while (!waiting.empty()) {
        const auto number = waiting.back();
        waiting.pop_back();
        const auto& cell = tree.cell(number);
        if (cell.leaf) leaves.push_back(number);
        for (std::size_t octant = 8; octant-- > 0;)
            if (cell.children[octant] != no_cell) waiting.push_back(cell.children[octant]);
    }
    return leaves;
}

// Children have higher numbers than their parents.
std::vector<LeafRange> leaves_within(const Octree& tree, std::span<const std::int32_t> leaves) {
    const auto cells = tree.cells();
    std::vector<LeafRange> within(cells.size());
    for (std::size_t n = 0; n < leaves.size(); ++n) {
        const auto leaf = static_cast<std::int32_t>(n);
        within[static_cast<std::size_t>(leaves[n])] = {leaf, leaf + 1};
    }
    for (std::size_t number = cells.size(); number-- > 0;) {
        const auto parent = cells[number].parent;
        if (parent == no_cell) continue;
        const auto [begin, end] = within[number];
        auto& above = within[static_cast<std::size_t>(parent)];
        above = above.first == above.second
                    ? within[number]
                    : LeafRange{std::min(above.first, begin), std::max(above.second, end)};
    }
    return within;
}

bool meet_by_expansions(const Octree& tree, const TreeCell& leaf, const TreeCell& small, std::int32_t few) {
    if (distance(tree, leaf, small) <= tree.shape().separation) return false;
    const bool is_small =
        few == all_points || (small.leaf && std::max(small.sources.size(), small.targets.size()) <= few);
    return !is_small;
}

NearLists near_lists(const Octree& tree, std::int32_t few, int threads) {
    return Finder(tree, few).find(threads);
}

} // namespace farfield
