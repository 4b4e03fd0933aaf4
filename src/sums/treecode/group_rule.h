// Which targets share a walk on a GPU (cuda/device_groups.cu): a formula of the tree, for the host, too.
#pragma once

#include "sums/tree/tree_view.h"

#include <cstdint>

namespace farfield {

/// Calls each(range) for the groups among children of a cell, or of none: cells of level 0. Children with at
/// most `most` targets that follow each other are one group as long as they hold no more together, unless one
/// beside them holds more: their box could lie around that one, and the group would accept none of its cells.
/// Of a leaf with more targets each part is a group.
template <class Each>
FF_HD void for_groups(const TreeView& tree, std::int32_t parent, int most, const Each& each) {
    const int children =
        parent == TreeView::none ? tree.coarse * tree.coarse * tree.coarse : tree.child_count();
    const auto cell_of = [&](int k) {
        return parent == TreeView::none ? tree.coarse_cells[k] : tree.child(parent, k);
    };
    bool crowded = false;
    for (int k = 0; k < children; ++k)
        if (const auto cell = cell_of(k); cell != TreeView::none)
            crowded = crowded || tree.targets[cell].size() > most;
    BlockRange open{0, 0};
    const auto close = [&] {
        if (open.size() > 0) each(open);
        open = {0, 0};
    };
    for (int k = 0; k < children; ++k) {
        const auto cell = cell_of(k);
        if (cell == TreeView::none) continue;
        const auto range = tree.targets[cell];
        if (range.size() == 0) continue;
        if (range.size() > most) {
            close();
            if (!tree.is_leaf(cell)) continue;
            for (auto begin = range.begin; begin < range.end; begin += most)
                each(BlockRange{begin, begin + most < range.end ? begin + most : range.end});
            continue;
        }
        if (!crowded && open.size() > 0 && open.end == range.begin && range.end - open.begin <= most) {
            open.end = range.end;
            continue;
        }
        close();
        open = range;
    }
    close();
}

} // namespace farfield
