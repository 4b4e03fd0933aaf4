// How a mutual sum over blocks is divided among threads, as a pure function of the lists. Consecutive blocks
// form a group, worked through in order by one thread. What a group computes for its own blocks goes where
// the results are; what it computes for blocks of other groups goes to a place apart, one for each such
// block, and is added at the end, group by group. So nothing is locked, and the order of all additions is
// that of the blocks, for any number of threads.
#pragma once

#include "base/aligned.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/points/block_lists.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

struct MutualDivision {
    /// Group g has blocks [groups[g], groups[g + 1]).
    std::vector<std::int32_t> groups;
    /// Sources of each block as the loop takes them, those of block b from sources_first[b] on. The own block
    /// comes first, if blocks act on themselves; runs that follow each other in both places are one.
    RawVector<BlockSource> sources;
    std::vector<std::int64_t> sources_first;
    /// Places apart that hold sums of block b: apart[apart_first[b]] …, in the order of the groups.
    std::vector<std::int64_t> apart;
    std::vector<std::int32_t> apart_first;
    std::vector<std::int64_t> group_apart; ///< those of group g: [group_apart[g], group_apart[g + 1])
    std::int64_t points_apart = 0;         ///< places apart, all together
};

/// Points in a group: from their number alone, as the results depend on it. Larger groups leave less apart,
/// smaller ones occupy more threads.
std::int64_t mutual_group_points(std::int64_t points);

/// `MutualDivision::groups` of blocks that hold so many points.
std::vector<std::int32_t> mutual_groups(std::span<const BlockRange> blocks, std::int64_t points);

/// For lists that `check_mutual_lists` accepts.
MutualDivision divide_mutual(const BlockLists& lists, std::int64_t points, int threads = 1);
/// The same with other groups, which follow each other and hold all blocks.
MutualDivision divide_mutual(const BlockLists& lists, std::vector<std::int32_t> groups, int threads);

/// Places apart that groups of blocks `filled_by` fill with sums of blocks `filled_for`, in the order of the
/// latter; [begin, end) each, and `filled_by` begins and ends with groups.
std::vector<std::pair<std::int64_t, std::int64_t>>
places_apart(const MutualDivision& division, std::span<const BlockRange> blocks,
             std::pair<std::int32_t, std::int32_t> filled_by,
             std::pair<std::int32_t, std::int32_t> filled_for);

} // namespace farfield
