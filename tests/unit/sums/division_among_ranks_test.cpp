// How sums are divided among ranks: plans, which are the same on all ranks and need none of them to be
// tested.
#include "cloud.h"

#include "backend/comm/in_process.h"
#include "sums/direct/cpu/blocks/mutual_division.h"
#include "sums/direct/cpu/rank_points.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/fmm/common/rank_cells.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"
#include "sums/treecode/cell_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace farfield {
namespace {

TEST(FirstOfRanks, GiveEachRankItsPartWithinOneTask) {
    std::mt19937 engine(5);
    std::exponential_distribution<double> exponential;
    for (const std::size_t tasks : {1, 7, 300})
        for (const int ranks : {1, 2, 3, 8}) {
            std::vector<double> work(tasks);
            for (auto& one : work) one = exponential(engine);
            const auto all = std::accumulate(work.begin(), work.end(), 0.0);
            const auto most = *std::max_element(work.begin(), work.end());
            const auto firsts = first_of_ranks(work, ranks);
            ASSERT_EQ(std::ssize(firsts), ranks + 1);
            EXPECT_EQ(firsts.front(), 0U);
            EXPECT_EQ(firsts.back(), tasks);
            for (std::size_t r = 0; r + 1 < firsts.size(); ++r) {
                ASSERT_LE(firsts[r], firsts[r + 1]);
                const auto own = std::accumulate(work.data() + firsts[r], work.data() + firsts[r + 1], 0.0);
                EXPECT_LE(std::abs(own - all / ranks), most * (1.0 + 1e-12))
                    << tasks << " tasks, rank " << r << " of " << ranks;
            }
        }
}

TEST(FirstOfRanks, TakeNothingAndOneThingAsWell) {
    EXPECT_EQ(first_of_ranks({}, 3), (std::vector<std::size_t>{0, 0, 0, 0}));
    const std::vector<double> one{4.0}, light{0.0, 0.0}, heavy{1.0, 100.0, 1.0};
    EXPECT_EQ(first_of_ranks(one, 2),
              (std::vector<std::size_t>{0, 0, 1})); // its middle is where rank 1 begins
    EXPECT_EQ(first_of_ranks(light, 1), (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(first_of_ranks(heavy, 3), (std::vector<std::size_t>{0, 1, 2, 3}));
}

/// Leaves dealt out to ranks at random; some may get none.
std::vector<std::int32_t> first_leaves_of(std::size_t leaves, int ranks, unsigned seed) {
    std::mt19937 engine(seed);
    std::vector<std::int32_t> firsts{0, static_cast<std::int32_t>(leaves)};
    for (int r = 1; r < ranks; ++r)
        firsts.push_back(static_cast<std::int32_t>(engine() % (static_cast<unsigned>(leaves) + 1)));
    std::sort(firsts.begin(), firsts.end());
    return firsts;
}

/// The ranks that have a leaf within each cell, found from the leaves upwards.
std::vector<std::set<int>> ranks_within(const Octree& tree, const NearLists& lists,
                                        const std::vector<std::int32_t>& first_leaves) {
    std::vector<std::set<int>> within(tree.cells().size());
    for (int rank = 0; rank + 1 < std::ssize(first_leaves); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        for (auto leaf = first_leaves[r]; leaf < first_leaves[r + 1]; ++leaf)
            for (auto cell = lists.leaves[static_cast<std::size_t>(leaf)]; cell != no_cell;
                 cell = tree.cell(cell).parent)
                within[static_cast<std::size_t>(cell)].insert(rank);
    }
    return within;
}

class CellsOfRanks : public testing::TestWithParam<bool> {}; // the targets are the sources
INSTANTIATE_TEST_SUITE_P(Points, CellsOfRanks, testing::Bool(),
                         [](const auto& test) { return test.param ? "alone" : "with_targets"; });

TEST_P(CellsOfRanks, BelongToTheRankThatHasTheirLeaves) {
    const auto sources = test::cloud(900, 1);
    const auto targets = GetParam() ? std::vector<double>{} : test::cloud(400, 2);
    const Octree tree(sources, targets, GetParam(), {.most = 9}, 1);
    const auto lists = near_lists(tree, 0);
    for (const int ranks : {1, 2, 5, 9}) {
        const auto firsts = first_leaves_of(lists.leaves.size(), ranks, static_cast<unsigned>(ranks));
        const auto within = ranks_within(tree, lists, firsts);
        for (int rank = 0; rank < ranks; ++rank) {
            const RankCells cells(tree, lists, firsts, rank);
            EXPECT_EQ(cells.ranks(), ranks);
            for (std::int32_t cell = 0; cell < std::ssize(tree.cells()); ++cell) {
                const auto& of = within[static_cast<std::size_t>(cell)];
                ASSERT_EQ(cells.owner(cell), of.size() == 1 ? *of.begin() : RankCells::several) << cell;
                ASSERT_EQ(cells.holds_own(cell), of.contains(rank)) << cell;
            }
        }
    }
}

TEST_P(CellsOfRanks, HaveEachTargetOnce) {
    const auto sources = test::cloud(900, 3);
    const auto targets = GetParam() ? std::vector<double>{} : test::cloud(400, 4);
    const Octree tree(sources, targets, GetParam(), {.most = 9}, 1);
    const auto lists = near_lists(tree, 0);
    for (const int ranks : {1, 3, 8}) {
        const auto firsts = first_leaves_of(lists.leaves.size(), ranks, 20U + static_cast<unsigned>(ranks));
        std::vector<int> times(GetParam() ? 900 : 400);
        const auto rows = RankCells(tree, lists, firsts, 0).target_rows();
        ASSERT_EQ(std::ssize(rows), ranks);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            for (const auto& [begin, end] : rows[r])
                for (auto i = begin; i < end; ++i) ++times.at(static_cast<std::size_t>(i));
            for (auto leaf = firsts[r]; leaf < firsts[r + 1]; ++leaf) {
                const auto own = tree.cell(lists.leaves[static_cast<std::size_t>(leaf)]).targets;
                for (auto i = own.begin; i < own.end; ++i)
                    EXPECT_TRUE(
                        std::any_of(rows[r].begin(), rows[r].end(),
                                    [&](const auto& range) { return range.first <= i && i < range.second; }))
                        << "target " << i << ", rank " << r;
            }
        }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << ranks << " ranks";
    }
}

/// By rank, what it needs of whom.
using Needs = std::vector<std::set<std::int32_t>>;

/// Both sides of each exchange name the same, which the one has and which holds all that the other needs.
void expect_halos(const std::vector<RankCells::Halo>& halos, const Needs& needs, const char* what) {
    for (std::size_t r = 0; r < halos.size(); ++r) {
        std::set<std::int32_t> got;
        for (std::size_t from = 0; from < halos.size(); ++from) {
            EXPECT_EQ(halos[r].from[from], halos[from].to[r]) << what << " of rank " << from << " for " << r;
            got.insert(halos[r].from[from].begin(), halos[r].from[from].end());
        }
        EXPECT_TRUE(halos[r].from[r].empty());
        EXPECT_TRUE(std::includes(got.begin(), got.end(), needs[r].begin(), needs[r].end()))
            << what << " for rank " << r;
    }
}

TEST_P(CellsOfRanks, TellWhatOthersNeed) {
    const auto sources = test::cloud(900, 5);
    const auto targets = GetParam() ? std::vector<double>{} : test::cloud(400, 6);
    const Octree tree(sources, targets, GetParam(), {.most = 9}, 1);
    const auto lists = near_lists(tree, 0);
    ASSERT_FALSE(lists.multipoles.partners.empty());
    ASSERT_FALSE(lists.sources.partners.empty());
    const auto partners = [](const BlockRows& rows, std::size_t of) {
        return std::span(rows.partners)
            .subspan(static_cast<std::size_t>(rows.first[of]),
                     static_cast<std::size_t>(rows.first[of + 1] - rows.first[of]));
    };
    for (const int ranks : {1, 2, 5, 9}) {
        const auto firsts = first_leaves_of(lists.leaves.size(), ranks, 40U + static_cast<unsigned>(ranks));
        const auto within = ranks_within(tree, lists, firsts);
        const auto of = [&](std::int32_t cell) { return within[static_cast<std::size_t>(cell)]; };
        std::vector<std::int32_t> leaf_of(tree.cells().size(), -1);
        for (std::size_t leaf = 0; leaf < lists.leaves.size(); ++leaf)
            leaf_of[static_cast<std::size_t>(lists.leaves[leaf])] = static_cast<std::int32_t>(leaf);
        Needs leaves(static_cast<std::size_t>(ranks)), cells(static_cast<std::size_t>(ranks));
        const auto needs_leaf = [&](int rank, std::int32_t leaf) {
            if (!of(lists.leaves[static_cast<std::size_t>(leaf)]).contains(rank))
                leaves[static_cast<std::size_t>(rank)].insert(leaf);
        };
        const auto needs_cell = [&](int rank, std::int32_t cell) {
            if (cell != no_cell && tree.cell(cell).sources.size() > 0 && of(cell).size() == 1 &&
                !of(cell).contains(rank))
                cells[static_cast<std::size_t>(rank)].insert(cell);
        };
        for (std::size_t leaf = 0; leaf < lists.leaves.size(); ++leaf) {
            const int rank = *of(lists.leaves[leaf]).begin();
            for (const auto partner : partners(lists.direct, leaf)) {
                needs_leaf(rank, partner);
                if (GetParam()) // either may compute what the two do to each other
                    needs_leaf(*of(lists.leaves[static_cast<std::size_t>(partner)]).begin(),
                               static_cast<std::int32_t>(leaf));
            }
            for (const auto cell : partners(lists.multipoles, leaf)) needs_cell(rank, cell);
        }
        for (std::int32_t cell = 0; cell < std::ssize(tree.cells()); ++cell) {
            for (const int rank : of(cell)) {
                for (const auto partner : partners(lists.sources, static_cast<std::size_t>(cell)))
                    needs_leaf(rank, leaf_of[static_cast<std::size_t>(partner)]);
                const auto& place = tree.cell(cell);
                for (std::int32_t other = 0; other < std::ssize(tree.cells()); ++other) { // translated to it
                    const auto& there = tree.cell(other);
                    int apart = 0, parents_apart = 0;
                    for (int axis = 0; axis < 3; ++axis) {
                        apart = std::max(apart, std::abs(place.index[axis] - there.index[axis]));
                        parents_apart = std::max(
                            parents_apart, std::abs((place.index[axis] >> 1) - (there.index[axis] >> 1)));
                    }
                    if (there.level == place.level && apart > 1 && (place.level == 0 || parents_apart <= 1))
                        needs_cell(rank, other);
                }
            }
            if (of(cell).size() > 1)
                for (int rank = 0; rank < ranks; ++rank)
                    for (const auto child : tree.cell(cell).children) needs_cell(rank, child);
        }
        std::vector<RankCells::Halo> of_leaves, of_cells;
        for (int rank = 0; rank < ranks; ++rank) {
            const RankCells mine(tree, lists, firsts, rank);
            of_leaves.push_back(mine.leaf_halo());
            of_cells.push_back(mine.cell_halo());
        }
        expect_halos(of_leaves, leaves, "leaves");
        expect_halos(of_cells, cells, "cells");
    }
}

// Each rank has the points of its leaves and of those that meet them, no others; strengths come where the
// points are, and what it has for its own leaves comes back to whoever gave them.
TEST(RankPoints, TravelToTheLeavesAndBack) {
    const int count = 30000;
    const auto points = test::cloud(count, 7);
    const Octree whole(points, {}, true, {.most = 20}, 1);
    const auto lists = near_lists(whole, 0);
    for (const int ranks : {1, 2, 5}) {
        std::vector<std::int32_t> firsts; // of ranks; the last but one has none
        for (int r = 0; r <= ranks; ++r)
            firsts.push_back(static_cast<std::int32_t>(
                std::ssize(lists.leaves) * std::min(r, std::max(ranks - 1, 1)) / std::max(ranks - 1, 1)));
        std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks));
        comm::run_ranks(ranks, [&](comm::Transport& transport) {
            const int rank = transport.rank();
            const auto begin = static_cast<std::size_t>(count) * static_cast<std::size_t>(rank) /
                               static_cast<std::size_t>(ranks),
                       end = static_cast<std::size_t>(count) * static_cast<std::size_t>(rank + 1) /
                             static_cast<std::size_t>(ranks);
            const auto own = std::span(points).subspan(3 * begin, 3 * (end - begin));
            Octree tree(own, {}, true, {.most = 20}, 1, &transport);
            EXPECT_EQ(tree.source_count(), count);
            ASSERT_EQ(tree.cells().size(), whole.cells().size());
            for (std::int32_t cell = 0; cell < std::ssize(whole.cells()); ++cell) {
                ASSERT_EQ(tree.cell(cell).sources.begin, whole.cell(cell).sources.begin) << cell;
                ASSERT_EQ(tree.cell(cell).sources.end, whole.cell(cell).sources.end) << cell;
                ASSERT_EQ(tree.cell(cell).children, whole.cell(cell).children) << cell;
            }
            const RankCells cells(tree, lists, firsts, rank);
            RankPoints mine(transport, PointSet::sources, tree, lists.leaves, cells.own_leaves(),
                            cells.leaf_halo(), given_rows(tree, PointSet::sources, lists.leaves, firsts), own,
                            {}, 1);
            tree.take_points(mine.take_points(), {});
            rows[static_cast<std::size_t>(rank)] = mine.rows();
            // strengths that name the points
            std::vector<double> strengths, here(static_cast<std::size_t>(mine.rows()));
            for (auto i = begin; i < end; ++i) strengths.push_back(1.0 + static_cast<double>(i));
            mine.bring(strengths, 1, PowerOfTwo(1), here.data());
            const auto halo = cells.leaf_halo();
            std::set<std::int32_t> leaves;
            for (auto leaf = firsts[static_cast<std::size_t>(rank)];
                 leaf < firsts[static_cast<std::size_t>(rank) + 1]; ++leaf)
                leaves.insert(leaf);
            for (const auto& from : halo.from) leaves.insert(from.begin(), from.end());
            std::int64_t held = 0;
            for (const auto leaf : leaves) {
                const auto number = lists.leaves[static_cast<std::size_t>(leaf)];
                const auto there = whole.cell(number).sources, at = tree.cell(number).sources;
                ASSERT_EQ(at.size(), there.size());
                held += at.size();
                for (std::int32_t k = 0; k < at.size(); ++k) {
                    const auto i = static_cast<std::size_t>(at.begin + k),
                               j = static_cast<std::size_t>(there.begin + k);
                    for (std::size_t axis = 0; axis < 3; ++axis)
                        ASSERT_EQ(tree.sources().x[axis][i], whole.sources().x[axis][j]);
                    ASSERT_EQ(here[i], 2.0 * (1.0 + whole.sources().from[j]));
                }
            }
            EXPECT_LE(held, mine.rows());
            EXPECT_LE(mine.rows(), held + std::ssize(leaves) + 1); // some rows stay unused
            std::vector<double> back(end - begin), expected;
            mine.bring_back({.potential = here.data()}, {.potential = back.data()});
            for (const auto row : mine.order())
                expected.push_back(2.0 * strengths[static_cast<std::size_t>(row)]);
            EXPECT_EQ(back, expected);
        });
        const auto all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
        EXPECT_GE(all, count);
        if (ranks == 5) {
            EXPECT_LT(*std::max_element(rows.begin(), rows.end()), count / 2);
        }
    }
}

