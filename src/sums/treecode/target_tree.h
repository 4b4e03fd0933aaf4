// The targets of a tree as nodes: groups that share a walk, and what holds groups.
#pragma once

#include "sums/points/block_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <vector>

namespace farfield {

/// Targets that lie one after the other in the order of the tree.
struct TargetNode {
    BlockRange targets{};
    double centre[3] = {0.0, 0.0, 0.0}; ///< of a box around them
    double half[3] = {0.0, 0.0, 0.0};   ///< its half sides
    std::int32_t first_child = 0;       ///< children lie one after the other, behind their parent
    std::int32_t children = 0;          ///< 0: a group
};

/// All nodes, the root first; none without targets. Groups are cells with at most `most` targets, or some of
/// one parent that lie side by side, or parts of leaves; other nodes are cells.
std::vector<TargetNode> target_nodes(const Octree& tree, std::int32_t most, int threads);

} // namespace farfield
