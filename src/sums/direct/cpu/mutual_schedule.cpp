#include "sums/direct/cpu/mutual_schedule.h"

#include "backend/threads/await.h"
#include "backend/threads/parallel.h"
#include "sums/direct/cpu/tiles.h"

#include <atomic>
#include <vector>

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

void play_tournament(std::int64_t blocks, int threads, const std::function<void(std::int64_t)>& own,
                     const std::function<void(std::int64_t, std::int64_t)>& meet) {
    // An odd number of blocks gets one that is not there; who meets it sits out the round.
    const auto players = blocks + blocks % 2;
    const auto rounds = players - 1;
    const auto matches = players / 2;
    const bool alone = threads == 1; // then tasks run in their order, and nobody waits
    std::vector<Progress> progress(alone ? 0 : static_cast<std::size_t>(players));
    // Tasks start in rising order and wait only for tasks of earlier rounds, so the lowest unfinished one can
    // always go on.
    parallel_for(threads, players + rounds * matches, [&](std::int64_t task) {
        if (task < players) {
            if (task < blocks) own(task);
            if (!alone) progress[static_cast<std::size_t>(task)].finish();
            return;
        }
        const auto round = (task - players) / matches;
        const auto match = (task - players) % matches;
        // The last player stays, the others move on by one seat each round.
        const auto a = match == 0 ? players - 1 : (round + match) % rounds;
        const auto b = match == 0 ? round : (round - match + rounds) % rounds;
        if (alone) {
            if (a < blocks && b < blocks) meet(a, b);
            return;
        }
        auto& progress_a = progress[static_cast<std::size_t>(a)];
        auto& progress_b = progress[static_cast<std::size_t>(b)];
        progress_a.wait_for(round + 1);
        progress_b.wait_for(round + 1);
        if (a < blocks && b < blocks) meet(a, b);
        progress_a.finish();
        progress_b.finish();
    });
}

} // namespace farfield
