// Which blocks of points act on which: the input of every near field. A block is a run of points that lie one
// after the other in their arrays, e.g. a leaf of a tree; blocks may be of any size, also empty, and start
// anywhere.
#pragma once

#include "base/aligned.h"
#include "math/host_device.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// Points [begin, end).
struct BlockRange {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    [[nodiscard]] FF_HD constexpr std::int32_t size() const { return end - begin; }
};

/// For each target block the source blocks that act on it, as compressed rows: those of target block b are
/// partners[first[b]] … partners[first[b + 1] − 1].
struct BlockLists {
    std::span<const BlockRange> targets;
    std::span<const BlockRange> sources;
    std::span<const std::int32_t> first; ///< one more than targets
    std::span<const std::int32_t> partners;
    /// Targets are points of the sources: target block b, a range of both, acts on itself too, but no point
    /// on itself. The lists then do not name it.
    bool own = false;

    [[nodiscard]] std::span<const std::int32_t> of(std::size_t target) const {
        const auto begin = static_cast<std::size_t>(first[target]);
        return partners.subspan(begin, static_cast<std::size_t>(first[target + 1]) - begin);
    }
};

/// Pairs of points that these lists stand for: what a rate counts.
std::int64_t count_pairs(const BlockLists& lists, int threads = 1);

/// Compressed rows that own their numbers.
struct BlockRows {
    std::vector<std::int32_t> first{0};
    RawVector<std::int32_t> partners;
};

/// Of lists whose targets are the sources, in which b names a where a names b, the half with a < b: each
/// pair of blocks once, as mutual sums take them. @throws InvalidArgument where b does not name a.
BlockRows half_of(const BlockLists& lists);

/// The inverse: lists in which b names a wherever a names b. Partners are in rising order.
BlockRows both_halves(const BlockLists& lists);

/// @throws InvalidArgument, with its number, for a row, range or partner that is out of bounds.
void check_lists(const BlockLists& lists, std::int64_t target_points, std::int64_t source_points);

/// The same for mutual sums: blocks also may not overlap, and no pair may be listed twice.
void check_mutual_lists(const BlockLists& lists, std::int64_t points, int threads = 1);

} // namespace farfield
