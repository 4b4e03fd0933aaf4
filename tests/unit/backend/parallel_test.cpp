// Threads: every task once, exceptions come back, and a forked process can go on computing.
#include "backend/threads/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace farfield;

namespace {

std::int64_t sum_of_tasks(int threads) {
    std::atomic<std::int64_t> sum{0};
    parallel_for(threads, 1000, [&](std::int64_t task) { sum += task; });
    return sum;
}

} // namespace

TEST(Parallel, RunsEachTaskOnce) {
    for (int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> runs(500);
        parallel_for(threads, 500, [&](std::int64_t task) { ++runs[static_cast<std::size_t>(task)]; });
        for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
}

TEST(Parallel, RethrowsWhatATaskThrows) {
    for (int threads : {1, 2, 7})
        EXPECT_THROW(parallel_for(threads, 100,
                                  [](std::int64_t task) {
                                      if (task == 50) throw std::runtime_error("task 50");
                                  }),
                     std::runtime_error);
}

TEST(Parallel, SecondTasksMayWaitForFirstOnes) {
    for (int threads : {1, 2, 7}) {
        const auto count = static_cast<std::size_t>(threads);
        std::vector<std::atomic<int>> firsts(count);
        std::vector<std::atomic<int>> seconds(count);
        parallel_own_twice(threads, [&](int round, std::int64_t task) {
            const auto t = static_cast<std::size_t>(task);
            if (round == 0) {
                ++firsts[t];
                return;
            }
            while (firsts[(t + 1) % count] == 0) std::this_thread::yield();
            ++seconds[t];
        });
        for (const auto& runs : firsts) EXPECT_EQ(runs, 1);
        for (const auto& runs : seconds) EXPECT_EQ(runs, 1);
        EXPECT_THROW(parallel_own_twice(threads,
                                        [](int round, std::int64_t task) {
                                            if (round == 1 && task == 0) throw std::runtime_error("task 0");
                                        }),
                     std::runtime_error);
    }
}

TEST(Parallel, AForkedProcessGoesOn) {
    ASSERT_EQ(sum_of_tasks(2), 499500); // OpenMP has its threads now; the fork copies only this one
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(20); // a hang ends the child with a signal
        _exit(sum_of_tasks(2) == 499500 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "the child hung";
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(sum_of_tasks(2), 499500);
}
