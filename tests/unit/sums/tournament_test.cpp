// The order in which blocks meet, on one rank and divided between ranks: who plays, and what moves when.
#include "sums/direct/cpu/tournament.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace farfield;

namespace {

TEST(Tournament, EveryPairOfBlocksMeetsOnce) {
    for (std::int64_t blocks : {0, 1, 2, 3, 4, 9, 10}) {
        std::set<std::pair<std::int64_t, std::int64_t>> met;
        std::int64_t own_calls = 0;
        play_tournament(Tournament(blocks), 1,
                        {.own = [&](std::int64_t) { ++own_calls; },
                         .meet =
                             [&](std::int64_t a, std::int64_t b) {
                                 EXPECT_NE(a, b);
                                 EXPECT_TRUE(met.insert(std::minmax(a, b)).second) << a << " " << b;
                             }});
        EXPECT_EQ(own_calls, blocks);
        EXPECT_EQ(static_cast<std::int64_t>(met.size()), blocks * std::max<std::int64_t>(blocks - 1, 0) / 2);
    }
}

TEST(Tournament, KnowsTheSeatOfEachPlayer) {
    for (std::int64_t blocks : {2, 3, 8, 13}) {
        const Tournament tournament(blocks);
        for (std::int64_t round = 0; round < tournament.rounds(); ++round)
            for (std::int64_t seat = 0; seat < tournament.seats(); ++seat) {
                const auto [a, b] = tournament.players_at(seat, round);
                EXPECT_EQ(tournament.seat_of(a, round), seat) << blocks << " round " << round;
                EXPECT_EQ(tournament.seat_of(b, round), seat) << blocks << " round " << round;
            }
    }
}

/// Follows the blocks' sums from rank to rank.
void follow(std::int64_t blocks, int ranks) {
    SCOPED_TRACE(testing::Message() << blocks << " blocks, " << ranks << " ranks");
    const Tournament tournament(blocks);
    std::vector<SeatsOfRank> seats;
    for (int rank = 0; rank < ranks; ++rank) seats.emplace_back(tournament, rank, ranks);
    std::map<std::int64_t, int> at; // rank that holds a block
    std::int64_t played = 0;
    for (std::int64_t round = 0; round < tournament.rounds(); ++round) {
        std::map<std::int64_t, int> arriving;
        for (int rank = 0; rank < ranks; ++rank) {
            const auto& mine = seats[static_cast<std::size_t>(rank)];
            for (const auto& move : mine.arriving_before(round)) {
                EXPECT_EQ(at.at(move.block), move.other);
                arriving[move.block] = rank;
            }
        }
        for (const auto& [block, rank] : arriving) at[block] = rank;
        for (int rank = 0; rank < ranks; ++rank) {
            const auto& mine = seats[static_cast<std::size_t>(rank)];
            for (auto seat = mine.begin(); seat < mine.end(); ++seat, ++played) {
                const auto [a, b] = tournament.players_at(seat, round);
                for (const auto block : {a, b}) {
                    if (!tournament.is_there(block)) continue;
                    if (round == 0) at[block] = rank;
                    EXPECT_EQ(at.at(block), rank) << "block " << block << " in round " << round;
                }
            }
        }
        std::size_t leaving = 0, coming = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            const auto& mine = seats[static_cast<std::size_t>(rank)];
            for (const auto& move : mine.leaving_after(round)) {
                ++leaving;
                const auto there = seats[static_cast<std::size_t>(move.other)].arriving_before(round + 1);
                EXPECT_TRUE(std::any_of(there.begin(), there.end(), [&](const auto& other) {
                    return other.block == move.block && other.other == rank;
                }));
            }
            coming += mine.arriving_before(round + 1).size();
        }
        EXPECT_EQ(leaving, coming);
        EXPECT_LE(leaving, static_cast<std::size_t>(2 * ranks)); // two blocks cross a border
    }
    EXPECT_EQ(played, tournament.rounds() * tournament.seats());
    std::int64_t held = 0;
    for (int rank = 0; rank < ranks; ++rank)
        for (const auto block : seats.front().held_at_end(rank)) {
            ++held;
            EXPECT_EQ(at.at(block), rank);
        }
    EXPECT_EQ(held, blocks);
}

TEST(SeatsOfRank, HoldTheBlocksThatPlayThere) {
    for (std::int64_t blocks : {2, 3, 6, 7, 20, 21})
        for (int ranks : {1, 2, 3, 5, 8}) follow(blocks, ranks);
}

} // namespace
