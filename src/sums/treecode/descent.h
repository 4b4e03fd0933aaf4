// From the largest node of targets down to groups: what acts on a node through its local expansion goes on to
// its children, and groups meet what is left.
#pragma once

#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/treecode/cells.h"
#include "sums/treecode/evaluation.h"
#include "sums/treecode/shape.h"
#include "sums/treecode/target_tree.h"
#include "sums/treecode/walk.h"

#include <memory>
#include <span>
#include <vector>

namespace farfield {

/// Seconds of one thread, and pairs.
struct DescentWork {
    double walk = 0.0, local = 0.0, far = 0.0, near = 0.0;
    double near_pairs = 0.0, far_pairs = 0.0;

    void add(const DescentWork& other);
    void add_ranks(comm::Transport& ranks); ///< that of all others
};

/// Adds sums at all targets. `T`: float, or double where the shape is wide.
template <class T>
DescentWork descend(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                    std::span<const TargetNode> nodes, const BlockSumTask& task);

/// What acts on a group of targets.
struct GroupSources {
    TargetNode group;
    std::unique_ptr<const LocalExpansion> local; ///< about its centre; null: none
    GroupInteractions from;
};

/// Rows in the order of the tree that a rank has.
struct OwnRows {
    BlockRange sources, targets;
    const TargetRows& x; ///< of these targets
};

/// The same of groups among own targets, in two parts, between which sources of others can be brought. The
/// first adds sums at groups that meet own sources alone one by one; task and sums have own rows, from 0 on.
/// It returns the others, in the order of the tree and with rows as the tree has them, in parts for threads.
template <class T>
std::vector<std::vector<GroupSources>> find_sources(const Octree& tree, const SourceCells& cells,
                                                    const TreecodeShape& shape,
                                                    std::span<const TargetNode> nodes, const OwnRows& own,
                                                    const BlockSumTask& task, DescentWork& work);
/// Adds sums at the groups. @param targets  whose rows groups and `task` name
template <class T>
void sum_groups(const TargetRows& targets, const SourceCells& cells, const TreecodeShape& shape, bool self,
                std::span<const std::vector<GroupSources>> groups, const BlockSumTask& task,
                DescentWork& work);

extern template DescentWork descend<float>(const Octree&, const SourceCells&, const TreecodeShape&,
                                           std::span<const TargetNode>, const BlockSumTask&);
extern template DescentWork descend<double>(const Octree&, const SourceCells&, const TreecodeShape&,
                                            std::span<const TargetNode>, const BlockSumTask&);
extern template std::vector<std::vector<GroupSources>>
find_sources<float>(const Octree&, const SourceCells&, const TreecodeShape&, std::span<const TargetNode>,
                    const OwnRows&, const BlockSumTask&, DescentWork&);
extern template std::vector<std::vector<GroupSources>>
find_sources<double>(const Octree&, const SourceCells&, const TreecodeShape&, std::span<const TargetNode>,
                     const OwnRows&, const BlockSumTask&, DescentWork&);
extern template void sum_groups<float>(const TargetRows&, const SourceCells&, const TreecodeShape&, bool,
                                       std::span<const std::vector<GroupSources>>, const BlockSumTask&,
                                       DescentWork&);
extern template void sum_groups<double>(const TargetRows&, const SourceCells&, const TreecodeShape&, bool,
                                        std::span<const std::vector<GroupSources>>, const BlockSumTask&,
                                        DescentWork&);

} // namespace farfield
