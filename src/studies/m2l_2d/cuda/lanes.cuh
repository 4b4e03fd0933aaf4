// Which boxes a warp of our kernels has: a quarter of 32 parents side by side, a lane a parent, so that a
// warp has one list of offsets.
#pragma once

#include "studies/m2l_2d/cuda/device_problem.cuh"

namespace farfield::m2l2d {

struct Lane {
    int level = first_level, begin = 0, parent = 0, x = 0, y = 0; ///< `begin`: the level's first group
    bool exists = false; ///< or in its place another one, whose results are not wanted

    FF_HD Lane(int group, int lane) {
        while (group - begin >= groups_of_level(level)) begin += groups_of_level(level++);
        parent = (group - begin) * lanes + lane;
        exists = parent < parents_of_level(level);
        if (!exists) parent = parents_of_level(level) - 1;
        x = parent & (parents_an_axis(level) - 1);
        y = parent >> (level - 1);
    }
    /// Number 0 of what the lane's own box has.
    [[nodiscard]] FF_HD int own_place(int quarter, int numbers) const {
        return place_of(begin, parent, quarter, numbers);
    }
    /// The same of the box at a step, beyond an edge at the other side.
    [[nodiscard]] FF_HD int place_at(const Step& step, int numbers) const {
        const int mask = parents_an_axis(level) - 1;
        const int there = (((y + step.y) & mask) << (level - 1)) + ((x + step.x) & mask);
        return place_of(begin, there, step.quarter, numbers);
    }
};

// −ln of an offset's length on its level, where a box has the side 2^−level.
FF_HD inline Value level_log(Value log, int level) {
    return {log.re + static_cast<float>(level) * 0.69314718f, log.im};
}

} // namespace farfield::m2l2d
