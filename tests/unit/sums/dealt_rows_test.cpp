// How rows and planes are dealt out over ranks: ranges of keys, rows that go and come back, planes of a grid.
#include "backend/comm/in_process.h"
#include "backend/comm/transport.h"
#include "sums/gauss/grid/planes_of_ranks.h"
#include "sums/gauss/ranks/dealt_rows.h"
#include "sums/gauss/ranks/key_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace farfield {
namespace {

using Keys = std::vector<std::uint64_t>;

/// Some keys of each rank; many are equal, and some ranks have none.
std::vector<Keys> some_keys(int ranks, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Keys> out(static_cast<std::size_t>(ranks));
    for (std::size_t r = 0; r < out.size(); ++r)
        for (std::size_t i = 0; i < (r % 3 == 1 ? 0U : 200U + 30U * r); ++i)
            out[r].push_back(random() % 97 * (random() % 97));
    return out;
}

SortedKeys sorted(const Keys& keys) { return sort_keys({keys.begin(), keys.end()}, 1); }

/// Calls work(transport, its keys) on as many ranks.
template <class Work>
void on_ranks(const std::vector<Keys>& keys, const Work& work) {
    comm::run_ranks(static_cast<int>(keys.size()), [&](std::shared_ptr<comm::Transport> transport) {
        work(*transport, keys[static_cast<std::size_t>(transport->rank())]);
    });
}

TEST(KeyRanges, FollowEachOtherAndHoldAsManyKeys) {
    for (const int ranks : {1, 2, 3, 8}) {
        const auto keys = some_keys(ranks, 5);
        Keys all;
        for (const auto& some : keys) all.insert(all.end(), some.begin(), some.end());
        std::sort(all.begin(), all.end());
        std::map<std::uint64_t, std::int64_t> equal;
        std::int64_t most_equal = 0;
        for (const auto key : all) most_equal = std::max(most_equal, ++equal[key]);
        on_ranks(keys, [&](comm::Transport& transport, const Keys& mine) {
            const auto ranges = ranges_of_equal_counts(transport, sorted(mine).keys);
            ASSERT_EQ(std::ssize(ranges), ranks);
            EXPECT_EQ(ranges.front().begin, 0U);
            EXPECT_GT(ranges.back().end, all.back());
            const auto share = static_cast<double>(all.size()) / ranks;
            for (std::size_t r = 0; r < ranges.size(); ++r) {
                if (r > 0) {
                    EXPECT_EQ(ranges[r].begin, ranges[r - 1].end);
                }
                EXPECT_NEAR(static_cast<double>(rows_in(all, ranges[r]).size()), share,
                            static_cast<double>(most_equal + 1));
            }
        });
    }
}

TEST(KeyRanges, HoldAsMuchWork) {
    on_ranks({{1, 2, 3}, {}, {10, 11, 12, 13}}, [](comm::Transport& transport, const Keys& mine) {
        const std::vector<double> light(mine.size(), 1.0),
            heavy(mine.size(), transport.rank() == 0 ? 8.0 : 1.0);
        const auto last = ~std::uint64_t{0};
        EXPECT_EQ(ranges_of_equal_work(transport, mine, light),
                  (std::vector<KeyRange>{{0, 3}, {3, 12}, {12, last}})); // 2, 3 and 2
        EXPECT_EQ(ranges_of_equal_work(transport, mine, heavy),
                  (std::vector<KeyRange>{{0, 2}, {2, 3}, {3, last}})); // 8, 8 and 12
    });
}

TEST(KeyRanges, OfNoKeysAreEmpty) {
    on_ranks({{}, {}, {}}, [](comm::Transport& transport, const Keys& mine) {
        EXPECT_EQ(ranges_of_equal_counts(transport, mine).size(), 3U);
        EXPECT_EQ(ranges_of_equal_work(transport, mine, {}).size(), 3U);
    });
}

// Row i of rank r has the numbers 1000 r + i and its negative.
TEST(DealtRows, AreInTheOrderOfOneAndComeBack) {
    const auto keys = some_keys(5, 7);
    std::vector<std::pair<std::uint64_t, double>> all; // in the order of one process
    for (std::size_t r = 0; r < keys.size(); ++r)
        for (std::size_t i = 0; i < keys[r].size(); ++i)
            all.emplace_back(keys[r][i], 1000.0 * static_cast<double>(r) + static_cast<double>(i));
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    on_ranks(keys, [&](comm::Transport& transport, const Keys& mine) {
        const auto rank = static_cast<std::size_t>(transport.rank());
        const auto given = sorted(mine);
        const auto own = ranges_of_equal_counts(transport, given.keys);
        auto wide = own;
        for (auto& range : wide) {
            range.begin -= std::min<std::uint64_t>(range.begin, 400);
            range.end = range.end > 10000 ? range.end : range.end + 300;
        }
        DealtRows rows(transport, sorted(mine), own, wide, 2);
        std::vector<double> numbers;
        for (std::size_t i = 0; i < mine.size(); ++i) {
            numbers.push_back(1000.0 * static_cast<double>(rank) + static_cast<double>(i));
            numbers.push_back(-numbers.back());
        }
        RawVector<double> here;
        rows.bring(numbers, 2, here);
        std::vector<std::pair<std::uint64_t, double>> expected;
        for (const auto& row : all)
            if (wide[rank].begin <= row.first && row.first < wide[rank].end) expected.push_back(row);
        ASSERT_EQ(rows.keys().size(), expected.size());
        std::vector<double> sums(expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(rows.keys()[i], expected[i].first);
            EXPECT_EQ(here[2 * i], expected[i].second);
            EXPECT_EQ(here[2 * i + 1], -expected[i].second);
            const auto number = static_cast<std::int64_t>(i);
            const bool is_own = rows.own().begin <= number && number < rows.own().end;
            EXPECT_EQ(is_own, own[rank].begin <= expected[i].first && expected[i].first < own[rank].end);
            sums[i] = is_own ? 0.5 * expected[i].second : 1e9; // of others' rows nothing comes back
        }
        std::vector<double> back(mine.size());
        rows.bring_back(SumRows(std::vector{sums.data()}), SumRows(std::vector{back.data()}));
        for (std::size_t i = 0; i < back.size(); ++i)
            EXPECT_EQ(back[i], 0.5 * numbers[2 * static_cast<std::size_t>(rows.given_order()[i])]);
    });
}

TEST(PlanesOfRanks, TellWhatGoesWhere) {
    // of three ranks the first two touch planes of both halves, and the last one has no points
    const PlanesOfRanks plan(30, {{{0, 14}, {0, 14}}, {{9, 30}, {20, 28}}, {}}, 4);
    EXPECT_EQ(plan.own(0), (PlaneRange{0, 10}));
    EXPECT_EQ(plan.own(2), (PlaneRange{20, 30}));
    EXPECT_EQ(plan.spread(0, 0), (PlaneRange{0, 10}));
    EXPECT_EQ(plan.spread(0, 1), (PlaneRange{10, 14}));
    EXPECT_EQ(plan.spread(0, 2).size(), 0);
    EXPECT_EQ(plan.spread(1, 0), (PlaneRange{9, 10}));
    EXPECT_EQ(plan.spread(2, 0).size(), 0);
    EXPECT_EQ(plan.folded(0), (PlaneRange{0, 18}));
    EXPECT_EQ(plan.folded(1), (PlaneRange{16, 30}));
    EXPECT_EQ(plan.folded(2).size(), 0);
    EXPECT_EQ(plan.wanted(1, 0), (PlaneRange{10, 18}));
    EXPECT_EQ(plan.wanted(1, 1), (PlaneRange{16, 20}));
    EXPECT_EQ(plan.wanted(2, 1), (PlaneRange{20, 30}));
}

TEST(PlanesOfRanks, AddWhatAllSpreadAndBringWhatIsWanted) {
    constexpr std::int64_t planes = 13, plane = 3;
    const std::vector<TouchedPlanes> touched{{{0, 6}, {0, 5}}, {}, {{2, 13}, {6, 13}}, {{5, 8}, {0, 13}}};
    const PlanesOfRanks plan(planes, touched, 2);
    // number i of what rank r spreads
    const auto spread = [](std::size_t r, std::int64_t i) { return static_cast<double>(100 * (r + 1) + i); };
    std::vector<double> sums(planes * plane, 0.0);
    for (std::size_t r = 0; r < touched.size(); ++r)
        for (auto i = touched[r].sources.begin * plane; i < touched[r].sources.end * plane; ++i)
            sums[static_cast<std::size_t>(i)] += spread(r, i);
    comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
        const auto rank = static_cast<std::size_t>(transport->rank());
        std::vector<double> grid(planes * plane, -7.0); // whatever was there
        for (auto i = touched[rank].sources.begin * plane; i < touched[rank].sources.end * plane; ++i)
            grid[static_cast<std::size_t>(i)] = spread(rank, i);
        const GridOfRanks of_ranks{
            .ranks = transport.get(), .plan = &plan, .numbers = grid.data(), .plane = plane};
        const auto expect_in = [&](const PlaneRange& range) {
            for (auto i = range.begin * plane; i < range.end * plane; ++i)
                EXPECT_EQ(grid[static_cast<std::size_t>(i)], sums[static_cast<std::size_t>(i)])
                    << rank << ' ' << i;
        };
        add_spread_planes(of_ranks);
        expect_in(plan.own(rank));
        bring_wanted_planes(of_ranks);
        expect_in(plan.folded(rank));
        expect_in(plan.own(rank));
    });
}

} // namespace
} // namespace farfield
