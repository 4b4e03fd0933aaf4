#include "studies/sum_files.h"

#include "base/machine.h"
#include "io/atomic_file.h"
#include "io/points_file.h"

#include <farfield/error.h>
#include <farfield/version.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace farfield {
namespace {

class Stopwatch {
public:
    double lap() {
        const auto now = Clock::now();
        const std::chrono::duration<double> passed = now - start_;
        start_ = now;
        return passed.count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

struct Timings {
    double read = 0.0;
    double plan = 0.0;
    double write = 0.0;
    double total = 0.0;
    std::vector<SumReport> executions;
};

const SumReport& fastest(const Timings& timings) {
    return *std::min_element(
        timings.executions.begin(), timings.executions.end(),
        [](const SumReport& a, const SumReport& b) { return a.compute_seconds < b.compute_seconds; });
}

void add_gpus(nlohmann::ordered_json& json, const SumFilesTask& task, const SumReport& report) {
    const auto found = gpus();
    for (const int index : report.device.gpus)
        for (const auto& gpu : found)
            if (gpu.index == index) json["gpus"].push_back(gpu.name);
    if (report.device.gpus.size() < 2) return;
    json["multi_gpu"] = name_of(task.options.multi_gpu);
    json["exchange"] = name_of(task.options.exchange);
}

std::string report_json(const SumFilesTask& task, const Timings& timings) {
    const auto& best = fastest(timings);
    nlohmann::ordered_json json;
    json["version"] = version();
    json["cpu"] = this_machine().cpu;
    json["kernel"] = name_of(task.options.kernel);
    json["method"] = name_of(task.options.method);
    json["softening"] = task.options.softening;
    json["precision"] = name_of(best.precision);
    json["coincident"] = name_of(task.options.coincident);
    json["device"] = name_of(best.device);
    json["device_requested"] = name_of(task.options.device);
    json["cost_table"] =
        best.cost_table.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(best.cost_table);
    if (best.device.kind == DeviceKind::cuda) add_gpus(json, task, best);
    json["isa"] = name_of(best.isa);
    json["isa_requested"] = name_of(task.options.isa);
    json["variant"] = name_of(best.variant);
    json["variant_requested"] = name_of(task.options.variant);
    json["threads"] = best.threads;
    json["output"] = nlohmann::json::array();
    if (task.wanted.potential) json["output"].push_back("potential");
    if (task.wanted.field) json["output"].push_back("field");
    json["sources"] = best.sources;
    json["targets"] = best.targets;
    json["targets_are_sources"] = task.targets.empty();
    json["pairs"] = best.pairs;
    json["coincident_pairs_skipped"] = best.coincident_pairs_skipped;
    json["repeat"] = task.repeat;
    json["compute_seconds"] = best.compute_seconds;
    json["pairs_per_second"] = best.pairs_per_second;
    for (const auto& execution : timings.executions)
        json["compute_seconds_of_each"].push_back(execution.compute_seconds);
    json["stages"] = {{"read_seconds", timings.read},
                      {"plan_seconds", timings.plan},
                      {"prepare_seconds", best.prepare_seconds},
                      {"compute_seconds", best.compute_seconds},
                      {"finish_seconds", best.finish_seconds},
                      {"write_seconds", timings.write},
                      {"total_seconds", timings.total}};
    return json.dump(2) + '\n';
}

std::string summary(const SumFilesTask& task, const Timings& timings) {
    const auto& best = fastest(timings);
    const auto machine =
        best.device.kind == DeviceKind::cuda
            ? name_of(best.device)
            : fmt::format("{}, {} thread{}", name_of(best.isa), best.threads, best.threads == 1 ? "" : "s");
    auto out =
        fmt::format("{} sources, {} targets: {:.3g} s, {:.2e} pairs/s ({}, {})\n", best.sources, best.targets,
                    best.compute_seconds, best.pairs_per_second, name_of(best.precision), machine);
    if (best.coincident_pairs_skipped > 0)
        out += fmt::format("skipped {} coincident pairs\n", best.coincident_pairs_skipped);
    out += "Files made:\n  " + task.out.string() + '\n';
    if (!task.json.empty()) out += "  " + task.json.string() + '\n';
    return out;
}

// Messages of the library speak of sources and targets; here these are files.
std::string with_files(const SumFilesTask& task, const char* message) {
    return fmt::format("{}{}{}: {}", task.sources.string(), task.targets.empty() ? "" : " and ",
                       task.targets.string(), message);
}

} // namespace

std::string sum_files(const SumFilesTask& task) {
    check_sum_output_name(task.out);
    Stopwatch whole;
    Stopwatch watch;
    Timings timings;
    const auto sources = read_sources(task.sources, task.options.kernel);
    const auto targets = task.targets.empty() ? std::vector<double>() : read_targets(task.targets);
    timings.read = watch.lap();

    const auto source_view = matrix_view(std::span<const double>(sources.points), 3);
    const auto target_view = matrix_view(std::span<const double>(targets), 3);
    auto plan = task.targets.empty() ? SumPlan(source_view, task.options)
                                     : SumPlan(source_view, target_view, task.options);
    timings.plan = watch.lap();

    const auto m = task.targets.empty() ? source_view.shape[0] : target_view.shape[0];
    std::vector<double> potential(task.wanted.potential ? static_cast<std::size_t>(m) : 0);
    std::vector<double> field(task.wanted.field ? static_cast<std::size_t>(3 * m) : 0);
    SumOutputs outputs;
    if (task.wanted.potential) outputs.potential = std::span<double>(potential);
    if (task.wanted.field) outputs.field = matrix_view(std::span<double>(field), 3);
    try {
        for (int i = 0; i < task.repeat; ++i) {
            plan.execute(std::span<const double>(sources.strengths), outputs);
            timings.executions.push_back(plan.report());
        }
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(with_files(task, error.what()));
    }

    watch.lap();
    write_sum_outputs(task.out, m, potential, field);
    timings.write = watch.lap();
    timings.total = whole.lap();
    if (!task.json.empty()) write_file_atomically(task.json, report_json(task, timings));
    return summary(task, timings);
}

} // namespace farfield
