// The part of a tree that a rank needs: its lists, and what it exchanges with others, are those of the whole
// tree.
#include "cloud.h"

#include "backend/comm/in_process.h"
#include "sums/fmm/common/near_blocks.h"
#include "sums/fmm/common/rank_cells.h"
#include "sums/fmm/common/rank_share.h"
#include "sums/tree/essential_cells.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace farfield {
namespace {

struct Setting {
    std::string name;
    int sources = 0, targets = 0; ///< no targets: they are the sources
    TreeShape shape{};
    std::int32_t few = 0;
    int ranks = 1;

    friend std::ostream& operator<<(std::ostream& out, const Setting& setting) { return out << setting.name; }
};

std::vector<Setting> settings() {
    const std::vector<Setting> shapes{
        {.name = "adaptive", .sources = 3000, .shape = {.most = 12}},
        {.name = "coarse", .sources = 3000, .shape = {.coarse = 3, .most = 20}, .few = 8},
        {.name = "all_points", .sources = 2000, .shape = {.most = 10}, .few = all_points},
        {.name = "wide", .sources = 3000, .shape = {.most = 12, .separation = 2}},
        {.name = "spares_pairs", .sources = 4000, .shape = {.most = 40, .pairs_a_cell = 30.0}, .few = 4},
        {.name = "uniform", .sources = 3000, .shape = {.depth = 3}},
        {.name = "with_targets", .sources = 2500, .targets = 900, .shape = {.most = 15}, .few = 5},
        {.name = "few_targets", .sources = 2500, .targets = 7, .shape = {.most = 15}},
        {.name = "one_point", .sources = 1, .shape = {.most = 15}},
    };
    std::vector<Setting> out;
    for (const auto& shape : shapes)
        for (const int ranks : {1, 2, 3, 8}) {
            out.push_back(shape);
            out.back().ranks = ranks;
            out.back().name += "_" + std::to_string(ranks);
        }
    return out;
}

/// Every so many points are a rank's; the last rank has none.
std::vector<double> given_by(const std::vector<double>& points, int rank, int ranks) {
    std::vector<double> out;
    const auto givers = static_cast<std::size_t>(std::max(ranks - 1, 1));
    for (auto i = static_cast<std::size_t>(rank); i < points.size() / 3 && rank < std::max(ranks - 1, 1);
         i += givers)
        out.insert(out.end(), points.begin() + static_cast<std::ptrdiff_t>(3 * i),
                   points.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
    return out;
}

/// Leaves of ranks in uneven parts; of more than two ranks the one before the last has none.
std::vector<std::int32_t> uneven(std::int64_t leaves, int ranks) {
    std::vector<std::int32_t> firsts;
    for (int r = 0; r < ranks; ++r) {
        const double part = std::pow(static_cast<double>(r) / ranks, 1.3);
        firsts.push_back(static_cast<std::int32_t>(part * static_cast<double>(leaves)));
    }
    firsts.push_back(static_cast<std::int32_t>(leaves));
    if (ranks > 2) firsts[firsts.size() - 2] = firsts[firsts.size() - 3];
    return firsts;
}

using Numbers = std::vector<std::int32_t>;

Numbers row_of(const BlockRows& rows, std::size_t row) {
    const auto partners = rows.partners.begin();
    return {partners + rows.first[row], partners + rows.first[row + 1]};
}

class EssentialCellsOf : public testing::TestWithParam<Setting> {
protected:
    void SetUp() override {
        sources = test::cloud(GetParam().sources, 3);
        if (GetParam().targets > 0) targets = test::cloud(GetParam().targets, 4);
    }
    [[nodiscard]] bool self() const { return GetParam().targets == 0; }
    [[nodiscard]] Octree tree_of(comm::Transport& ranks, std::span<const double> begins) const {
        const auto own_sources = given_by(sources, ranks.rank(), ranks.size());
        const auto own_targets = given_by(targets, ranks.rank(), ranks.size());
        return {own_sources, own_targets, self(), GetParam().shape, 2, &ranks, begins};
    }
    std::vector<double> sources, targets;
};

INSTANTIATE_TEST_SUITE_P(Trees, EssentialCellsOf, testing::ValuesIn(settings()),
                         [](const auto& test) { return test.param.name; });

// Whichever shares ranks look at first.
TEST_P(EssentialCellsOf, TreesOverRanksHaveTheCellsOfOne) {
    const auto& setting = GetParam();
    const Octree whole(sources, targets, self(), setting.shape, 1);
    std::vector<double> uneven_shares;
    for (int r = 0; r <= setting.ranks; ++r)
        uneven_shares.push_back(std::pow(static_cast<double>(r) / setting.ranks, 2.0));
    comm::run_ranks(setting.ranks, [&](comm::Transport& ranks) {
        for (const auto& begins : {std::vector<double>{}, uneven_shares}) {
            const auto tree = tree_of(ranks, begins);
            ASSERT_EQ(tree.cells().size(), whole.cells().size());
            for (std::int32_t n = 0; n < std::ssize(whole.cells()); ++n) {
                const auto &cell = tree.cell(n), &expected = whole.cell(n);
                ASSERT_EQ(cell.children, expected.children) << n;
                ASSERT_EQ(cell.sources.begin, expected.sources.begin) << n;
                ASSERT_EQ(cell.targets.end, expected.targets.end) << n;
                const auto known = tree.neighbours(n);
                const auto rank = static_cast<std::size_t>(ranks.rank());
                const bool in_share = tree.first_row(cell) < tree.share_begins()[rank + 1] &&
                                      tree.share_begins()[rank] < tree.end_row(cell);
                ASSERT_TRUE(!known.empty() || !in_share) << n;
                if (!known.empty()) {
                    ASSERT_TRUE(std::equal(known.begin(), known.end(), whole.neighbours(n).begin())) << n;
                }
            }
        }
    });
}

TEST_P(EssentialCellsOf, PartsHaveTheListsAndExchangesOfTheWhole) {
    const auto& setting = GetParam();
    const Octree whole(sources, targets, self(), setting.shape, 1);
    const auto lists = near_lists(whole, setting.few);
    const auto firsts = uneven(std::ssize(lists.leaves), setting.ranks);
    comm::run_ranks(setting.ranks, [&](comm::Transport& ranks) {
        const int rank = ranks.rank();
        auto over_ranks = tree_of(ranks, {});
        const auto within = leaves_within(over_ranks, lists.leaves);
        ASSERT_EQ(leaves_in_order(over_ranks), lists.leaves);
        const auto [numbers, new_numbers] =
            find_essential_cells(over_ranks, within, lists.leaves, firsts, rank, setting.few, 2);
        const auto part = over_ranks.part(numbers, new_numbers, 2);
        EXPECT_EQ(part.count_cells(), std::ssize(whole.cells()));
        EXPECT_EQ(part.levels(), whole.levels());
        for (int level = 0; level < whole.levels(); ++level)
            EXPECT_EQ(part.count_receivers(level), whole.count_receivers(level));
        const auto own_lists = near_lists(part, setting.few);
        std::vector<LeafRange> within_part;
        for (const auto cell : numbers) within_part.push_back(within[static_cast<std::size_t>(cell)]);
        const RankCells here(part, own_lists, firsts, rank, within_part), there(whole, lists, firsts, rank);

        const auto cell_of = [&, &of = numbers](std::int32_t cell) {
            return of[static_cast<std::size_t>(cell)];
        };
        const auto leaf_of = [&](std::int32_t leaf) {
            return within_part[static_cast<std::size_t>(own_lists.leaves[static_cast<std::size_t>(leaf)])]
                .first;
        };
        const auto all = [](Numbers mine, const auto& number) {
            for (auto& one : mine) one = number(one);
            return mine;
        };
        const auto [own_begin, own_end] = here.own_leaves();
        ASSERT_EQ(own_end - own_begin,
                  firsts[static_cast<std::size_t>(rank) + 1] - firsts[static_cast<std::size_t>(rank)]);
        for (auto leaf = own_begin; leaf < own_end; ++leaf) {
            const auto n = static_cast<std::size_t>(leaf), m = static_cast<std::size_t>(leaf_of(leaf));
            ASSERT_EQ(all(row_of(own_lists.direct, n), leaf_of), row_of(lists.direct, m)) << "leaf " << m;
            ASSERT_EQ(all(row_of(own_lists.multipoles, n), cell_of), row_of(lists.multipoles, m))
                << "leaf " << m;
        }
        for (std::int32_t cell = 0; cell < std::ssize(numbers); ++cell) {
            const auto n = static_cast<std::size_t>(cell), m = static_cast<std::size_t>(cell_of(cell));
            ASSERT_EQ(here.owner(cell), there.owner(cell_of(cell))) << "cell " << m;
            ASSERT_EQ(here.holds_own(cell), there.holds_own(cell_of(cell))) << "cell " << m;
            if (!here.holds_own(cell)) continue;
            ASSERT_EQ(all(row_of(own_lists.sources, n), cell_of), row_of(lists.sources, m)) << "cell " << m;
            const auto around = part.neighbours(cell);
            Numbers neighbours(around.begin(), around.end());
            for (auto& one : neighbours)
                if (one != no_cell) one = cell_of(one);
            ASSERT_TRUE(
                std::equal(neighbours.begin(), neighbours.end(), whole.neighbours(cell_of(cell)).begin()))
                << "cell " << m;
        }
        const auto own_cells = here.cell_halo(), cells = there.cell_halo();
        const auto own_leaves = here.leaf_halo(), leaves = there.leaf_halo();
        for (std::size_t r = 0; r < cells.to.size(); ++r) {
            EXPECT_EQ(all(own_cells.to[r], cell_of), cells.to[r]) << "cells to " << r;
            EXPECT_EQ(all(own_cells.from[r], cell_of), cells.from[r]) << "cells from " << r;
            EXPECT_EQ(all(own_leaves.to[r], leaf_of), leaves.to[r]) << "leaves to " << r;
            EXPECT_EQ(all(own_leaves.from[r], leaf_of), leaves.from[r]) << "leaves from " << r;
        }
    });
}

// Of many points each of several ranks needs some of the cells, and about as much work is everyone's. A
// second division begins with the fair shares that the first one found, and stays there.
TEST(RankShare, GivesEachRankAPartOfTheTreeWithAboutAsMuchWork) {
    const auto points = test::cloud(30000, 5);
    const TreeShape shape{.most = 10};
    const Octree whole(points, {}, true, shape, 1);
    const auto lists = near_lists(whole, 0);
    const auto rates = [] {
        return LeafRates{.seconds_a_pair = 1e-7, .seconds_a_cell = 1e-4, .seconds_a_point = 1e-6};
    };
    constexpr int ranks_in_all = 6;
    std::vector<double> parts(ranks_in_all);
    std::vector<std::int64_t> cells(ranks_in_all);
    comm::run_ranks(ranks_in_all, [&](comm::Transport& ranks) {
        RankShare share(&ranks);
        std::vector<std::int32_t> before;
        for (int time = 0; time < 3; ++time) {
            Octree tree(given_by(points, ranks.rank(), ranks.size()), {}, true, shape, 1, &ranks,
                        share.share_begins());
            NearLists own;
            share.divide(tree, own, 0, rates, 1);
            const auto& firsts = share.whole()->first_leaves;
            if (time > 1) {
                EXPECT_EQ(firsts, before);
            }
            if (time > 0) {
                const auto& there = share.whole()->tree;
                for (std::size_t r = 0; r < ranks_in_all; ++r) {
                    const auto leaf = share.whole()->leaves[static_cast<std::size_t>(firsts[r])];
                    EXPECT_EQ(there.share_begins()[r], there.first_row(there.cell(leaf)));
                }
            }
            before = firsts;
            EXPECT_EQ(share.count_leaves(), std::ssize(lists.leaves));
            NearBlocks near;
            near.make(tree, own, 1, share.near_share());
            NearBlocks near_of_whole;
            near_of_whole.make(whole, lists, 1);
            EXPECT_EQ(near.pairs(), near_of_whole.pairs());
            EXPECT_EQ(near.computed_pairs(), near_of_whole.computed_pairs());
            parts[static_cast<std::size_t>(ranks.rank())] = share.own_part();
            cells[static_cast<std::size_t>(ranks.rank())] = std::ssize(tree.cells());
        }
    });
    double sum = 0.0;
    for (const double part : parts) {
        EXPECT_NEAR(part, 1.0 / ranks_in_all, 0.05);
        sum += part;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    for (const auto here : cells) EXPECT_LT(here, 0.8 * static_cast<double>(whole.cells().size()));
}

} // namespace
} // namespace farfield
