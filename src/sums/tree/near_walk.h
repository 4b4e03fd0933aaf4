// The near pairs of one cell (near_lists.h), found from that cell alone, so that all cells can look at once:
// below it, within its divided neighbours, and above it, among larger leaves. On the host and on GPUs.
#pragma once

#include "sums/tree/near_lists.h"
#include "sums/tree/tree_view.h"

namespace farfield {

/// How far down a walk goes at most: the levels of a tree.
constexpr int most_levels = 22;

/// The distance of a cell from a larger or equal one, in its own widths, on the axis where they are farthest
/// apart; in a periodic tree that of their nearest images.
/// (Formed from small − first alone, nvcc 13.0 made wrong distances of it for an H200.)
FF_HD inline int distance_between(const TreeView& tree, const CellPlace& large, const CellPlace& small) {
    const int levels = small.level - large.level;
    int most = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int first = large.index[axis] << levels;
        const int last = first + (1 << levels) - 1;
        int at = small.index[axis];
        if (tree.is_periodic()) {
            const int period = tree.coarse << small.level;
            const int apart = 2 * at - first - last; // of their middles, in halves
            at += apart > period ? -period : apart < -period ? period : 0;
        }
        const int before = first - at;
        const int behind = at - last;
        most = before > most ? before : most;
        most = behind > most ? behind : most;
    }
    return most;
}

/// A leaf's and a smaller cell's points act one by one, although they are apart: that takes less time.
FF_HD inline bool are_few(const TreeView& tree, std::int32_t small, std::int32_t few) {
    if (few == all_points) return true;
    return tree.is_leaf(small) && tree.sources[small].size() <= few &&
           tree.all_targets[small].size() <= few; // alike for all shares
}

/// The sources of the second act on targets of the first, if both have any. Leaves of a whole self sum always
/// have.
FF_HD inline bool acts(const TreeView& tree, std::int32_t target, std::int32_t source) {
    return (tree.self && !tree.shared) ||
           (tree.targets[target].size() > 0 && tree.sources[source].size() > 0);
}

/// What a leaf gets from a neighbour of its level or from within it: calls direct(leaf) or multipole(cell).
template <class Direct, class Multipole>
FF_HD void walk_below(const TreeView& tree, std::int32_t leaf, std::int32_t neighbour, std::int32_t few,
                      const Direct& direct, const Multipole& multipole) {
    if (tree.is_leaf(neighbour)) {
        const bool itself = tree.self && neighbour == leaf; // sums over pairs of its points are apart
        if (!itself && acts(tree, leaf, neighbour)) direct(neighbour);
        return;
    }
    std::int32_t path[most_levels];
    int octant[most_levels];
    path[0] = neighbour;
    octant[0] = 0;
    for (int depth = 0; depth >= 0;) {
        if (octant[depth] == tree.child_count()) {
            --depth;
            continue;
        }
        const auto cell = tree.child(path[depth], octant[depth]++);
        if (cell == TreeView::none) continue;
        if (distance_between(tree, tree.places[leaf], tree.places[cell]) > tree.separation &&
            !are_few(tree, cell, few)) {
            if (acts(tree, leaf, cell)) multipole(cell);
        } else if (tree.is_leaf(cell)) {
            if (acts(tree, leaf, cell)) direct(cell);
        } else {
            ++depth;
            path[depth] = cell;
            octant[depth] = 0;
        }
    }
}

/// What a larger leaf does to a cell: acts point by point, or its points are taken into the cell's local
/// expansion.
enum class FromAbove : std::int8_t { nothing, direct, points };

/// @param leaf  a neighbour of one of the cell's ancestors, or none
FF_HD inline FromAbove from_above(const TreeView& tree, std::int32_t cell, std::int32_t leaf,
                                  std::int32_t few) {
    if (leaf == TreeView::none || !tree.is_leaf(leaf)) return FromAbove::nothing;
    const auto& large = tree.places[leaf];
    // a cell above this one has what the leaf does to it already
    if (few != all_points && distance_between(tree, large, tree.places[tree.parents[cell]]) > tree.separation)
        return FromAbove::nothing;
    if (distance_between(tree, large, tree.places[cell]) > tree.separation && !are_few(tree, cell, few))
        return acts(tree, cell, leaf) ? FromAbove::points : FromAbove::nothing;
    return tree.is_leaf(cell) && acts(tree, cell, leaf) ? FromAbove::direct : FromAbove::nothing;
}

/// What a cell gets from larger leaves: calls direct(leaf), if it is a leaf itself, or points(leaf) where the
/// leaf's points are taken into the cell's local expansion.
template <class Direct, class Points>
FF_HD void walk_above(const TreeView& tree, std::int32_t cell, std::int32_t few, const Direct& direct,
                      const Points& points) {
    for (auto above = tree.parents[cell]; above != TreeView::none; above = tree.parents[above])
        for (int slot = 0; slot < tree.neighbour_count(); ++slot) {
            const auto leaf = tree.neighbour(above, slot);
            const auto what = from_above(tree, cell, leaf, few);
            if (what == FromAbove::direct) direct(leaf);
            if (what == FromAbove::points) points(leaf);
        }
}

} // namespace farfield
