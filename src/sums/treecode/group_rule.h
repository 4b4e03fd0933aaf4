// Which targets share a walk: one rule for CPUs (target_tree.cpp) and GPUs (cuda/device_groups.cu).
#pragma once

#include "sums/tree/tree_view.h"

#include <cstdint>

namespace farfield {

/// Calls run(range) for cells with at most `most` targets that become one group, and large(k) for each with
/// more, in the order of the cells; targets_of(k) is the range of cell k, empty where there is none. Cells
/// that follow each other are one group as long as they hold no more together and no large cell lies in the
/// box around them, of which the group would accept nothing. Of a family k is the octant (or quadrant). Of
/// other cells the place is not known, and none become one beside a large one.
template <class TargetsOf, class Run, class Large>
FF_HD void for_runs(int cells, bool family, int most, const TargetsOf& targets_of, const Run& run,
                    const Large& large) {
    unsigned crowded = 0; // octants with many targets
    for (int k = 0; k < cells; ++k)
        if (targets_of(k).size() > most) crowded |= family ? 1U << k : 1U;
    const auto box_is_clear = [&](int low, int high) {
        if (!family) return crowded == 0;
        for (int k = 0; k < cells; ++k)
            if ((crowded >> k & 1U) != 0 && (k & low) == low && (k | high) == high) return false;
        return true;
    };
    BlockRange open{0, 0};
    int low = 0, high = 0; // octants at the corners of the box around an open group
    const auto close = [&] {
        if (open.size() > 0) run(open);
        open = {0, 0};
    };
    for (int k = 0; k < cells; ++k) {
        const BlockRange range = targets_of(k);
        if (range.size() == 0) continue;
        if (range.size() > most) {
            close();
            large(k);
            continue;
        }
        if (open.size() > 0 && open.end == range.begin && range.end - open.begin <= most &&
            box_is_clear(low & k, high | k)) {
            open.end = range.end;
            low &= k;
            high |= k;
            continue;
        }
        close();
        open = range;
        low = high = k;
    }
    close();
}

/// Calls each(range) for parts of a leaf with more than `most` targets: each is a group.
template <class Each>
FF_HD void for_parts(BlockRange targets, int most, const Each& each) {
    for (auto begin = targets.begin; begin < targets.end; begin += most)
        each(BlockRange{begin, begin + most < targets.end ? begin + most : targets.end});
}

/// Calls each(range) for the groups among children of a cell, or of none: cells of level 0.
template <class Each>
FF_HD void for_groups(const TreeView& tree, std::int32_t parent, int most, const Each& each) {
    const bool family = parent != TreeView::none;
    const auto cell_of = [&](int k) { return family ? tree.child(parent, k) : tree.coarse_cells[k]; };
    for_runs(
        family ? tree.child_count() : tree.coarse * tree.coarse * tree.coarse, family, most,
        [&](int k) {
            const auto cell = cell_of(k);
            return cell == TreeView::none ? BlockRange{0, 0} : tree.targets[cell];
        },
        each,
        [&](int k) {
            if (const auto cell = cell_of(k); tree.is_leaf(cell)) for_parts(tree.targets[cell], most, each);
        });
}

} // namespace farfield
