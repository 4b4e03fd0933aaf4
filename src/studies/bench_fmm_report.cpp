// The report of bench_fmm as a table, as JSON and as a picture.
#include "studies/bench_fmm.h"

#include "base/json.h"
#include "io/atomic_file.h"
#include "io/picture/plot_curves.h"

#include <array>
#include <fmt/format.h>
#include <map>

namespace farfield {
namespace {

constexpr std::array pass_names{"P2P", "P2M", "M2M", "M2L", "L2L", "L2P"};

std::string pass_text(const BenchFmmRow& row, std::string_view wanted) {
    for (const auto& [name, seconds] : row.passes)
        if (name == wanted) return fmt::format("{:.3g}", 1e3 * seconds);
    return "";
}

/// "AVX-512, 2 threads", or the GPU.
std::string machine_text(const BenchFmmReport& report) {
    if (!report.gpu.empty()) return report.gpu;
    return fmt::format("{}, {} thread{}", name_of(report.isa), report.threads,
                       report.threads == 1 ? "" : "s");
}

std::string order_text(const BenchFmmRow& row) {
    return row.order > 0 ? std::to_string(row.order) : "direct";
}

} // namespace

std::string to_text(const BenchFmmReport& report) {
    auto out = fmt::format(
        "Potential and field of charges in a cube, {}, {}; medians of {}, in ms.\n"
        "Peak: {:.1f} Gflop/s, fused multiply-adds on registers alone. A pair counts 20 operations, a "
        "multiply-add 2.\n"
        "Errors: relative L2 at sampled targets, against exact sums.\n{}",
        name_of(report.precision), machine_text(report), report.repeats, 1e-9 * report.peak_flops,
        report.gpu.empty() ? "" : "Arrays are on the GPU; P2P runs beside the other passes.\n");
    std::int64_t n = -1;
    for (const auto& row : report.rows) {
        if (row.n != n) {
            n = row.n;
            out += fmt::format("\nN = {}\n{:<7} {:>8} {:>7}", n, "order", "all", "set-up");
            for (const auto* name : pass_names) out += fmt::format(" {:>7}", name);
            out += fmt::format(" {:>9} {:>9} {:>8} {:>6}\n", "potential", "field", "Gflop/s", "peak");
        }
        out += fmt::format("{:<7} {:>8.4g} {:>7.3g}", order_text(row), 1e3 * row.seconds,
                           1e3 * row.set_up_seconds);
        for (const auto* name : pass_names) out += fmt::format(" {:>7}", pass_text(row, name));
        out += fmt::format(" {:>9.1e} {:>9.1e} {:>8.1f} {:>5.0f}%\n", row.error_potential, row.error_field,
                           1e-9 * row.flops, 100.0 * row.share_of_peak);
    }
    return out;
}

std::string to_json(const BenchFmmReport& report) {
    const bool on_gpu = !report.gpu.empty();
    Json json{{"benchmark", "fmm"},
              {"points", "charges in a cube"},
              {"gpu", on_gpu ? Json(report.gpu) : Json()},
              {"isa", on_gpu ? Json() : Json(name_of(report.isa))},
              {"precision", name_of(report.precision)},
              {"threads", on_gpu ? Json() : Json(report.threads)},
              {"repeats", report.repeats},
              {"peak_gflops", 1e-9 * report.peak_flops}};
    auto& rows = json["rows"] = Json::array();
    for (const auto& row : report.rows) {
        const auto of_tree = [&](std::int64_t value) { return row.order > 0 ? Json(value) : Json(); };
        auto passes = Json::object();
        for (const auto& [name, seconds] : row.passes) passes[name] = seconds;
        rows.push_back({{"method", row.order > 0 ? "fmm" : "direct"},
                        {"n", row.n},
                        {"order", of_tree(row.order)},
                        {"seconds", row.seconds},
                        {"set_up_seconds", row.set_up_seconds},
                        {"passes", passes},
                        {"error_potential", row.error_potential},
                        {"error_field", row.error_field},
                        {"gflops", 1e-9 * row.flops},
                        {"share_of_peak", row.share_of_peak},
                        {"leaves", of_tree(row.leaves)},
                        {"near_pairs", row.near_pairs}});
    }
    return json.dump(2) + "\n";
}

void write_json(const BenchFmmReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

void write_picture(const BenchFmmReport& report, const std::filesystem::path& path) {
    picture::CurvesPlot plot{
        .title = fmt::format("Charges in a cube, {}, {}", name_of(report.precision), machine_text(report)),
        .x_label = "number of points",
        .y_label = "seconds",
        .curves = {}};
    std::map<int, picture::NamedCurve> curves;
    for (const auto& row : report.rows) {
        auto& curve = curves[row.order];
        curve.name = row.order > 0 ? fmt::format("order {}", row.order) : "direct";
        curve.dashed = row.order == 0;
        curve.x.push_back(static_cast<double>(row.n));
        curve.y.push_back(row.seconds);
    }
    for (auto& [order, curve] : curves) plot.curves.push_back(std::move(curve));
    picture::plot_curves(path, plot);
}

} // namespace farfield
