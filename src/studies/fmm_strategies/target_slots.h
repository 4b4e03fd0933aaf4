// The order of targets in the kernels that serve many of them at once: by octant within their parents,
// because boxes of one octant have sources at the same offsets, then by level. Each (octant, level) is filled
// up to whole tiles with empty slots.
#pragma once

#include "math/host_device.h"
#include "studies/fmm_strategies/boxes.h"

#include <vector>

namespace farfield::strategies {

constexpr int tile_targets = 64;

struct TargetSlot {
    int level = 0; ///< 0: empty
    Box box{};
    FF_HD constexpr int octant() const { return (box.i & 1) * 4 + (box.j & 1) * 2 + (box.k & 1); }
    /// Among all boxes.
    FF_HD constexpr int global() const { return level_begin(level) + box_id(box, boxes_an_axis(level)); }
};

inline std::vector<TargetSlot> target_slots(int depth) {
    std::vector<TargetSlot> slots;
    for (int octant = 0; octant < 8; ++octant)
        for (int level = first_level; level <= depth; ++level) {
            const int half = boxes_an_axis(level) / 2;
            for (int n = 0; n < half * half * half; ++n) {
                const auto parent = box_at(n, half);
                slots.push_back({level,
                                 {2 * parent.i + (octant >> 2), 2 * parent.j + (octant >> 1 & 1),
                                  2 * parent.k + (octant & 1)}});
            }
            while (slots.size() % tile_targets != 0) slots.push_back({});
        }
    return slots;
}

/// The source among all boxes and its operator; source −1: none. Empty slots have none.
FF_HD constexpr Neighbour source_of(const TargetSlot& slot, int n) {
    if (slot.level == 0) return {};
    auto found = neighbour_of(slot.box, n, boxes_an_axis(slot.level));
    if (found.source >= 0) found.source += level_begin(slot.level);
    return found;
}
/// The operator that all targets of an octant have for neighbour n; −1: near.
FF_HD constexpr int operator_of(const TargetSlot& slot, int n) {
    const int x = offset_of(slot.box.i, n / 36), y = offset_of(slot.box.j, n / 6 % 6),
              z = offset_of(slot.box.k, n % 6);
    return is_near(x, y, z) ? -1 : operator_id(x, y, z);
}

} // namespace farfield::strategies
