// The walk of a node of targets through the tree of sources: which cells act on it by their expansions, and
// which sources point by point.
#pragma once

#include "sums/direct/cpu/tiles.h"
#include "sums/treecode/cells.h"
#include "sums/treecode/target_tree.h"

#include <cstdint>
#include <vector>

namespace farfield {

/// What acts on each target of a group.
struct GroupInteractions {
    std::vector<std::int32_t> cells;
    std::vector<BlockSource> near; ///< the group itself comes first where targets are the sources
};

/// What acts on a node of targets.
struct Interactions : GroupInteractions {
    std::vector<std::int32_t> local; ///< through the node's local expansion
    std::vector<std::int32_t> rest;  ///< what the node's children are to look at
    std::vector<std::int32_t> stack; ///< of the walk

    void clear() {
        cells.clear();
        local.clear();
        near.clear();
        rest.clear();
    }
};

class Walk {
public:
    /// Cells and tree must stay as they are.
    Walk(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape, double softening);

    /// The largest cells.
    [[nodiscard]] std::vector<std::int32_t> roots() const;
    /// @param from  cells that together hold all sources that act on the node, in the order of the tree
    void find(const TargetNode& node, const std::vector<std::int32_t>& from, Interactions& out) const;

private:
    /// What errors on a node are compared with, and what reaches of cells are to be multiplied by.
    struct Scales {
        double field = 0.0, potential = 0.0;
        double field_reach = 0.0, potential_reach = 0.0;
    };
    struct Judged;
    [[nodiscard]] Scales scales_of(const TargetNode& node, std::vector<std::int32_t>& stack) const;
    void open(const SourceCell& cell, std::vector<std::int32_t>& stack) const;
    [[nodiscard]] bool acts_by_expansion(const Judged& node, const SourceCell& cell) const;
    [[nodiscard]] bool acts_through_local(const Judged& node, const SourceCell& cell) const;

    const Octree& tree_;
    const SourceCells& cells_;
    const TreecodeShape& shape_;
    double softening2_;
    double least_;
    bool have_local_;
};

} // namespace farfield
