// The report of bench_scaling as a table, as JSON and as a picture.
#include "studies/bench_scaling.h"

#include "base/json.h"
#include "io/atomic_file.h"
#include "io/picture/plot_curves.h"

#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>

namespace farfield {
namespace {

bool is_grid(const ScalingRow& row) { return row.work == ScalingWork::grid; }
std::string_view kind_of(const ScalingRow& row) { return row.weak ? "weak" : "strong"; }

bool starts_table(const BenchScalingReport& report, std::size_t i) {
    return i == 0 || report.rows[i - 1].work != report.rows[i].work ||
           report.rows[i - 1].weak != report.rows[i].weak;
}

/// "4 ranks, each with its GPU (NVIDIA H200)"
std::string job_text(const BenchScalingReport& report) {
    const auto ranks = fmt::format("{} rank{}", report.ranks, report.ranks == 1 ? "" : "s");
    if (!report.gpu.empty()) return fmt::format("{}, each with its GPU ({})", ranks, report.gpu);
    return fmt::format("{}, {} thread{} each", ranks, report.threads, report.threads == 1 ? "" : "s");
}

} // namespace

std::string to_text(const BenchScalingReport& report) {
    auto out = fmt::format("{}; medians of {}; bodies of trees {}.\n", job_text(report), report.repeats,
                           report.scattered ? "scattered over the ranks" : "by regions");
    if (report.ranks > 1)
        out += fmt::format(
            "A message between ranks 0 and 1: {:.2f} us, and {:.2f} GB/s in 16 MiB. Model: the work's "
            "share and the messages of the rank that sends most.\n",
            1e6 * report.latency, 1e-9 * report.bandwidth);
    else
        out += "One rank: start it with mpirun -n P to see how P ranks speed it up.\n";
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        const auto& row = report.rows[i];
        if (starts_table(report, i))
            out += fmt::format("\n{}, {}\n{:>6} {:>9} {:>10} {:>9} {:>10} {:>10} {:>9} {:>9}  {}\n",
                               name_of(row.work), row.weak ? "as much work a rank" : "the same work in all",
                               "ranks", is_grid(row) ? "cells" : "N", "seconds", "speed-up", "efficiency",
                               "model", "messages", "MB", is_grid(row) ? "bits" : "error");
        out += fmt::format("{:>6} {:>9} {:>10.4g} {:>9.3f} {:>9.1f}% {:>10.4g} {:>9} {:>9.3g}  {}\n",
                           row.ranks, is_grid(row) ? fmt::format("{}²", row.size) : std::to_string(row.size),
                           row.seconds, row.speed_up, 100.0 * row.efficiency, row.predicted_seconds,
                           row.messages, 1e-6 * static_cast<double>(row.bytes),
                           !is_grid(row)   ? fmt::format("{:.1e}", row.error)
                           : row.weak      ? ""
                           : row.same_bits ? "those of one rank"
                                           : "DIFFERENT");
    }
    return out;
}

std::string to_json(const BenchScalingReport& report) {
    Json json{{"benchmark", "scaling"},    {"ranks", report.ranks},
              {"threads", report.threads}, {"gpu", report.gpu.empty() ? Json() : Json(report.gpu)},
              {"repeats", report.repeats}, {"scattered", report.scattered},
              {"latency", report.latency}, {"bandwidth", report.bandwidth}};
    auto& rows = json["rows"] = Json::array();
    for (const auto& row : report.rows) {
        const auto of = [](bool here, const auto& value) { return here ? Json(value) : Json(); };
        const bool grid = is_grid(row);
        rows.push_back({{"work", name_of(row.work)},
                        {"scaling", kind_of(row)},
                        {"ranks", row.ranks},
                        {"size", row.size},
                        {"steps", of(grid, row.steps)},
                        {"seconds", row.seconds},
                        {"speed_up", row.speed_up},
                        {"efficiency", row.efficiency},
                        {"predicted_seconds", row.predicted_seconds},
                        {"messages", row.messages},
                        {"bytes", row.bytes},
                        {"error", of(!grid, row.error)},
                        {"same_bits", of(grid && !row.weak, row.same_bits)},
                        {"description", of(grid, row.description)}});
    }
    return json.dump(2) + "\n";
}

void write_json(const BenchScalingReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

void write_picture(const BenchScalingReport& report, const std::filesystem::path& path) {
    picture::CurvesPlot plot{
        .title = job_text(report), .x_label = "ranks", .y_label = "times faster than one", .curves = {}};
    picture::NamedCurve ideal{.name = "ideal", .x = {}, .y = {}, .dashed = true};
    for (int ranks = 1; ranks <= report.ranks; ++ranks) {
        ideal.x.push_back(ranks);
        ideal.y.push_back(ranks);
    }
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        const auto& row = report.rows[i];
        if (starts_table(report, i))
            plot.curves.push_back(
                {.name = fmt::format("{}, {}", name_of(row.work), kind_of(row)), .x = {}, .y = {}});
        plot.curves.back().x.push_back(row.ranks);
        plot.curves.back().y.push_back(row.speed_up);
    }
    plot.curves.push_back(std::move(ideal));
    picture::plot_curves(path, plot);
}

} // namespace farfield
