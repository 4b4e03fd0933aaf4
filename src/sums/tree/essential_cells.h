// The cells of a tree over ranks that one of them needs: the locally essential tree of Warren and Salmon
// (Supercomputing '93, 12). They are those that hold its leaves, and whatever meets these by the lists: the
// neighbours with their children, what lies within neighbours of its leaves, and the cells of several ranks
// with their children, whose expansions all ranks gather alike.
#pragma once

#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

struct EssentialCells {
    std::vector<std::int32_t> numbers;     ///< rising
    std::vector<std::int32_t> new_numbers; ///< by cell of the tree, as Octree::part takes them
};

/// @param leaves  leaves_in_order, and `within` of them
/// @param tree  over ranks; from now on it knows the neighbours of all cells that hold leaves of this rank
/// @param first_leaves  rank r has leaves [first_leaves[r], first_leaves[r + 1])
/// @param few  as near_lists has it
EssentialCells find_essential_cells(Octree& tree, std::span<const LeafRange> within,
                                    std::span<const std::int32_t> leaves,
                                    std::span<const std::int32_t> first_leaves, int rank, std::int32_t few,
                                    int threads);

} // namespace farfield
