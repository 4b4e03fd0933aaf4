#include "sums/direct/cpu/tournament.h"

#include "backend/threads/await.h"
#include "backend/threads/parallel.h"

#include <algorithm>
#include <atomic>

namespace farfield {
namespace {

/// How many of a block's calls are done. A cache line each: threads wait on them.
struct alignas(64) Progress {
    std::atomic<int> done{0};

    // Whoever holds the calls before is running or has finished them, so this is short, but on a machine
    // that has other things to do.
    void wait_for(std::int64_t calls) const {
        for (int now = done.load(std::memory_order_acquire); now < calls;
             now = done.load(std::memory_order_acquire))
            await_change(done, now);
    }
    void finish() {
        done.fetch_add(1, std::memory_order_release);
        done.notify_all();
    }
};

} // namespace

std::int64_t mutual_block_size(std::int64_t points) {
    if (points < 2048) return 128;
    return points < 16384 ? 256 : mutual_block;
}

std::pair<std::int64_t, std::int64_t> Tournament::players_at(std::int64_t seat, std::int64_t round) const {
    const auto a = seat == 0 ? players_ - 1 : (round + seat) % rounds();
    const auto b = seat == 0 ? round : (round - seat + rounds()) % rounds();
    return {a, b};
}

std::int64_t Tournament::seat_of(std::int64_t player, std::int64_t round) const {
    if (player == players_ - 1) return 0;
    const auto ahead = (player - round + rounds()) % rounds(); // as the seat's first player
    return ahead < seats() ? ahead : rounds() - ahead;         // or as its second
}

void play_tournament(const Tournament& tournament, int threads, const TournamentMoves& moves) {
    const auto players = tournament.players(), seats = tournament.seats();
    const bool alone = threads == 1; // then tasks run in their order, and nobody waits
    std::vector<Progress> progress(alone ? 0 : static_cast<std::size_t>(players));
    // Tasks start in rising order and wait only for tasks of earlier rounds, so the lowest unfinished one can
    // always go on.
    parallel_for(threads, players + tournament.rounds() * seats, [&](std::int64_t task) {
        if (task < players) {
            if (tournament.is_there(task)) moves.own(task);
            if (!alone) progress[static_cast<std::size_t>(task)].finish();
            return;
        }
        const auto round = (task - players) / seats;
        const auto [a, b] = tournament.players_at((task - players) % seats, round);
        const bool both = tournament.is_there(a) && tournament.is_there(b);
        if (alone) {
            if (both) moves.meet(a, b);
            return;
        }
        auto& progress_a = progress[static_cast<std::size_t>(a)];
        auto& progress_b = progress[static_cast<std::size_t>(b)];
        progress_a.wait_for(round + 1);
        progress_b.wait_for(round + 1);
        if (both) moves.meet(a, b);
        progress_a.finish();
        progress_b.finish();
    });
}

} // namespace farfield
