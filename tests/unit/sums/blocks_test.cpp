// How sums over blocks are planned: lists, groups of a mutual sum on a CPU, items and slots on a GPU.
#include "sums/points/block_lists.h"

#include "block_grid.h"
#include "sums/direct/cpu/blocks/mutual_division.h"
#include "sums/direct/cuda/blocks/plan.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

TEST(BlockLists, PairsAreCounted) {
    const std::vector<BlockRange> blocks{{0, 3}, {3, 3}, {3, 8}};
    const std::vector<std::int32_t> first{0, 2, 2, 3}, partners{1, 2, 0};
    EXPECT_EQ(count_pairs({blocks, blocks, first, partners, true}), 3 * (2 + 0 + 5) + 5 * (4 + 3));
    EXPECT_EQ(count_pairs({blocks, blocks, first, partners, false}), 3 * 5 + 5 * 3);
}

TEST(BlockLists, HalfHasEachPairOnce) {
    const auto grid = block_grid::uniform(100, 4, 1, false);
    const auto half = half_of(grid.lists());
    EXPECT_EQ(2 * half.partners.size(), grid.partners.size());
    const auto lists = grid.lists(half);
    check_mutual_lists(lists, 100);
    for (std::size_t b = 0; b < grid.blocks.size(); ++b)
        for (const auto partner : lists.of(b)) EXPECT_GT(partner, static_cast<std::int32_t>(b));
    auto broken = grid;
    broken.partners.front() = 63; // block 0 now names one that is not its neighbour
    EXPECT_THROW(half_of(broken.lists()), InvalidArgument);
}

std::string message(const BlockLists& lists, bool mutual) {
    try {
        mutual ? check_mutual_lists(lists, 10) : check_lists(lists, 10, 10);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(BlockLists, MistakesAreNamed) {
    const std::vector<BlockRange> good{{0, 4}, {4, 10}}, beyond{{0, 4}, {4, 11}},
        overlapping{{0, 5}, {4, 10}};
    const std::vector<std::int32_t> first{0, 1, 1}, partner{1}, none{2}, self{0}, falling{1, 0, 1},
        short_first{0, 1};
    EXPECT_EQ(message({good, good, first, partner, true}, true), "accepted");
    EXPECT_NE(message({beyond, good, first, partner, false}, false).find("target block 1 is [4, 11)"),
              std::string::npos);
    EXPECT_NE(message({good, beyond, first, partner, false}, false).find("source block 1"),
              std::string::npos);
    EXPECT_NE(message({good, good, first, none, false}, false).find("source block 2 of 2"),
              std::string::npos);
    EXPECT_NE(message({good, good, falling, partner, false}, false).find("rise"), std::string::npos);
    EXPECT_NE(message({good, good, short_first, partner, false}, false).find("3 starts"), std::string::npos);
    EXPECT_EQ(message({overlapping, overlapping, first, partner, false}, false), "accepted");
    EXPECT_NE(message({overlapping, overlapping, first, partner, true}, true).find("point 4"),
              std::string::npos);
    EXPECT_NE(message({good, good, first, self, true}, true).find("names itself"), std::string::npos);
    const std::vector<std::int32_t> both_first{0, 1, 2}, both{1, 0};
    EXPECT_NE(message({good, good, both_first, both, true}, true).find("listed twice"), std::string::npos);
    const std::vector<std::int32_t> twice_first{0, 2, 2}, twice{1, 1};
    EXPECT_NE(message({good, good, twice_first, twice, true}, true).find("blocks 0 and 1 are listed twice"),
              std::string::npos);
}

// Follows every pair of points through the division: each must add to both sides exactly once.
TEST(MutualDivision, EveryPairOnceAndEveryPlaceApartIsGathered) {
    const auto grid = block_grid::uniform(6000, 6, 3, false);
    const auto half = half_of(grid.lists());
    const auto lists = grid.lists(half);
    const auto division = divide_mutual(lists, 6000);
    ASSERT_GT(division.groups.size(), 3U);
    std::vector<std::int64_t> got(6000, 0);                                              // pairs of a point
    std::vector<std::int64_t> apart(static_cast<std::size_t>(division.points_apart), 0); // likewise
    for (std::size_t g = 0; g + 1 < division.groups.size(); ++g)
        for (auto b = division.groups[g]; b < division.groups[g + 1]; ++b) {
            const auto block = grid.blocks[static_cast<std::size_t>(b)];
            for (auto s = division.sources_first[static_cast<std::size_t>(b)];
                 s < division.sources_first[static_cast<std::size_t>(b) + 1]; ++s) {
                const auto& source = division.sources[static_cast<std::size_t>(s)];
                for (int j = source.range.begin; j < source.range.end; ++j) {
                    const auto place = static_cast<std::size_t>(source.sums_begin + j - source.range.begin);
                    for (int i = block.begin; i < block.end; ++i) {
                        if (j >= block.begin && j <= i) continue; // of the own block
                        if (j >= block.begin && j < block.end) {
                            EXPECT_FALSE(source.apart);
                        }
                        ++got[static_cast<std::size_t>(i)];
                        ++(source.apart ? apart : got)[place];
                    }
                }
            }
        }
    for (std::size_t b = 0; b < grid.blocks.size(); ++b)
        for (auto k = division.apart_first[b]; k < division.apart_first[b + 1]; ++k)
            for (int i = 0; i < grid.blocks[b].size(); ++i)
                got[static_cast<std::size_t>(grid.blocks[b].begin + i)] +=
                    apart[static_cast<std::size_t>(division.apart[static_cast<std::size_t>(k)] + i)];
    for (std::size_t b = 0; b < grid.blocks.size(); ++b) {
        std::int64_t wanted = grid.blocks[b].size() - 1;
        for (const auto partner : grid.lists().of(b))
            wanted += grid.blocks[static_cast<std::size_t>(partner)].size();
        for (int i = grid.blocks[b].begin; i < grid.blocks[b].end; ++i)
            ASSERT_EQ(got[static_cast<std::size_t>(i)], wanted) << "point " << i << " of block " << b;
    }
}

TEST(BlockPlan, PiecesCoverABlock) {
    using namespace cuda;
    for (const int warps : {1, 2, 4}) {
        const BlockShape shape{warps, 10};
        for (int size = 1; size < 1000; size += 3) {
            const int pieces = pieces_of(size, shape);
            EXPECT_EQ(piece_begin(size, pieces, 0), 0);
            EXPECT_EQ(piece_begin(size, pieces, pieces), size);
            for (int piece = 0; piece < pieces; ++piece) {
                const int count = piece_begin(size, pieces, piece + 1) - piece_begin(size, pieces, piece);
                EXPECT_GE(count, 1);
                EXPECT_GE(per_lane(count, warps), 1);
                EXPECT_LE(per_lane(count, warps), shape.most_per_lane);
            }
        }
        EXPECT_EQ(pieces_of(0, shape), 0);
    }
}

TEST(BlockPlan, ShapesHaveKernels) {
    for (const std::size_t bytes : {4U, 8U})
        for (int size = 0; size < 1000; ++size) {
            const auto shape = cuda::block_shape(size, bytes);
            EXPECT_TRUE(shape.warps == 1 || shape.warps == 2 || shape.warps == 4);
            EXPECT_LE(shape.most_per_lane, cuda::largest_tile(bytes, shape.warps));
        }
}

TEST(BlockPlan, ItemsAreSortedByTileAndCoverAllTargets) {
    const auto grid = block_grid::uniform(5000, 5, 4, false);
    const cuda::BlockShape shape{1, 6};
    const auto plan = cuda::plan_blocks(grid.lists(), shape, false);
    std::vector<int> times(5000, 0);
    for (std::size_t k = 0; k < plan.items.size(); ++k) {
        const auto& item = plan.items[k];
        const auto block = grid.blocks[static_cast<std::size_t>(item.block)];
        EXPECT_GE(item.first, block.begin);
        EXPECT_LE(item.first + item.count, block.end);
        for (int i = item.first; i < item.first + item.count; ++i) ++times[static_cast<std::size_t>(i)];
        if (k == 0) continue;
        const auto& before = plan.items[k - 1];
        const int tile = cuda::per_lane(item.count, 1), tile_before = cuda::per_lane(before.count, 1);
        EXPECT_TRUE(tile < tile_before || (tile == tile_before && item.first > before.first));
    }
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), 5000);
    EXPECT_EQ(plan.slot_count, 0);
}

