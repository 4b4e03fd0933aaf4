// Boxes of a uniform tree, their 6×6×6 neighbours, and which work a thread has: the loops of the slides "FMM
// goes GPU" (M2L Operation, FMM Tree Loops) as formulas for host and GPU.
//
// A level has 8^level boxes, dim = 2^level an axis; box (i, j, k) is (i·dim + j)·dim + k. The levels 2 …
// depth lie one after the other. A neighbour of the parent's neighbourhood is n = (ii·6 + jj)·6 + kk, ii, jj,
// kk = 0 … 5. An operator belongs to an offset from target to source, −3 … 3 an axis: 7³ of them.
#pragma once

#include "math/host_device.h"

#include <cmath>
#include <cstdint>

namespace farfield::strategies {

constexpr int neighbours = 216; ///< 6×6×6
constexpr int offsets = 343;    ///< 7×7×7
constexpr int first_level = 2;  ///< the first with boxes that are not near each other
constexpr int least_order = 1, most_order = 18, most_depth = 6;

FF_HD constexpr int boxes_an_axis(int level) { return 1 << level; }
FF_HD constexpr int boxes_of_level(int level) { return 1 << (3 * level); }
/// Where a level begins among all; of depth + 1: how many boxes there are.
FF_HD constexpr int level_begin(int level) {
    return (boxes_of_level(level) - boxes_of_level(first_level)) / 7;
}
FF_HD constexpr int boxes_of_depth(int depth) { return level_begin(depth + 1); }

struct Box {
    int i = 0, j = 0, k = 0;
};
FF_HD constexpr Box box_at(int box, int dim) { return {box / (dim * dim), box / dim % dim, box % dim}; }
FF_HD constexpr int box_id(const Box& box, int dim) { return (box.i * dim + box.j) * dim + box.k; }

/// Offset along an axis from the box to its neighbour ii: −2 … 3 of even boxes, −3 … 2 of odd ones.
FF_HD constexpr int offset_of(int i, int ii) { return ii - 2 - (i & 1); }
FF_HD constexpr int operator_id(int x, int y, int z) { return ((x + 3) * 7 + y + 3) * 7 + z + 3; }
FF_HD constexpr bool is_near(int x, int y, int z) {
    return x >= -1 && x <= 1 && y >= -1 && y <= 1 && z >= -1 && z <= 1; // ws = 1
}

/// The source that a target has as neighbour n, and the operator from it; source −1: near, or outside.
struct Neighbour {
    int source = -1; ///< of its level
    int op = -1;
};
FF_HD constexpr Neighbour neighbour_of(const Box& box, int n, int dim) {
    const int x = offset_of(box.i, n / 36), y = offset_of(box.j, n / 6 % 6), z = offset_of(box.k, n % 6);
    const Box source{box.i + x, box.j + y, box.k + z};
    const bool inside =
        source.i >= 0 && source.i < dim && source.j >= 0 && source.j < dim && source.k >= 0 && source.k < dim;
    if (!inside || is_near(x, y, z)) return {};
    return {box_id(source, dim), operator_id(x, y, z)};
}

/// l and m of place t of a half-stored expansion, t = l(l + 1)/2 + m.
struct Degree {
    int l = 0, m = 0;
};
FF_HD inline Degree degree_at(int t) {
    int l = static_cast<int>((std::sqrt(8.0f * static_cast<float>(t) + 1.0f) - 1.0f) * 0.5f);
    if (l * (l + 1) / 2 > t) --l; // a root that was rounded up
    if ((l + 1) * (l + 2) / 2 <= t) ++l;
    return {l, t - l * (l + 1) / 2};
}

/// What a group of lanes computes where loops are parallel: box, neighbour, l, m and, with `parallel_j`, j.
struct LoopIndex {
    int box = 0, n = 0, l = 0, m = 0, j = 0;
};
FF_HD inline LoopIndex loop_index(std::uint32_t group, int order, bool parallel_j) {
    const auto size = static_cast<std::uint32_t>((order + 1) * (order + 2) / 2);
    LoopIndex index;
    if (parallel_j) {
        const auto terms = static_cast<std::uint32_t>(order + 1);
        index.j = static_cast<int>(group % terms);
        group /= terms;
    }
    const auto degree = degree_at(static_cast<int>(group % size));
    index.l = degree.l;
    index.m = degree.m;
    group /= size;
    index.n = static_cast<int>(group % neighbours);
    index.box = static_cast<int>(group / neighbours);
    return index;
}
/// Groups of a level; fits 32 bits up to depth 4 and order 18.
constexpr std::uint64_t loop_groups(int level, int order, bool parallel_j) {
    const auto size = static_cast<std::uint64_t>((order + 1) * (order + 2) / 2);
    return static_cast<std::uint64_t>(boxes_of_level(level)) * neighbours * size *
           (parallel_j ? static_cast<std::uint64_t>(order + 1) : 1U);
}
/// Lanes of a group: the least power of two ≥ `items`, at most a warp.
constexpr int lanes_for(int items) {
    int lanes = 1;
    while (lanes < items && lanes < 32) lanes *= 2;
    return lanes;
}

/// Translations between boxes that are there and not near, of one level or of all from 2.
constexpr std::int64_t translations_of_level(int level) {
    const std::int64_t dim = boxes_an_axis(level);
    // along an axis the pairs (box, neighbour inside), and those of them at most 1 apart
    std::int64_t all = 0, near = 0;
    for (std::int64_t i = 0; i < dim; ++i)
        for (int ii = 0; ii < 6; ++ii) {
            const auto x = offset_of(static_cast<int>(i), ii);
            if (i + x < 0 || i + x >= dim) continue;
            ++all;
            near += x >= -1 && x <= 1 ? 1 : 0;
        }
    return all * all * all - near * near * near;
}
constexpr std::int64_t translations_of_depth(int depth) {
    std::int64_t sum = 0;
    for (int level = first_level; level <= depth; ++level) sum += translations_of_level(level);
    return sum;
}

} // namespace farfield::strategies
