// Seconds by the clock, for reports.
#pragma once

#include <chrono>

namespace farfield {

class Stopwatch {
public:
    /// Seconds since construction or the last lap.
    [[nodiscard]] double seconds() const { return seconds_until(Clock::now()); }
    /// The same, and begins a new lap.
    double lap() {
        const auto now = Clock::now();
        const double seconds = seconds_until(now);
        start_ = now;
        return seconds;
    }

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] double seconds_until(Clock::time_point end) const {
        return std::chrono::duration<double>(end - start_).count();
    }
    Clock::time_point start_ = Clock::now();
};

} // namespace farfield
