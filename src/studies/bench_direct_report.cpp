// The report of bench_direct as a table and as JSON.
#include "studies/bench_direct.h"

#include "base/json.h"
#include "io/atomic_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace farfield {

namespace {

constexpr const char* about_ceiling = "\nThe ceiling is the arithmetic of the plain loop on registers alone: "
                                      "each distance computed twice, once a direction.\n"
                                      "symmetric passes it, for it computes a distance once and uses it for "
                                      "both directions: it is no bound of that rung.\n";

bool has_ceiling(const BenchDirectReport& report) {
    return std::any_of(report.rows.begin(), report.rows.end(),
                       [](const BenchDirectRow& row) { return row.rung == "ceiling"; });
}

} // namespace

std::string to_text(const BenchDirectReport& report) {
    std::string out = fmt::format(
        "Field of a Plummer sphere, softening 0.01; medians of {} by the {} clock; pairs counted: all N².\n"
        "Error: relative L2 at sampled points, float against inputs rounded to float.\n",
        report.repeats, report.clock);
    const auto print_scaling = [&](std::int64_t size) {
        for (const auto& s : report.scaling)
            if (s.n == size)
                out += fmt::format(
                    "{:<9} {:<11} {} threads: {:.3f} times one; registers alone: {:.3f} times ({:.2f} of it, "
                    "fastest runs)\n",
                    name_of(s.precision), s.rung, s.threads, s.gain, s.ceiling_gain, s.gain / s.ceiling_gain);
    };
    std::int64_t n = -1;
    for (const auto& row : report.rows) {
        if (row.n != n) {
            print_scaling(n);
            n = row.n;
            out += fmt::format("\nN = {}\n{:<9} {:<11} {:<7} {:>7} {:>12} {:>10} {:>9} {:>9} {:>8}\n", n,
                               "precision", "rung", "isa", "threads", "1e9 pairs/s", "seconds", "error",
                               "vs naive", "vs plain");
        }
        out += fmt::format("{:<9} {:<11} {:<7} {:>7} {:>12.3f} {:>10.4g} {:>9} {:>9.1f} {:>8}\n",
                           name_of(row.precision), row.rung, name_of(row.isa), row.threads,
                           1e-9 * row.pairs_per_second, row.seconds,
                           row.error < 0.0 ? "" : fmt::format("{:.1e}", row.error), row.speedup,
                           row.against_plain > 0.0 ? fmt::format("{:.3f}", row.against_plain) : "");
    }
    print_scaling(n);
    if (has_ceiling(report)) out += about_ceiling;
    return out;
}

std::string to_json(const BenchDirectReport& report) {
    const auto or_null = [](bool present, double value) { return present ? Json(value) : Json(); };
    Json json{{"benchmark", "direct"},
              {"model", "plummer"},
              {"softening", 0.01},
              {"clock", report.clock},
              {"repeats", report.repeats}};
    auto& rows = json["rows"] = Json::array();
    for (const auto& row : report.rows)
        rows.push_back({{"rung", row.rung},
                        {"isa", name_of(row.isa)},
                        {"precision", name_of(row.precision)},
                        {"n", row.n},
                        {"targets", row.targets},
                        {"threads", row.threads},
                        {"seconds", row.seconds},
                        {"fastest_seconds", row.fastest_seconds},
                        {"pairs_per_second", row.pairs_per_second},
                        {"error", or_null(row.error >= 0.0, row.error)},
                        {"speedup", row.speedup},
                        {"against_plain", or_null(row.against_plain > 0.0, row.against_plain)}});
    auto& scaling = json["scaling"] = Json::array();
    for (const auto& s : report.scaling)
        scaling.push_back({{"rung", s.rung},
                           {"precision", name_of(s.precision)},
                           {"n", s.n},
                           {"threads", s.threads},
                           {"gain", s.gain},
                           {"ceiling_gain", s.ceiling_gain}});
    return json.dump(2) + "\n";
}

void write_json(const BenchDirectReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
