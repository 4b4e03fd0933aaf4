// Shows how long work is getting on, on stderr: one line that is rewritten on a terminal, now and then a
// plain line where stderr is a file or a pipe.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace farfield::app {

/// How far the work is, and what to say of it.
struct ProgressState {
    double fraction = 0.0;
    bool last = false;                    ///< nothing is left to do
    std::vector<std::string> parts;       ///< of the line, in order; empty ones are left out
    std::vector<std::size_t> dispensable; ///< of the parts, least important first, where the line is short
};

class ProgressDisplay {
public:
    enum class Style { none, live, plain };

    /// live on a terminal that can rewrite a line, otherwise plain; none when quiet.
    static Style style_for_stderr(bool quiet);

    explicit ProgressDisplay(Style style) : style_(style) {}
    ~ProgressDisplay() { clear(); }
    ProgressDisplay(const ProgressDisplay&) = delete;
    ProgressDisplay& operator=(const ProgressDisplay&) = delete;

    /// At most ten updates a second when live; a plain line each 10 % but at most one a second, or after 10
    /// s.
    void update(const ProgressState& progress);

    /// A line that stays, above the live one.
    void message(const std::string& text);

    /// Removes the live line.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    void draw(const ProgressState& progress);
    void print_plain(const ProgressState& progress);

    Style style_;
    bool drawn_ = false;
    bool any_ = false;
    int tenth_ = -1;
    Clock::time_point last_{};
};

/// For work that is mostly over at once: tells `display` how far it is once it has taken a second. The
/// display outlives the result.
std::function<void(double)> told_when_slow(ProgressDisplay& display, std::string what);

/// " 37%", rounded down.
std::string percent_text(double fraction);

/// "8 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

} // namespace farfield::app