// Every slot is written by one item and added once, to the block that it belongs to.
TEST(BlockPlan, SlotsAreWrittenAndAddedOnce) {
    const auto grid = block_grid::uniform(5000, 5, 4, false);
    const auto half = half_of(grid.lists());
    const auto lists = grid.lists(half);
    const auto plan = cuda::plan_blocks(lists, {1, 6}, true);
    std::vector<std::int32_t> writes(static_cast<std::size_t>(plan.slot_count), -1);
    for (const auto& item : plan.items) {
        const auto partners = lists.of(static_cast<std::size_t>(item.block));
        for (std::size_t e = 0; e < partners.size(); ++e) {
            const auto range = grid.blocks[static_cast<std::size_t>(partners[e])];
            const auto slot = plan.slots[static_cast<std::size_t>(item.places) + e];
            for (int i = 0; i < range.size(); ++i) {
                auto& owner = writes[slot + static_cast<std::size_t>(i)];
                EXPECT_EQ(owner, -1);
                owner = range.begin + i;
            }
        }
    }
    for (std::size_t b = 0; b < grid.blocks.size(); ++b)
        for (auto k = plan.incoming_first[b]; k < plan.incoming_first[b + 1]; ++k)
            for (int i = 0; i < grid.blocks[b].size(); ++i) {
                auto& owner =
                    writes[plan.incoming[static_cast<std::size_t>(k)] + static_cast<std::size_t>(i)];
                EXPECT_EQ(owner, grid.blocks[b].begin + i);
                owner = -2;
            }
    EXPECT_EQ(std::count(writes.begin(), writes.end(), -2), plan.slot_count);
    EXPECT_EQ(plan.slot_bytes(4), static_cast<std::size_t>(plan.slot_count) * 16);
}

} // namespace
} // namespace farfield
