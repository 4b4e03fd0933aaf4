// Boxes of a uniform quadtree and their interaction lists, as orbits of rotations by 90°, for host and GPU.
//
// Level l = 2 … depth has (2^l)² boxes; levels lie one after the other. Every box has 27 translations, as the
// paper counts: a list that leaves the square goes on at its other side. The side of a box is 1 here.
//
// A box (x, y) is child `quarter` q of its parent: even-even 0, odd-even 1, odd-odd 2, even-odd 3. The window
// of offsets of quarter q is that of quarter 0, −2 … 3 an axis without −1 … 1, turned by q·90°. It holds
// ten orbits: four with all four turns of an offset, five with two, one with one. Slot s of the 27 is a turn
// of an orbit.
#pragma once

#include "math/host_device.h"

#include <cstdint>

namespace farfield::m2l2d {

constexpr int list_size = 27, orbits = 10, full_orbits = 4, pair_orbits = 5, quarters = 4;
constexpr int first_level = 2, most_depth = 8;

FF_HD constexpr int boxes_an_axis(int level) { return 1 << level; }
FF_HD constexpr int boxes_of_level(int level) { return 1 << (2 * level); }
/// Where a level begins among all; of depth + 1: how many boxes there are.
FF_HD constexpr int level_begin(int level) { return (boxes_of_level(level) - 16) / 3; }
FF_HD constexpr int boxes_of_depth(int depth) { return level_begin(depth + 1); }
constexpr std::int64_t translations_of_depth(int depth) {
    return std::int64_t{list_size} * boxes_of_depth(depth);
}

FF_HD constexpr int level_of(int box) {
    int level = first_level;
    while (box >= level_begin(level + 1)) ++level;
    return level;
}

struct Offset {
    int x = 0, y = 0;
};
/// Turned by turns·90°.
FF_HD constexpr Offset turned(Offset offset, int turns) {
    switch (turns & 3) {
    case 1:
        return {-offset.y, offset.x};
    case 2:
        return {-offset.x, -offset.y};
    case 3:
        return {offset.y, -offset.x};
    default:
        return offset;
    }
}

/// The offset of turn 0 of an orbit, for quarter 0.
FF_HD constexpr Offset orbit_offset(int orbit) {
    const int y = static_cast<int>(0x2314231405 >> (36 - 4 * orbit)) & 15; // a digit an orbit: y + 2
    return {orbit < full_orbits ? 2 : 3, y - 2};
}
FF_HD constexpr int turns_of(int orbit) {
    return orbit < full_orbits ? 4 : (orbit < full_orbits + pair_orbits ? 2 : 1);
}
FF_HD constexpr int first_slot(int orbit) {
    return orbit < full_orbits ? 4 * orbit : 4 * full_orbits + 2 * (orbit - full_orbits); // the last one, too
}
FF_HD constexpr int orbit_of(int slot) {
    return slot < 4 * full_orbits ? slot / 4 : full_orbits + (slot - 4 * full_orbits) / 2;
}
FF_HD constexpr int turn_of(int slot) { return slot - first_slot(orbit_of(slot)); }

FF_HD constexpr Offset offset_of(int quarter, int slot) {
    return turned(orbit_offset(orbit_of(slot)), quarter + turn_of(slot));
}

FF_HD constexpr int quarter_of(int x, int y) {
    return (y & 1) != 0 ? ((x & 1) != 0 ? 2 : 3) : ((x & 1) != 0 ? 1 : 0);
}
FF_HD constexpr Offset child_of(int quarter) {
    return {quarter == 1 || quarter == 2 ? 1 : 0, quarter >= 2 ? 1 : 0};
}

/// A box by its number among all.
struct Box {
    int level = first_level, x = 0, y = 0;
};
FF_HD constexpr Box box_at(int box) {
    const int level = level_of(box), within = box - level_begin(level);
    return {level, within & (boxes_an_axis(level) - 1), within >> level};
}
FF_HD constexpr int number_of(const Box& box) {
    return level_begin(box.level) + (box.y << box.level) + box.x;
}

/// The box at an offset, beyond an edge at the other side.
FF_HD constexpr Box at_offset(const Box& box, Offset offset) {
    const int mask = boxes_an_axis(box.level) - 1;
    return {box.level, (box.x + offset.x) & mask, (box.y + offset.y) & mask};
}

/// The slot in the list of `other` quarter whose offset is that of (quarter, slot) backwards.
FF_HD constexpr int slot_back(int quarter, int slot, int other) {
    return first_slot(orbit_of(slot)) + ((quarter + turn_of(slot) + 2 - other) & 3);
}

/// The same boxes as our kernels have them: parents of a level row by row, in groups of 32. The group of a
/// short level has empty places. A group holds [quarter][number of an expansion][lane].
constexpr int lanes = 32;
FF_HD constexpr int parents_an_axis(int level) { return 1 << (level - 1); }
FF_HD constexpr int parents_of_level(int level) { return 1 << (2 * (level - 1)); }
FF_HD constexpr int groups_of_level(int level) {
    const int parents = parents_of_level(level);
    return parents < lanes ? 1 : parents / lanes;
}
/// Where a level's groups begin among all; of depth + 1: how many there are.
FF_HD constexpr int group_begin(int level) {
    int begin = 0;
    for (int above = first_level; above < level; ++above) begin += groups_of_level(above);
    return begin;
}
FF_HD constexpr int groups_of_depth(int depth) { return group_begin(depth + 1); }
/// Where number 0 of a parent's quarter lies. `group` is the level's first, whose parents count from 0. The
/// next number is `lanes` further.
FF_HD constexpr int place_of(int group, int parent, int quarter, int numbers) {
    return ((group + parent / lanes) * quarters + quarter) * numbers * lanes + parent % lanes;
}

/// What leads from a box of a quarter to the box at a slot: steps of the parent, and the quarter there.
struct Step {
    int x, y, quarter; // no first values: kernels keep tables of them in shared memory
};
FF_HD constexpr Step step_of(int quarter, int slot) {
    const auto offset = offset_of(quarter, slot);
    const auto child = child_of(quarter);
    const int x = child.x + offset.x, y = child.y + offset.y; // may be negative: >> rounds down
    return {x >> 1, y >> 1, quarter_of(x, y)};
}

} // namespace farfield::m2l2d
