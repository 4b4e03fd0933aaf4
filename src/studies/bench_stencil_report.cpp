// The report of bench_stencil as a table and as JSON.
#include "studies/bench_stencil.h"

#include "base/json.h"
#include "io/atomic_file.h"

#include <fmt/format.h>
namespace farfield {

std::string to_text(const BenchStencilReport& report) {
    auto out = fmt::format(
        "2D light (TE) in double with its energy, {} threads; medians of {}. A cell-step is the four "
        "equations of a cell.\n\"vs hand\": over the hand-written fused loop in the same region; \"cell "
        "vs whole\": the time of a cell over that in the whole grid.\nCompiling and loading {:.2f} s at "
        "most, from the cache {:.1f} ms; triad {:.1f} GB/s.\n",
        report.threads, report.repeats, report.compile_seconds, 1e3 * report.load_seconds,
        1e-9 * report.triad);
    std::int64_t n = -1;
    for (const auto& row : report.rows) {
        if (row.n != n) {
            n = row.n;
            out += fmt::format("\n{0} x {0}\n{1:<8} {2:<22} {3:<9} {4:>16} {5:>8} {6:>14}\n", n, "region", "",
                               "mask", "1e6 cell-steps/s", "vs hand", "cell vs whole");
        }
        out += fmt::format("{:<8} {:<22} {:<9} {:>16.0f} {:>8.2f} {:>14}\n", row.region, row.what, row.mask,
                           1e-6 * row.cell_steps, row.against_plain,
                           row.cell_against_whole > 0 ? fmt::format("{:.2f}", row.cell_against_whole) : "");
    }
    return out;
}

std::string to_json(const BenchStencilReport& report) {
    Json json{{"benchmark", "stencil"},
              {"program", bench_stencil_program(false)},
              {"threads", report.threads},
              {"repeats", report.repeats},
              {"compile_seconds", report.compile_seconds},
              {"load_seconds", report.load_seconds},
              {"triad", report.triad}};
    auto& rows = json["rows"] = Json::array();
    for (const auto& row : report.rows)
        rows.push_back(
            {{"what", row.what},
             {"region", row.region},
             {"mask", row.mask},
             {"n", row.n},
             {"cells", row.cells},
             {"time_tile", row.time_tile},
             {"seconds_a_step", row.seconds_a_step},
             {"cell_steps", row.cell_steps},
             {"fastest_cell_steps", row.fastest_cell_steps},
             {"against_plain", row.against_plain},
             {"cell_against_whole", row.cell_against_whole > 0 ? Json(row.cell_against_whole) : Json()}});
    return json.dump(1) + "\n";
}

void write_json(const BenchStencilReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
