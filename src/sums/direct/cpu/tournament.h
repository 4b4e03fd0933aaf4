// The order in which blocks of points meet when each pair of blocks meets once: a round-robin tournament by
// the circle method, on threads of this process and, where there are several, on its ranks.
#pragma once

#include "sums/direct/cpu/tiles.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// Number of points in a block, from the number of points alone: the results depend on it.
std::int64_t mutual_block_size(std::int64_t points);

/// Who meets whom. In each round a seat has two players, and after it both go on to a neighbouring seat or
/// change sides there; the last player alone stays on seat 0. An odd number of blocks gets a player that is
/// not there; who meets it sits out the round.
class Tournament {
public:
    explicit Tournament(std::int64_t blocks) : blocks_(blocks), players_(blocks + blocks % 2) {}

    [[nodiscard]] std::int64_t blocks() const { return blocks_; }
    [[nodiscard]] std::int64_t players() const { return players_; }
    [[nodiscard]] std::int64_t rounds() const { return players_ > 0 ? players_ - 1 : 0; }
    [[nodiscard]] std::int64_t seats() const { return players_ / 2; }
    [[nodiscard]] bool is_there(std::int64_t player) const { return player < blocks_; }
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> players_at(std::int64_t seat,
                                                                   std::int64_t round) const;
    [[nodiscard]] std::int64_t seat_of(std::int64_t player, std::int64_t round) const;

private:
    std::int64_t blocks_, players_;
};

/// What blocks of points do to their sums.
struct TournamentMoves {
    std::function<void(std::int64_t)> own;                ///< a block with itself: once, before all else
    std::function<void(std::int64_t, std::int64_t)> meet; ///< two different blocks
};

/// Calls own(block) for each block and meet(a, b) for each pair of different blocks once, on `threads`
/// threads. Never two calls at a time with the same block; and each block's calls come in a fixed order,
/// so whatever the calls add to the block is added in the same order for any number of threads.
void play_tournament(const Tournament& tournament, int threads, const TournamentMoves& moves);

/// The seats of one rank, and which blocks come and go between rounds: pure data.
class SeatsOfRank {
public:
    SeatsOfRank(const Tournament& tournament, int rank, int ranks)
        : tournament_(tournament), rank_(rank), ranks_(ranks) {}

    [[nodiscard]] std::int64_t begin() const { return first_seat(rank_); }
    [[nodiscard]] std::int64_t end() const { return first_seat(rank_ + 1); }
    [[nodiscard]] int rank_of(std::int64_t player, std::int64_t round) const;

    struct Move {
        std::int64_t block;
        int other; ///< rank that it goes to or comes from
    };
    /// In the order of blocks.
    [[nodiscard]] std::vector<Move> leaving_after(std::int64_t round) const;
    [[nodiscard]] std::vector<Move> arriving_before(std::int64_t round) const;
    /// The blocks whose sums `rank` holds in the last round, in their order.
    [[nodiscard]] std::vector<std::int64_t> held_at_end(int rank) const;

private:
    [[nodiscard]] std::int64_t first_seat(int rank) const { return tournament_.seats() * rank / ranks_; }
    [[nodiscard]] std::vector<Move> moves(std::int64_t round, std::int64_t other_round) const;

    Tournament tournament_;
    int rank_, ranks_;
};

/// The sums that a tournament adds to, and how many of the n points are in a block.
struct TournamentSums {
    const TileSums* sums;
    std::int64_t points;
    std::int64_t block_size;
};

/// The same on all ranks, each of which plays its seats; a block's sums travel with it, and at the end all
/// ranks have all sums, bit by bit those of one rank. `stopped` and `stop`: a rank that has stopped tells
/// those that its blocks go to. @throws comm::RankFailed
void play_tournament_of_ranks(comm::Transport& ranks, const Tournament& tournament, int threads,
                              const TournamentMoves& moves, const TournamentSums& sums,
                              const std::function<bool()>& stopped, const std::function<void()>& stop);

} // namespace farfield
