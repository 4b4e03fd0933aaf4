#include "backend/threads/pool.h"

#include "backend/threads/await.h"
#include "backend/threads/place.h"

#include <exception>
#include <pthread.h>

namespace farfield {
namespace {

std::atomic<unsigned> forks{0}; ///< that lie between this process and the one that loaded the library
[[maybe_unused]] const int forks_are_watched = pthread_atfork(nullptr, nullptr, [] { ++forks; });

// True on threads of a pool, and on others while they run one.
thread_local bool at_work = false;

struct OwnPool {
    std::unique_ptr<ThreadPool> pool;
    unsigned forks_before = 0;

    ~OwnPool() { forget_lost_threads(); }
    // The threads of a pool made before a fork do not exist; to join them would wait for ever.
    void forget_lost_threads() {
        if (pool && forks_before != forks) static_cast<void>(pool.release());
    }
};

thread_local OwnPool own;

} // namespace

ThreadPool* ThreadPool::mine() {
    if (at_work) return nullptr;
    own.forget_lost_threads();
    if (!own.pool) {
        own.pool = std::make_unique<ThreadPool>();
        own.forks_before = forks;
    }
    return own.pool.get();
}

ThreadPool::~ThreadPool() {
    leaving_.store(true, std::memory_order_release);
    ++round_;
    round_.notify_all();
    for (auto& thread : threads_) thread.join();
}

int ThreadPool::helpers(int wanted) {
    look_at_places();
    try {
        while (static_cast<int>(threads_.size()) < wanted)
            threads_.emplace_back(&ThreadPool::serve, this, static_cast<int>(threads_.size()) + 1);
    } catch (const std::exception&) { // the system has no more: fewer do the work
        return static_cast<int>(threads_.size());
    }
    return wanted;
}

void ThreadPool::run(int helpers, Attendance attendance, const std::function<void(int)>& work) {
    work_ = &work;
    invited_ = helpers;
    round_of_work_ = round_.load(std::memory_order_relaxed) + 1;
    came_.store(0, std::memory_order_relaxed);
    gate_.store(open, std::memory_order_release);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    at_work = true;
    work(0);
    at_work = false;
    if (attendance == Attendance::all)
        for (unsigned came = came_; came != static_cast<unsigned>(helpers); came = came_)
            await_change(came_, came);
    gate_.fetch_and(~open, std::memory_order_acq_rel);
    for (unsigned inside = gate_.load(std::memory_order_acquire); inside != 0;
         inside = gate_.load(std::memory_order_acquire))
        await_change(gate_, inside);
}

bool ThreadPool::enter() {
    unsigned now = gate_.load(std::memory_order_acquire);
    while ((now & open) != 0)
        if (gate_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) return true;
    return false;
}

void ThreadPool::leave() {
    if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.notify_all();
}

void ThreadPool::serve(int number) {
    at_work = true;
    take_place(number);
    unsigned seen = 0;   // value of round_
    unsigned served = 0; // round in which this thread has been inside
    for (;;) {
        await_change(round_, seen);
        seen = round_.load(std::memory_order_acquire);
        if (!enter()) {
            // Closed before this thread came, or for good.
            if (leaving_.load(std::memory_order_acquire)) return;
            continue;
        }
        // A thread that comes late for a round may enter the next before round_ counts it, and see that
        // later.
        if (round_of_work_ != served && number <= invited_) {
            came_.fetch_add(1, std::memory_order_acq_rel);
            came_.notify_all();
            (*work_)(number);
        }
        served = round_of_work_;
        leave();
    }
}

} // namespace farfield
