// Threads: every task once, exceptions come back, and a forked process can go on computing.
#include "backend/threads/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <pthread.h>
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

// Whether each task ran once where the second ones wait for the first ones of others.
bool seconds_wait_for_firsts(int threads) {
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
    const auto once = [](const std::atomic<int>& runs) { return runs == 1; };
    return std::all_of(firsts.begin(), firsts.end(), once) &&
           std::all_of(seconds.begin(), seconds.end(), once);
}

// The status of a forked process that ends with 0 where `holds()`, and with a signal where that hangs.
template <class Condition>
int status_of_fork(const Condition& holds) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(holds() ? 0 : 1);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

} // namespace

// Threads begin in different runs of the tasks, and each task has one number.
TEST(Parallel, RunsOfTasksAreApart) {
    for (const std::int64_t runs : {1, 2, 3, 7})
        for (const std::int64_t tasks : {0, 1, 2, 3, 6, 7, 8, 50}) {
            std::vector<std::int64_t> order;
            for (std::int64_t k = 0; k < tasks; ++k) order.push_back(task_of_runs(k, tasks, runs));
            for (std::size_t k = 1; k < static_cast<std::size_t>(std::min(runs, tasks)); ++k)
                EXPECT_GE(order[k] - order[k - 1], std::max<std::int64_t>(1, tasks / runs));
            std::sort(order.begin(), order.end());
            for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(order[k], static_cast<std::int64_t>(k));
        }
}

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
        EXPECT_TRUE(seconds_wait_for_firsts(threads));
        EXPECT_THROW(parallel_own_twice(threads,
                                        [](int round, std::int64_t task) {
                                            if (round == 1 && task == 0) throw std::runtime_error("task 0");
                                        }),
                     std::runtime_error);
    }
}

TEST(Parallel, AForkedProcessGoesOn) {
    // There are threads now, which have begun: a sanitizer's locks would hang a fork while they do. The fork
    // copies only this one.
    ASSERT_TRUE(seconds_wait_for_firsts(2));
    EXPECT_EQ(status_of_fork([] { return sum_of_tasks(2) == 499500 && seconds_wait_for_firsts(7); }), 0);
    EXPECT_EQ(sum_of_tasks(2), 499500);
}

TEST(Parallel, GoesOnWithoutThreads) {
    ASSERT_TRUE(seconds_wait_for_firsts(2)); // so that the fork has to start threads of its own
    EXPECT_EQ(status_of_fork([] {
                  pthread_attr_t stacks; // larger than the address space
                  if (pthread_attr_init(&stacks) != 0 ||
                      pthread_attr_setstacksize(&stacks, std::size_t{1} << 48) != 0 ||
                      pthread_setattr_default_np(&stacks) != 0)
                      return false;
                  return sum_of_tasks(7) == 499500 && seconds_wait_for_firsts(7);
              }),
              0);
}

// On a machine that others use, too, a thread that waits gives its core away.
TEST(Parallel, WaitsWithoutTheProcessor) {
    using namespace std::chrono_literals;
    ASSERT_EQ(sum_of_tasks(2), 499500);
    const auto busy_before = std::clock(); // seconds of the processor, of all threads
    constexpr int calls = 60;
    for (int call = 0; call < calls; ++call)
        parallel_own(2, [](std::int64_t task) {
            if (task == 1) std::this_thread::sleep_for(3ms);
        });
    const double busy = static_cast<double>(std::clock() - busy_before) / CLOCKS_PER_SEC;
    EXPECT_LT(busy, 0.3 * calls * 3e-3); // one core that spins is busy for all of it
}

TEST(Parallel, TasksOfTasksRunWhereTheyAreGiven) {
    for (int threads : {2, 7}) {
        std::vector<std::atomic<int>> runs(100);
        parallel_for(threads, 10, [&](std::int64_t outer) {
            const auto own = std::this_thread::get_id();
            parallel_for(threads, 10, [&](std::int64_t inner) {
                if (std::this_thread::get_id() == own) ++runs[static_cast<std::size_t>(10 * outer + inner)];
            });
        });
        for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
}

// Rounds of very little work: threads come late for one and see the next.
TEST(Parallel, ManyShortCallsLoseAndRepeatNothing) {
    for (int threads : {2, 7}) {
        std::vector<std::int64_t> own(static_cast<std::size_t>(threads));
        std::atomic<std::int64_t> shared{0};
        constexpr int calls = 20'000;
        for (int call = 0; call < calls; ++call) {
            parallel_for(threads, 3, [&](std::int64_t) { ++shared; });
            if (call % 2 == 0)
                parallel_own(threads, [&](std::int64_t t) { ++own[static_cast<std::size_t>(t)]; });
        }
        EXPECT_EQ(shared, 3 * calls);
        for (const auto count : own) EXPECT_EQ(count, calls / 2);
    }
}