// What groups compute for blocks of others has a place; each is sent by the one rank that fills it to the one
// that adds it.
TEST(PlacesApart, AreEachOfOneSenderAndOneReceiver) {
    const int points = 9000;
    const Octree tree(test::cloud(points, 6), {}, true, {.most = 40}, 1);
    const auto lists = near_lists(tree, 0);
    std::vector<BlockRange> blocks;
    for (const auto leaf : lists.leaves) blocks.push_back(tree.cell(leaf).sources);
    const auto division = divide_mutual({.targets = blocks,
                                         .sources = blocks,
                                         .first = lists.direct.first,
                                         .partners = lists.direct.partners,
                                         .own = true},
                                        points);
    const auto& groups = division.groups;
    ASSERT_GT(groups.size(), 6U);
    ASSERT_GT(division.points_apart, 0);
    for (const std::size_t ranks : {1, 2, 4}) {
        std::vector<std::int32_t> firsts; // with whole groups each
        for (std::size_t r = 0; r <= ranks; ++r) firsts.push_back(groups[(groups.size() - 1) * r / ranks]);
        std::vector<int> filled(static_cast<std::size_t>(division.points_apart));
        for (std::size_t by = 0; by < ranks; ++by)
            for (std::size_t to = 0; to < ranks; ++to) {
                const auto places = places_apart(division, blocks, {firsts[by], firsts[by + 1]},
                                                 {firsts[to], firsts[to + 1]});
                for (const auto& [begin, end] : places)
                    for (auto i = begin; i < end; ++i) ++filled.at(static_cast<std::size_t>(i));
                if (by < to) {
                    EXPECT_FALSE(ranks == 2 && places.empty()); // halves of a cloud touch
                }
            }
        EXPECT_EQ(filled, std::vector<int>(filled.size(), 1)) << ranks << " ranks";
    }
}

