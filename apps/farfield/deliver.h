// What commands that measure do with their report: JSON to its file, a table to the terminal.
#pragma once

#include "options.h"
#include "progress.h"

#include "studies/study_progress.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

namespace farfield::app {

struct Delivery {
    std::filesystem::path json; ///< empty: none
    bool quiet = false;
};

/// Adds --json and --quiet.
inline void add_delivery(CommandParser app, Delivery& delivery) {
    app.add("--json", delivery.json, "The table as JSON").type_name("FILE");
    app.add_flag("--quiet", delivery.quiet, "Print nothing but errors");
}

/// On a terminal a line that says what is measured, rewritten and removed in the end; else nothing.
class MeasuringLine {
public:
    explicit MeasuringLine(bool quiet)
        : live_(ProgressDisplay::style_for_stderr(quiet) == ProgressDisplay::Style::live) {}
    ~MeasuringLine() { show({}); }
    MeasuringLine(const MeasuringLine&) = delete;
    MeasuringLine& operator=(const MeasuringLine&) = delete;

    void show(const std::string& what) const {
        if (live_) say("\r\x1b[K" + (what.empty() ? what : "measuring " + what));
    }

private:
    bool live_;
};

/// Measures by `measure(progress)`, once it is known that the file can be made, and delivers. @returns the
/// exit code.
template <class Measure>
int deliver(const Delivery& delivery, Measure&& measure) {
    if (!delivery.json.empty()) require_output(delivery.json, "--json");
    const auto report = [&] {
        const MeasuringLine line(delivery.quiet);
        return measure([&line](const std::string& what) { line.show(what); });
    }();
    if (!delivery.json.empty()) write_json(report, delivery.json);
    if (delivery.quiet) return 0;
    fmt::print("{}", to_text(report));
    if (!delivery.json.empty()) fmt::print("Files made:\n  {}\n", delivery.json.string());
    return 0;
}

} // namespace farfield::app
