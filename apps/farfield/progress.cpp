// The progress line: a bar and the parts, fitted to the terminal by leaving out what matters least.
#include "progress.h"

#include "options.h"
#include "ranks.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace farfield::app {
namespace {

using namespace std::chrono_literals;

constexpr const char* start_of_line = "\r\x1b[2K"; // carriage return, erase the line

int terminal_columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

std::string bar(double done, int width) {
    const auto filled = static_cast<int>(std::lround(done * width));
    return '[' + std::string(static_cast<std::size_t>(filled), '#') +
           std::string(static_cast<std::size_t>(width - filled), '.') + ']';
}

std::string beside_each_other(const std::vector<std::string>& parts) {
    std::string out;
    for (const auto& part : parts)
        if (!part.empty()) out += (out.empty() ? "" : "  ") + part;
    return out;
}

std::string plain_line(const ProgressState& progress) { return beside_each_other(progress.parts); }

std::string live_line(const ProgressState& progress, int columns) {
    auto parts = progress.parts;
    const auto room = static_cast<std::size_t>(std::max(columns - 1, 1)); // the last column may wrap
    for (const std::size_t dispensable : progress.dispensable) {
        if (beside_each_other(parts).size() <= room) break;
        parts[dispensable].clear();
    }
    auto line = beside_each_other(parts);
    if (line.size() + 14 <= room) {
        const auto width = std::min<std::size_t>(30, room - line.size() - 4);
        line = bar(progress.fraction, static_cast<int>(width)) + ' ' + line;
    }
    return line.substr(0, room);
}

} // namespace

std::function<void(double)> told_when_slow(ProgressDisplay& display, std::string what) {
    const auto start = std::chrono::steady_clock::now();
    return [&display, start, what = std::move(what)](double fraction) {
        if (std::chrono::steady_clock::now() - start < 1s) return;
        if (fraction < 1)
            display.update({fraction, false, {percent_text(fraction), what}, {}});
        else
            display.clear();
    };
}

std::string percent_text(double fraction) {
    return fmt::format("{:3.0f}%", 100 * std::floor(100 * std::clamp(fraction, 0.0, 1.0)) / 100);
}

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
    const auto whole = static_cast<long long>(std::min(std::ceil(seconds), 1e12));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    if (whole < 48LL * 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
    return fmt::format("{} days", whole / (24LL * 3600));
}

ProgressDisplay::Style ProgressDisplay::style_for_stderr(bool quiet) {
    if (quiet || !speaks()) return Style::none;
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
    return ::isatty(STDERR_FILENO) == 1 && !dumb ? Style::live : Style::plain;
}

void ProgressDisplay::update(const ProgressState& progress) {
    if (style_ == Style::live) draw(progress);
    if (style_ == Style::plain) print_plain(progress);
}

void ProgressDisplay::draw(const ProgressState& progress) {
    const auto now = Clock::now();
    const bool last = progress.last;
    if (any_ && !last && now - last_ < 100ms) return;
    any_ = true;
    last_ = now;
    say(start_of_line + live_line(progress, terminal_columns()));
    std::fflush(stderr);
    drawn_ = true;
}

void ProgressDisplay::print_plain(const ProgressState& progress) {
    const auto now = Clock::now();
    const auto tenth = static_cast<int>(10 * progress.fraction);
    const bool last = progress.last;
    const bool due = !any_ || last || (tenth > tenth_ && now - last_ >= 1s) || now - last_ >= 10s;
    if (!due) return;
    any_ = true;
    last_ = now;
    tenth_ = tenth;
    say(plain_line(progress) + '\n');
}

void ProgressDisplay::message(const std::string& text) {
    if (style_ == Style::none) return;
    clear();
    say("farfield: " + text + '\n');
}

void ProgressDisplay::clear() {
    if (!drawn_) return;
    say(start_of_line);
    std::fflush(stderr);
    drawn_ = false;
}

} // namespace farfield::app
