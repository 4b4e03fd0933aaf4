// What the host learns of a tree on a GPU: one copy, at the end.
#pragma once

#include "sums/tree/near_walk.h"

#include <cstdint>

namespace farfield::cuda {

constexpr unsigned long long most_entries = (1ULL << 31) - 1;

struct TreeCounts {
    std::int32_t level_begin[most_levels + 2] = {};
    std::int32_t levels = 0;
    std::int32_t leaves = 0;
    std::int32_t first_leaf_level = 0;                    ///< no leaf lies above it
    std::int32_t octants[8 * (most_levels + 1)] = {};     ///< cells with targets, of each level and octant
    std::int32_t all_octants[8 * (most_levels + 1)] = {}; ///< of a share: the same of the whole tree
    std::int32_t missing_cells = 0;                       ///< the tree was given up: it takes so many cells
    std::int32_t deeper = 0;       ///< the tree was given up: cells would be divided below the sorted levels
    std::int32_t largest_leaf = 0; ///< targets
    std::int32_t long_rows = 0;    ///< some leaf lists more than a short row holds, or other than leaves
    std::int32_t direct = 0, multipoles = 0, points = 0; ///< entries of the lists
    unsigned long long entries = 0;                      ///< of all lists: at most `most_entries`
    unsigned long long pairs = 0;                        ///< of points that act one by one, directed
    BlockRange own_targets;                              ///< of a share: rows of the order of the tree
    /// Of a share: cells of each level from the first leaf that it forms to the last.
    BlockRange own_leaves[most_levels + 1];

    [[nodiscard]] FF_HD std::int32_t cells() const { return level_begin[levels]; }
};

} // namespace farfield::cuda
