// A share of the targets of a tree, for one of several devices. On the host and on GPUs.
#pragma once

#include "sums/tree/tree_view.h"

#include <cstdint>

namespace farfield {

/// One of several equal parts: targets of the leaves that begin in rows [n·part/parts, n·(part + 1)/parts) of
/// the order of the tree. The tree of each part is that of all points.
struct TreeShare {
    int part = 0, parts = 1;

    [[nodiscard]] bool is_whole() const { return parts == 1; }
    [[nodiscard]] BlockRange rows_of(int count) const {
        const auto begin_of = [&](int p) {
            return static_cast<std::int32_t>(static_cast<std::int64_t>(count) * p / parts);
        };
        return {begin_of(part), begin_of(part + 1)};
    }
};

/// Targets of a cell that belong to a share. A leaf's belong to it where the first of them does; of other
/// cells it only matters whether they have some. @param all  the cell's targets @param rows  of the share
FF_HD inline BlockRange targets_in_share(BlockRange all, bool leaf, BlockRange rows) {
    if (leaf) {
        const bool is_own = all.size() > 0 && all.begin >= rows.begin && all.begin < rows.end;
        return is_own ? all : BlockRange{};
    }
    const BlockRange own{all.begin > rows.begin ? all.begin : rows.begin,
                         all.end < rows.end ? all.end : rows.end};
    return own.begin < own.end ? own : BlockRange{};
}

} // namespace farfield
