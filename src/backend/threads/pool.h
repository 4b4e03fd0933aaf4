// The threads behind parallel.h: they stay between calls, look for work for some microseconds and then sleep.
// A machine that others use, too, does not wait for threads that burn its cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace farfield {

/// Whose calls must be over before `ThreadPool::run` returns.
enum class Attendance : std::uint8_t {
    all,          ///< work(t) of every t
    whoever_came, ///< those that have begun: the rest has nothing left to do
};

class ThreadPool {
public:
    ThreadPool() = default;
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// The pool of the calling thread. Each thread that asks has one of its own, and a forked process new
    /// ones, as a fork copies no threads. Null inside of `run`, where the threads have work already.
    static ThreadPool* mine();

    /// Threads beside the caller that there are after an attempt to have `wanted`.
    int helpers(int wanted);

    /// Calls work(0) here and work(1) to work(helpers) on the threads of these numbers, which `helpers` has
    /// promised. `work` does not throw.
    void run(int helpers, Attendance attendance, const std::function<void(int)>& work);

private:
    void serve(int number);
    bool enter();
    void leave();

    static constexpr unsigned open = 1U << 31U;

    std::vector<std::thread> threads_;
    // Written only while nobody is inside.
    const std::function<void(int)>* work_ = nullptr;
    int invited_ = 0; ///< the threads of numbers up to it
    unsigned round_of_work_ = 0;

    alignas(64) std::atomic<unsigned> round_{0}; ///< counts the calls of `run`
    alignas(64) std::atomic<unsigned> gate_{0};  ///< `open`, and how many threads are inside
    std::atomic<unsigned> came_{0};              ///< invited threads that have entered in this round
    std::atomic<bool> leaving_{false};           ///< there will be no more rounds
};

} // namespace farfield
