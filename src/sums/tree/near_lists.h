// What remains of an octree's pairs of cells when those of one level that are far enough apart are served by
// expansions (the V list): leaves that act point by point (U), and a leaf beside smaller cells, whose
// multipole expansion acts on the leaf's points (W), while the leaf's points act on their local expansion
// (X). The letters are those of Carrier, Greengard and Rokhlin 1988 (SIAM J. Sci. Stat. Comput. 9, 669).
#pragma once

#include "sums/points/block_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

struct NearLists {
    std::vector<std::int32_t> leaves; ///< numbers of cells, in the order of their points
    /// For each leaf, as numbers within `leaves`, the leaves whose sources act on its targets. Where targets
    /// are the sources: each pair once, with one of the two, and no leaf with itself. Otherwise all, itself
    /// among them.
    BlockRows direct;
    /// Of a periodic tree: for each leaf, the leaves of which an image across a face acts on its targets.
    /// Both of two leaves name the other. `direct` has none of these.
    BlockRows images;
    /// For each leaf, cells whose multipole expansions are evaluated at its targets.
    BlockRows multipoles;
    /// For each cell, cells whose sources are taken into its local expansion.
    BlockRows sources;
};

/// For `few`: a leaf and all smaller ones beside it act point by point.
constexpr std::int32_t all_points = std::numeric_limits<std::int32_t>::max();

/// Numbers of the leaves, in the order of their points.
std::vector<std::int32_t> leaves_in_order(const Octree& tree);

/// Leaves [begin, end), in the order of their points.
using LeafRange = std::pair<std::int32_t, std::int32_t>;

/// The leaves within each cell. @param leaves  leaves_in_order
std::vector<LeafRange> leaves_within(const Octree& tree, std::span<const std::int32_t> leaves);

/// The smaller of a leaf and a cell within a neighbour of the leaf meets the leaf by its expansions, and what
/// lies within it does, too.
bool meet_by_expansions(const Octree& tree, const TreeCell& leaf, const TreeCell& small, std::int32_t few);

/// @param few  smaller leaves that hold at most so many sources and targets act point by point, too
NearLists near_lists(const Octree& tree, std::int32_t few, int threads = 1);

} // namespace farfield
