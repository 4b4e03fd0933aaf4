// The targets of a tree as nodes: groups that share a walk, and what holds groups.
#pragma once

#include "base/aligned.h"
#include "sums/points/block_lists.h"
#include "sums/tree/octree.h"

#include <array>
#include <cstdint>
#include <span>
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
/// one parent that lie side by side, or parts of leaves; other nodes are cells. Without their boxes.
std::vector<TargetNode> target_nodes(const Octree& tree, std::int32_t most);

/// The boxes of groups whose targets are among these rows. @param x  of the rows, at least
void set_boxes_of_groups(std::span<TargetNode> nodes, const std::array<RawVector<double>, 3>& x,
                         BlockRange rows, int threads);
/// The boxes of all other nodes, from those of groups.
void set_boxes_of_others(std::span<TargetNode> nodes);

} // namespace farfield
