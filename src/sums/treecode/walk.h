// The walk of a group of targets through the tree: which cells act on it by their expansions, and which
// sources point by point.
#pragma once

#include "sums/direct/cpu/tiles.h"
#include "sums/treecode/cells.h"

#include <cstdint>
#include <vector>

namespace farfield {

/// Targets that share a walk: they lie one after the other in the order of the tree.
struct TargetGroup {
    BlockRange targets{};
    double centre[3] = {0.0, 0.0, 0.0}; ///< of a box around them
    double half[3] = {0.0, 0.0, 0.0};   ///< its half sides
};

/// The groups of a tree, in its order: cells with at most so many targets,
/// or some of one parent that lie side by side, or parts of leaves.
std::vector<TargetGroup> target_groups(const Octree& tree, std::int32_t most, int threads);

/// What acts on a group.
struct Interactions {
    std::vector<std::int32_t> cells;
    /// The group itself comes first where targets are the sources.
    std::vector<BlockSource> near;
    std::vector<std::int32_t> stack; ///< of the walk

    void clear() {
        cells.clear();
        near.clear();
    }
};

class Walk {
public:
    /// Cells and tree must stay as they are.
    Walk(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape, double softening);
    void find(const TargetGroup& group, Interactions& out) const;

private:
    /// Reaches of cells are to be multiplied by these.
    struct Scales {
        double field = 0.0;
        double potential = 0.0;
    };
    [[nodiscard]] Scales scales_of(const TargetGroup& group, std::vector<std::int32_t>& stack) const;
    void open(const SourceCell& cell, std::vector<std::int32_t>& stack) const;
    void push_roots(std::vector<std::int32_t>& stack) const;
    [[nodiscard]] double square_distance(const TargetGroup& group, const SourceCell& cell) const;

    const Octree& tree_;
    const SourceCells& cells_;
    const TreecodeShape& shape_;
    double softening2_;
    double least_;
};

} // namespace farfield
