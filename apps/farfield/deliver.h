// What commands that measure do with their report: JSON to its file, a table to the terminal.
#pragma once

#include "options.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace farfield::app {

struct Delivery {
    std::filesystem::path json; ///< empty: none
    bool quiet = false;
};

/// Adds --json and --quiet.
inline void add_delivery(CLI::App& app, Delivery& delivery) {
    app.add_option("--json", delivery.json, "The table as JSON")->type_name("FILE");
    app.add_flag("--quiet", delivery.quiet, "Print nothing but errors");
}

/// Measures, once it is known that the file can be made, and delivers. @returns the exit code.
template <class Measure>
int deliver(const Delivery& delivery, Measure&& measure) {
    if (!delivery.json.empty()) require_output(delivery.json, "--json");
    const auto report = measure();
    if (!delivery.json.empty()) write_json(report, delivery.json);
    if (delivery.quiet) return 0;
    fmt::print("{}", to_text(report));
    if (!delivery.json.empty()) fmt::print("Files made:\n  {}\n", delivery.json.string());
    return 0;
}

} // namespace farfield::app