// Of the tree code. Leaves belong to one rank, and what several share has all its children known.
TEST(CellShares, GiveEachCellToOneRankOrToAll) {
    for (const bool separate : {false, true})
        for (const int ranks : {1, 2, 3, 8}) {
            const auto sources = test::cloud(5000, 1),
                       targets = separate ? test::cloud(700, 2) : std::vector<double>();
            TreeShape shape;
            shape.most = 12;
            shape.separation = 0;
            const Octree tree(sources, targets, !separate, shape, 1);
            const CellShares shares(tree, ranks);
            std::vector<int> owners(tree.cells().size(), 0), rows(static_cast<std::size_t>(ranks), 0);
            std::vector<int> owner(tree.cells().size(), -1);
            for (int rank = 0; rank < ranks; ++rank)
                for (int level = 0; level < shares.levels(); ++level) {
                    const auto cells = shares.cells(rank, level);
                    if (cells.size() == 0) continue;
                    EXPECT_GE(cells.begin, tree.level_begin(level));
                    EXPECT_LE(cells.end, tree.level_begin(level + 1));
                    for (auto cell = cells.begin; cell < cells.end; ++cell) {
                        const auto k = static_cast<std::size_t>(cell);
                        ++owners[k];
                        owner[k] = rank;
                        if (tree.cell(cell).leaf)
                            rows[static_cast<std::size_t>(rank)] += tree.cell(cell).sources.size();
                    }
                }
            std::set<std::int32_t> known;
            for (int rank = 0; rank < ranks; ++rank)
                for (const auto cell : shares.below_shared(rank)) {
                    EXPECT_EQ(owner[static_cast<std::size_t>(cell)], rank);
                    known.insert(cell);
                }
            for (const auto cell : shares.shared()) { // the deepest first
                EXPECT_FALSE(tree.cell(cell).leaf);
                ++owners[static_cast<std::size_t>(cell)];
                for (const auto child : tree.cell(cell).children)
                    if (child != no_cell && tree.cell(child).sources.size() > 0) {
                        EXPECT_TRUE(known.contains(child)) << child;
                    }
                known.insert(cell);
            }
            for (std::size_t k = 0; k < owners.size(); ++k) {
                const bool empty = tree.cells()[k].sources.size() == 0;
                EXPECT_TRUE(owners[k] == 1 || (empty && owners[k] == 0)) << k;
            }
            for (const int own : rows) EXPECT_NEAR(own, 5000.0 / ranks, 12.0);
        }
}

} // namespace
} // namespace farfield
