// From the largest node of targets down to groups: what acts on a node through its local expansion goes on to
// its children, and groups meet what is left.
#pragma once

#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/treecode/cells.h"
#include "sums/treecode/shape.h"
#include "sums/treecode/target_tree.h"

#include <span>

namespace farfield {

/// Seconds of one thread, and pairs.
struct DescentWork {
    double walk = 0.0, local = 0.0, far = 0.0, near = 0.0;
    double near_pairs = 0.0, far_pairs = 0.0;

    void add(const DescentWork& other);
};

/// Adds sums at all targets. `T`: float, or double where the shape is wide.
template <class T>
DescentWork descend(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                    std::span<const TargetNode> nodes, const BlockSumTask& task);

extern template DescentWork descend<float>(const Octree&, const SourceCells&, const TreecodeShape&,
                                           std::span<const TargetNode>, const BlockSumTask&);
extern template DescentWork descend<double>(const Octree&, const SourceCells&, const TreecodeShape&,
                                            std::span<const TargetNode>, const BlockSumTask&);

} // namespace farfield
