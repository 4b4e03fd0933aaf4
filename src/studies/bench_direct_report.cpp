// The report of bench_direct as a table and as JSON.
#include "studies/bench_direct.h"

#include "io/atomic_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace farfield {

std::string to_text(const BenchDirectReport& report) {
    std::string out = fmt::format(
        "Field of a Plummer sphere, softening 0.01; medians of {} by the {} clock; pairs counted: all N².\n"
        "Error: relative L2 at sampled points, float against inputs rounded to float.\n",
        report.repeats, report.clock);
    std::int64_t n = -1;
    for (const auto& row : report.rows) {
        if (row.n != n) {
            n = row.n;
            fmt::format_to(std::back_inserter(out),
                           "\nN = {}\n{:<9} {:<11} {:<7} {:>7} {:>12} {:>10} {:>9} {:>9} {:>8}\n", n,
                           "precision", "rung", "isa", "threads", "1e9 pairs/s", "seconds", "error",
                           "vs naive", "vs plain");
        }
        fmt::format_to(
            std::back_inserter(out), "{:<9} {:<11} {:<7} {:>7} {:>12.3f} {:>10.4g} {:>9} {:>9.1f} {:>8}\n",
            name_of(row.precision), row.rung, name_of(row.isa), row.threads, 1e-9 * row.pairs_per_second,
            row.seconds, row.error < 0.0 ? "" : fmt::format("{:.1e}", row.error), row.speedup,
            row.against_plain > 0.0 ? fmt::format("{:.3f}", row.against_plain) : "");
    }
    return out;
}

std::string to_json(const BenchDirectReport& report) {
    using nlohmann::ordered_json;
    const auto or_null = [](bool present, double value) {
        return present ? ordered_json(value) : ordered_json();
    };
    ordered_json json{{"benchmark", "direct"},
                      {"model", "plummer"},
                      {"softening", 0.01},
                      {"clock", report.clock},
                      {"repeats", report.repeats}};
    auto& rows = json["rows"] = ordered_json::array();
    for (const auto& row : report.rows)
        rows.push_back({{"rung", row.rung},
                        {"isa", name_of(row.isa)},
                        {"precision", name_of(row.precision)},
                        {"n", row.n},
                        {"targets", row.targets},
                        {"threads", row.threads},
                        {"seconds", row.seconds},
                        {"pairs_per_second", row.pairs_per_second},
                        {"error", or_null(row.error >= 0.0, row.error)},
                        {"speedup", row.speedup},
                        {"against_plain", or_null(row.against_plain > 0.0, row.against_plain)}});
    return json.dump(2) + "\n";
}

void write_json(const BenchDirectReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
