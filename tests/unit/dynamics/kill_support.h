// Runs in processes of their own that are killed at random moments and started again.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <sys/types.h>
#include <sys/wait.h>
#include <thread>

namespace farfield::test {

/// How long processes live. The longest life is seconds · (first + 0.1 · kills so far): it grows, so that the
/// work ends. The shortest is `least` times the longest.
struct Lives {
    double seconds = 0.0; ///< that the work takes if nothing kills it
    double first = 0.0;
    double least = 0.0;
};

/// Starts processes by `start`, which returns their number, and kills each after a random life until one has
/// ended by itself. A process that ends with an error is a failure.
template <class Start>
void kill_until_finished(std::mt19937& random, const Lives& lives, Start&& start) {
    int kills = 0;
    for (bool done = false; !done;) {
        const double most = lives.seconds * (lives.first + 0.1 * kills);
        const auto life =
            std::chrono::duration<double>(std::uniform_real_distribution<>(lives.least * most, most)(random));
        const pid_t pid = start();
        ASSERT_GT(pid, 0);
        std::this_thread::sleep_for(life);
        kill(pid, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
        done = WIFEXITED(status);
        kills += done ? 0 : 1;
    }
    std::printf("killed %d times\n", kills);
}

/// A generator with a random seed, which is printed.
inline std::mt19937 seeded_generator() {
    const auto seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    return std::mt19937(seed);
}

} // namespace farfield::test
