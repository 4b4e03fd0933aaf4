// Progress of one long piece of work on many threads, and the wish to give it up.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace farfield {

/// Threads tell it what they have done; the thread that made it calls the hooks now and then. Empty hooks
/// cost next to nothing.
class WorkWatch {
public:
    /// `total`: the work in any unit. `progress` gets shares of it, from 0 to 1.
    WorkWatch(double total, std::function<void(double)> progress, std::function<bool()> stop_requested)
        : total_(total), progress_(std::move(progress)), stop_requested_(std::move(stop_requested)) {}

    /// True once the work is to be given up: what is still to do may be left out.
    [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

    /// The wish of another rank.
    void give_up() { stopped_.store(true, std::memory_order_relaxed); }

    /// To be called from any thread after a part of the work.
    void done(double amount) {
        done_.fetch_add(static_cast<std::int64_t>(amount), std::memory_order_relaxed);
        if (std::this_thread::get_id() == owner_) ask();
    }

    /// Calls the hooks if they were not called just before. For the thread that made the watch.
    void ask() {
        if (!stop_requested_ && !progress_) return;
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        if (stop_requested_ && stop_requested_()) stopped_.store(true, std::memory_order_relaxed);
        if (progress_ && total_ > 0.0)
            progress_(std::min(1.0, static_cast<double>(done_.load(std::memory_order_relaxed)) / total_));
    }

private:
    double total_;
    std::function<void(double)> progress_;
    std::function<bool()> stop_requested_;
    std::thread::id owner_ = std::this_thread::get_id();
    std::chrono::steady_clock::time_point next_{};
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> stopped_{false};
};

} // namespace farfield
