#include "backend/threads/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace farfield {
namespace {

TEST(Crew, GivesEachThreadItsPartEveryTime) {
    Crew crew(5);
    std::vector<std::thread::id> first(5), thread(5);
    std::vector<int> calls(5);
    crew.run([&](int i) { first[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
    for (int round = 0; round < 1000; ++round)
        crew.run([&](int i) {
            ++calls[static_cast<std::size_t>(i)];
            thread[static_cast<std::size_t>(i)] = std::this_thread::get_id();
        });
    EXPECT_EQ(calls, std::vector<int>(5, 1000));
    EXPECT_EQ(thread, first);
}

TEST(Crew, WakesUpAfterAPause) {
    Crew crew(2);
    std::atomic<int> calls{0};
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30)); // long enough for the threads to sleep
        crew.run([&](int) { ++calls; });
    }
    EXPECT_EQ(calls, 6);
}

TEST(Crew, RethrowsTheExceptionOfTheLowestAndGoesOn) {
    Crew crew(4);
    std::atomic<int> calls{0};
    try {
        crew.run([&](int i) {
            ++calls;
            if (i >= 2) throw std::runtime_error("thread " + std::to_string(i));
        });
        FAIL() << "the exception was lost";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "thread 2");
    }
    EXPECT_EQ(calls, 4);
    crew.run([&](int) { ++calls; });
    EXPECT_EQ(calls, 8);
}

} // namespace
} // namespace farfield
