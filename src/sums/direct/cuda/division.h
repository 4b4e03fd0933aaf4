// How a symmetric sum is cut, as pure functions. Tiles of bodies meet at distances around a ring
// (symmetric.cuh). The distances are cut into groups, their number a power of two that depends on the number
// of tiles alone; partial sums of a group are added in order, groups as the leaves of a binary tree. A part
// of the work is a run of groups: it adds up the subtrees that lie within its run, and the sums of subtrees
// are all that parts have to exchange. So the order of every addition is fixed, whoever makes it: the bits
// depend neither on the number of parts nor on the workspace.
#pragma once

#include "math/host_device.h"

#include <cstdint>
#include <vector>

namespace farfield::cuda {

constexpr int most_groups = 64; ///< leaves of the tree; also the largest number of parts

/// Tiles around a ring, and the groups of their distances 0 … tiles/2.
struct Ring {
    int tiles = 1; ///< ≥ 1
    int groups = 1;

    FF_HD constexpr int distances() const { return tiles / 2 + 1; }
    FF_HD constexpr int first_distance(int group) const {
        return static_cast<int>(static_cast<std::int64_t>(group) * distances() / groups);
    }
};

constexpr Ring ring_of(int tiles) {
    Ring ring{tiles, 1};
    while (2 * ring.groups <= most_groups && 2 * ring.groups <= ring.distances()) ring.groups *= 2;
    return ring;
}

/// Partial sums of a launch over distances nearest … farthest lie in slots, by distance: one for distance 0,
/// where a tile meets itself, two for each other distance, but one where tiles are opposite each other on a
/// ring of even length and each has a single partner.
FF_HD constexpr int slot_of(int distance, int nearest) {
    return nearest == 0 && distance > 0 ? 2 * distance - 1 : 2 * (distance - nearest);
}
FF_HD constexpr int slots_of(int nearest, int farthest, int tiles) {
    const bool single = farthest == 0 || 2 * farthest == tiles;
    return slot_of(farthest, nearest) + (single ? 1 : 2);
}

/// Parts are numbered from 0; [begin, end) of `count` things, as equal as can be.
struct Interval {
    int begin = 0, end = 0;
    [[nodiscard]] constexpr int size() const { return end - begin; }
};
constexpr Interval interval_of_part(int count, int part, int parts) {
    const auto edge = [&](int p) { return static_cast<int>(static_cast<std::int64_t>(count) * p / parts); };
    return {edge(part), edge(part + 1)};
}

/// A subtree: groups first … first + groups − 1, a power of two of them, first a multiple of it.
struct Subtree {
    int first = 0, groups = 1;
    friend bool operator==(const Subtree&, const Subtree&) = default;
};

/// Adds the slots of one subtree, or of a stretch of distances where a single group is too much for the
/// workspace, and then the sums of earlier subtrees, as far as they complete larger ones.
struct Piece {
    Subtree subtree;
    int nearest = 0, farthest = 0; ///< distances
    int position = 0;              ///< where the sum goes on the stack of sums of subtrees
    int merges = 0;       ///< sums at position … position + merges − 1 that are added, the last first
    bool resumes = false; ///< goes on with the sum at position + merges, which the piece before left
    bool whole = false;   ///< completes the whole tree: the sum is the result and goes to no stack
};

/// One launch of the pair kernel and the pieces that follow it.
struct Slab {
    int nearest = 0, farthest = 0;
    std::vector<Piece> pieces;
};

/// What one part does.
struct Share {
    Ring ring;
    std::vector<Slab> slabs;
    std::vector<Subtree> subtrees; ///< left on the stack at the end, in order; none for the whole tree
    int slots = 0;                 ///< workspace needed
    int depth = 0;                 ///< most sums of subtrees on the stack at any time
};

/// The share of part `part` of `parts` with room for `most_slots` ≥ 2 slots.
Share share_of(const Ring& ring, int part, int parts, int most_slots);

/// For subtrees that make up the whole tree, in order: how many sums before it each is to be added to.
std::vector<int> merges_of(const std::vector<Subtree>& subtrees);

} // namespace farfield::cuda
