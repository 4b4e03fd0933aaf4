// Which boxes a block of our kernels has: 32 parents side by side, a lane a parent, and a warp for each of
// some quarters, so that a warp has one list of offsets.
#pragma once

#include "studies/m2l_2d/cuda/device_problem.cuh"

namespace farfield::m2l2d {

constexpr int lanes = 32;

/// Groups of 32 parents of a level, or fewer.
FF_HD constexpr int groups_of_level(int level) {
    const int parents = parents_of_level(level);
    return parents < lanes ? 1 : parents / lanes;
}
FF_HD constexpr int groups_of_depth(int depth) {
    int groups = 0;
    for (int level = first_level; level <= depth; ++level) groups += groups_of_level(level);
    return groups;
}

/// Groups of the deepest level come first: short levels fill the end.
struct Lane {
    int level = 0, parents = 0, first = 0, parent = 0, x = 0, y = 0; ///< `first` of the group
    bool exists = false;

    FF_HD Lane(int group, int lane, int depth) {
        level = depth;
        while (group >= groups_of_level(level)) group -= groups_of_level(level--);
        parents = parents_of_level(level);
        first = group * lanes;
        parent = first + lane;
        exists = parent < parents;
        if (!exists) parent = parents - 1;
        x = parent & (parents_an_axis(level) - 1);
        y = parent >> (level - 1);
    }
    /// The parent at a step, beyond an edge at the other side.
    [[nodiscard]] FF_HD int parent_at(const Step& step) const {
        const int mask = parents_an_axis(level) - 1;
        return (((y + step.y) & mask) << (level - 1)) + ((x + step.x) & mask);
    }
    /// Where the numbers of the level begin, `numbers` a box.
    [[nodiscard]] FF_HD std::size_t begin(int numbers) const {
        return static_cast<std::size_t>(level_begin(level)) * static_cast<std::size_t>(numbers);
    }
};

} // namespace farfield::m2l2d
