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

/// Laps of work that may be so short that reading the clock between them would cost more than they do: then
/// only the whole is measured, and each lap but the last is 0 and belongs to it.
class LapWatch {
public:
    explicit LapWatch(bool every_lap) : every_lap_(every_lap) {}
    double lap() { return every_lap_ ? watch_.lap() : 0.0; }
    double last_lap() { return watch_.lap(); }

private:
    bool every_lap_;
    Stopwatch watch_;
};

} // namespace farfield
