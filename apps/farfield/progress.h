// Shows how a run is getting on, on stderr: one line that is rewritten on a terminal, now and then a plain
// line where stderr is a file or a pipe.
#pragma once

#include <farfield/run.h>

#include <chrono>
#include <string>

namespace farfield::app {

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
    void update(const RunProgress& progress);

    /// A line that stays, above the live one.
    void message(const std::string& text);

    /// Removes the live line.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    void draw(const RunProgress& progress);
    void print_plain(const RunProgress& progress);

    Style style_;
    bool drawn_ = false;
    bool any_ = false;
    int tenth_ = -1;
    Clock::time_point last_{};
};

/// "step 12/400  t = 1.5/4  dE/E = -1.2e-07  4.68e+09 pairs/s  12 s left", fitted to `columns` by leaving out
/// what matters least; with a bar in front where there is room.
std::string live_line(const RunProgress& progress, int columns);
std::string plain_line(const RunProgress& progress);

/// "8 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

} // namespace farfield::app
