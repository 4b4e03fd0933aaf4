// The report of bench_split as a table and as JSON.
#include "base/json.h"
#include "io/atomic_file.h"
#include "studies/bench_points.h"
#include "studies/bench_split.h"

#include <fmt/format.h>
namespace farfield {

std::string to_text(const BenchSplitReport& report) {
    auto out = fmt::format("One sum divided between {} ({} threads) and {}; medians of {} by the clock.\n\n"
                           "{:<6} {:>8} {:>9} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>7} {:>8}\n",
                           report.cpu, report.threads, report.device, report.repeats, "", "N", "CPU has",
                           "share", "ms", "CPU ms", "GPU ms", "moved ms", "overl. ms", "gain", "error");
    for (const auto& row : report.rows)
        out += fmt::format("{:<6} {:>8} {:>9} {:>7.2f}% {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f} "
                           "{:>7.3f} {:>8.1e}\n",
                           name_of(row.precision), row.n, row.cpu_targets,
                           100.0 * static_cast<double>(row.cpu_targets) / static_cast<double>(row.n),
                           1e3 * row.seconds, 1e3 * row.cpu_seconds, 1e3 * row.gpu_seconds,
                           1e3 * row.serial_seconds, 1e3 * row.overlapped_seconds, row.gain, row.error);
    out += "\ngain: time of the GPU alone over that of both; neither counts transfers.\n"
           "moved: the same, with points sent to the GPU from pinned memory and its sums brought back, one "
           "after the other;\n"
           "overl.: with the GPU's two sums on a stream each, so that one moves its data while the other "
           "computes.\n"
           "The CPU's own share is at work meanwhile. The GPU alone has one sum, and nothing to overlap.\n";
    return out;
}

std::string to_json(const BenchSplitReport& report) {
    Json json{{"benchmark", "split"},         {"cpu", report.cpu},         {"threads", report.threads},
              {"device", report.device},      {"repeats", report.repeats}, {"clock", "wall"},
              {"softening", bench_softening}, {"model", "plummer"}};
    auto& rows = json["rows"] = Json::array();
    for (const auto& row : report.rows)
        rows.push_back({{"precision", name_of(row.precision)},
                        {"n", row.n},
                        {"cpu_targets", row.cpu_targets},
                        {"seconds", row.seconds},
                        {"cpu_seconds", row.cpu_seconds},
                        {"gpu_seconds", row.gpu_seconds},
                        {"serial_transfers_seconds", row.serial_seconds},
                        {"overlapped_transfers_seconds", row.overlapped_seconds},
                        {"gain", row.gain},
                        {"error", row.error}});
    return json.dump(2) + "\n";
}

void write_json(const BenchSplitReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
