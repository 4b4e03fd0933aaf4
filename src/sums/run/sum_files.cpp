#include "sums/run/sum_files.h"

#include "base/machine.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "io/atomic_file.h"
#include "io/points_file.h"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/version.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace farfield {
namespace {

struct Timings {
    double read = 0.0;
    double plan = 0.0;
    double write = 0.0;
    double total = 0.0;
    std::int64_t vectors = 1; ///< of strengths
    std::vector<SumReport> executions;
};

const SumReport& fastest(const Timings& timings) {
    return *std::min_element(
        timings.executions.begin(), timings.executions.end(),
        [](const SumReport& a, const SumReport& b) { return a.compute_seconds < b.compute_seconds; });
}

void add_gpus(nlohmann::ordered_json& json, const SumReport& report) {
    const auto found = gpus();
    for (const int index : report.device.gpus)
        for (const auto& gpu : found)
            if (gpu.index == index) json["gpus"].push_back(gpu.name);
}

// As asked for.
nlohmann::ordered_json options_of(const SumOptions& options) {
    nlohmann::ordered_json json;
    for (const auto& option : option_table())
        if (option.sum)
            std::visit([&](const auto& value) { json[std::string(option.name)] = value; },
                       option.sum.get(options));
    return json;
}

nlohmann::ordered_json errors_of(const SumReport& report) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& error : report.errors)
        list.push_back({{"output", name_of(error.output)},
                        {"norm", error.largest ? "largest difference at the samples" : "L2"},
                        {"relative", error.relative},
                        {"median", error.median},
                        {"percent_99", error.percent_99},
                        {"maximum", error.maximum},
                        {"samples", error.samples}});
    return list;
}

nlohmann::ordered_json bounds_of(const SumReport& report) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& bound : report.bounds)
        list.push_back({{"output", name_of(bound.output)}, {"norm", "L2"}, {"relative", bound.relative}});
    return list;
}

nlohmann::ordered_json stages_of(const Timings& timings) {
    const auto& best = fastest(timings);
    nlohmann::ordered_json stages{{"read_seconds", timings.read},
                                  {"plan_seconds", timings.plan},
                                  {"prepare_seconds", best.prepare_seconds},
                                  {"compute_seconds", best.compute_seconds},
                                  {"finish_seconds", best.finish_seconds}};
    if (!best.errors.empty()) stages["verify_seconds"] = timings.executions.front().verify_seconds;
    stages["write_seconds"] = timings.write;
    stages["total_seconds"] = timings.total;
    return stages;
}

std::string report_json(const SumFilesTask& task, const Timings& timings) {
    const auto& best = fastest(timings);
    nlohmann::ordered_json json;
    json["version"] = version();
    json["cpu"] = this_machine().cpu;
    json["kernel"] = name_of(task.options.kernel);
    json["method"] = name_of(best.method);
    json["method_reason"] = best.reason;
    json["precision"] = name_of(best.precision);
    json["device"] = name_of(best.device);
    json["cost_table"] =
        best.cost_table.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(best.cost_table);
    if (best.device.kind == DeviceKind::cuda) add_gpus(json, best);
    json["isa"] = name_of(best.isa);
    json["threads"] = best.threads;
    json["output"] = nlohmann::json::array();
    for (int k = 0; k < output_count; ++k)
        if (task.wanted.has(static_cast<Output>(k)))
            json["output"].push_back(name_of(static_cast<Output>(k)));
    json["sources"] = best.sources;
    json["targets"] = best.targets;
    json["vectors"] = timings.vectors;
    json["targets_are_sources"] = task.targets.empty();
    json["dipoles"] = !task.dipoles.empty();
    if (best.energy) json["energy"] = *best.energy;
    if (!best.errors.empty()) json["errors"] = errors_of(best);
    if (!best.bounds.empty()) json["bounds"] = bounds_of(best);
    json["predicted_bytes"] = best.predicted_bytes;
    json["direct"] = {{"pairs", best.direct.pairs},
                      {"pairs_per_second", best.direct.pairs_per_second},
                      {"variant", name_of(best.direct.variant)},
                      {"coincident_pairs_skipped", best.direct.coincident_pairs_skipped}};
    if (best.method == Method::fmm)
        json["fmm"] = {{"order", best.fmm.order},
                       {"m2l", name_of(best.fmm.m2l)},
                       {"separation", best.fmm.separation},
                       {"coarse", best.fmm.coarse},
                       {"levels", best.fmm.levels},
                       {"cells", best.fmm.cells},
                       {"leaves", best.fmm.leaves},
                       {"near_pairs", best.fmm.near_pairs},
                       {"multiply_adds", best.fmm.multiply_adds}};
    if (best.method == Method::fgt) {
        json["fgt"] = {{"way", name_of(best.fgt.strategy)}};
        if (best.fgt.strategy == GaussStrategy::grid)
            json["fgt"].update({{"width", best.fgt.width}, {"grid_numbers", best.fgt.grid_numbers}});
        else if (best.fgt.strategy == GaussStrategy::clusters)
            json["fgt"].update({{"clusters", best.fgt.clusters},
                                {"order", best.fgt.order},
                                {"expansion_terms", best.fgt.expansion_terms},
                                {"near_pairs", best.fgt.near_pairs}});
        else if (best.fgt.strategy == GaussStrategy::boxes)
            json["fgt"].update({{"cutoff", best.fgt.cutoff},
                                {"boxes", best.fgt.boxes},
                                {"side", best.fgt.side},
                                {"order", best.fgt.order},
                                {"pair_boxes", best.fgt.pair_boxes},
                                {"hermite_boxes", best.fgt.hermite_boxes},
                                {"taylor_boxes", best.fgt.taylor_boxes},
                                {"translated_boxes", best.fgt.translated_boxes},
                                {"near_pairs", best.fgt.near_pairs}});
        else
            json["fgt"].update({{"cutoff", best.fgt.cutoff},
                                {"cells", best.fgt.cells},
                                {"near_pairs", best.fgt.near_pairs}});
        if (best.device.kind == DeviceKind::cuda)
            json["fgt"].update(
                {{"sort_seconds", best.fgt.sort_seconds}, {"order_seconds", best.fgt.order_seconds}});
    }
    if (best.fmm.tree_seconds > 0.0) json["fmm"]["tree_seconds"] = best.fmm.tree_seconds;
    json["options"] = options_of(task.options);
    json["repeat"] = task.repeat;
    json["compute_seconds"] = best.compute_seconds;
    for (const auto& execution : timings.executions)
        json["compute_seconds_of_each"].push_back(execution.compute_seconds);
    for (const auto& pass : best.passes)
        json["passes"].push_back({{"name", pass.name}, {"seconds", pass.seconds}});
    json["stages"] = stages_of(timings);
    return json.dump(2) + '\n';
}

std::string work_of(const SumReport& report) {
    if (report.method == Method::fmm)
        return fmt::format("order {}, {} leaves", report.fmm.order, report.fmm.leaves);
    if (report.method == Method::fgt && report.fgt.strategy == GaussStrategy::grid)
        return fmt::format("a grid of {:.2g} numbers", static_cast<double>(report.fgt.grid_numbers));
    if (report.method == Method::fgt && report.fgt.strategy == GaussStrategy::clusters)
        return fmt::format("{} clusters of order {}", report.fgt.clusters, report.fgt.order);
    if (report.method == Method::fgt && report.fgt.strategy == GaussStrategy::boxes)
        return fmt::format("{} boxes of order {}", report.fgt.boxes, report.fgt.order);
    if (report.method == Method::fgt) return fmt::format("pairs up to {:.2g} sigma", report.fgt.cutoff);
    return fmt::format("{:.2e} pairs/s", report.direct.pairs_per_second);
}

std::string summary(const SumFilesTask& task, const Timings& timings) {
    const auto& best = fastest(timings);
    const auto machine =
        best.device.kind == DeviceKind::cuda
            ? name_of(best.device)
            : fmt::format("{}, {} thread{}", name_of(best.isa), best.threads, best.threads == 1 ? "" : "s");
    const auto work = work_of(best);
    const auto vectors =
        timings.vectors > 1 ? fmt::format(", {} vectors of strengths", timings.vectors) : std::string();
    auto out = fmt::format("{} sources, {} targets{}: {:.3g} s, {} ({}, {})\n", best.sources, best.targets,
                           vectors, best.compute_seconds, work, name_of(best.precision), machine);
    for (const auto& error : best.errors)
        out += fmt::format("relative error of the {}: {:.1e} ({} at {} sampled targets)\n",
                           name_of(error.output), error.relative,
                           error.largest ? "largest difference" : "L2, scaled to all,", error.samples);
    for (const auto& bound : best.bounds)
        out += fmt::format("relative error of the {}: at most {:.1e} (guaranteed, L2 over all targets)\n",
                           name_of(bound.output), bound.relative);
    if (best.energy) out += fmt::format("total energy: {:.10g}\n", *best.energy);
    if (best.direct.coincident_pairs_skipped > 0)
        out += fmt::format("skipped {} coincident pairs\n", best.direct.coincident_pairs_skipped);
    out += "Files made:\n  " + task.out.string() + '\n';
    if (!task.json.empty()) out += "  " + task.json.string() + '\n';
    return out;
}

// Messages of the library speak of sources and targets; here these are files.
std::string with_files(const SumFilesTask& task, const char* message) {
    auto files = task.sources.string();
    for (const auto& other : {task.strengths, task.targets})
        if (!other.empty()) files += " and " + other.string();
    return fmt::format("{}: {}", files, message);
}

PointLayout layout_of(const SumFilesTask& task, const KernelInfo& kernel) {
    return {.least_dimension = kernel.least_dimension,
            .most_dimension = kernel.most_dimension,
            .strength = kernel.strength.column,
            .second = kernel.strength.second_column,
            .strengths = !task.strengths.empty() ? StrengthsIn::another_file
                         : !task.dipoles.empty() ? StrengthsIn::some_files
                                                 : StrengthsIn::this_file};
}

// `vectors`: 0 where the sources have their strengths with them.
OutputArray output_array(const KernelInfo& kernel, const OutputInfo& info, int dimension,
                         std::int64_t vectors, std::span<const double> values) {
    OutputArray out{std::string(name_of(info.output)), {}, values, vectors};
    const int width = kernel.width(info, dimension);
    const auto axis = [&](int k) {
        return dimension <= 3 ? std::string(1, "xyz"[k]) : fmt::format("x{}", k + 1);
    };
    for (std::int64_t v = 0; v < std::max<std::int64_t>(vectors, 1); ++v) {
        const auto name = vectors == 0 ? out.name : fmt::format("{}_{}", out.name, v);
        if (info.shape == OutputShape::matrix)
            for (int i = 0; i < dimension; ++i)
                for (int k = i; k < dimension; ++k)
                    out.columns.push_back(fmt::format("{}_{}{}", name, axis(i), axis(k)));
        else
            for (int k = 0; k < width; ++k)
                out.columns.push_back(info.shape == OutputShape::vector ? fmt::format("{}_{}", name, axis(k))
                                      : width == 2 ? name + (k == 0 ? "_real" : "_imaginary")
                                                   : name);
    }
    return out;
}

/// The strengths of a sum, of whichever file.
struct GivenStrengths {
    std::vector<double> values;
    std::int64_t columns = 1;
    std::int64_t vectors = 0; ///< 0: one, which is no axis of the results
};

GivenStrengths strengths_for(const SumFilesTask& task, Sources& sources) {
    const int columns = kernel_info(task.options.kernel).strength.columns;
    if (task.strengths.empty()) return {std::move(sources.strengths), columns, 0};
    auto strengths = read_strengths(task.strengths, columns);
    const auto rows = static_cast<std::int64_t>(sources.points.size()) / sources.dimension;
    if (strengths.rows != rows)
        throw InvalidArgument(fmt::format("{} has {} row{} and {} has {}; a row for each source is needed",
                                          task.strengths.string(), strengths.rows,
                                          strengths.rows == 1 ? "" : "s", task.sources.string(), rows));
    return {std::move(strengths.values), strengths.width,
            strengths.one_dimensional ? 0 : strengths.width / columns};
}

/// The outputs asked for, in the order of the kernel.
struct Results {
    std::vector<std::vector<double>> values;
    std::vector<OutputArray> arrays;
    SumOutputs views;
};

Results results_for(const SumFilesTask& task, int dimension, std::int64_t m, std::int64_t vectors) {
    const auto& kernel = kernel_info(task.options.kernel);
    Results results;
    results.values.reserve(kernel.outputs.size());
    for (const auto& info : kernel.outputs) {
        if (!task.wanted.has(info.output)) continue;
        const auto width = kernel.width(info, dimension) * std::max<std::int64_t>(vectors, 1);
        auto& values = results.values.emplace_back(static_cast<std::size_t>(m * width));
        results.arrays.push_back(output_array(kernel, info, dimension, vectors, values));
        results.views.of(info.output) = matrix_view(std::span<double>(values), width);
    }
    return results;
}

// Which outputs: all that the kernel has, but for the Hessian, where none is named.
SumFilesTask with_outputs(SumFilesTask task) {
    const auto& kernel = kernel_info(task.options.kernel);
    if (task.wanted.empty()) task.wanted = kernel.usual_outputs();
    task.options.outputs = task.wanted;
    task.options.dipoles = !task.dipoles.empty();
    if (task.options.dipoles && !kernel.has_dipoles)
        throw InvalidArgument(fmt::format("{}: kernel '{}' has no dipoles; leave the file out or use {}",
                                          task.dipoles.string(), kernel.name, spelled("kernel", "coulomb")));
    for (int k = 0; k < output_count; ++k)
        if (const auto output = static_cast<Output>(k);
            task.wanted.has(output) && kernel.find(output) == nullptr)
            throw InvalidArgument(fmt::format("kernel '{}' has no output '{}'; it has {}", kernel.name,
                                              name_of(output), name_of(kernel.output_set())));
    return task;
}

} // namespace

std::string sum_files(const SumFilesTask& asked) {
    const auto task = with_outputs(asked);
    check_sum_output_name(task.out);
    Stopwatch whole;
    Stopwatch watch;
    Timings timings;
    const auto& kernel = kernel_info(task.options.kernel);
    auto sources = read_sources(task.sources, layout_of(task, kernel));
    const auto given = strengths_for(task, sources);
    const auto targets =
        task.targets.empty() ? std::vector<double>() : read_targets(task.targets, sources.dimension);
    const auto dipoles = task.dipoles.empty() ? std::vector<double>() : read_dipoles(task.dipoles);
    if (!task.dipoles.empty() && dipoles.size() != sources.points.size())
        throw InvalidArgument(fmt::format("{} has {} rows, and {} has {}; a dipole a source is needed",
                                          task.dipoles.string(), dipoles.size() / 3, task.sources.string(),
                                          sources.points.size() / 3));
    timings.read = watch.lap();

    const auto source_view = matrix_view(std::span<const double>(sources.points), sources.dimension);
    const auto target_view = matrix_view(std::span<const double>(targets), sources.dimension);
    auto plan = task.targets.empty() ? SumPlan(source_view, task.options)
                                     : SumPlan(source_view, target_view, task.options);
    timings.plan = watch.lap();

    const auto m = task.targets.empty() ? source_view.shape[0] : target_view.shape[0];
    const auto results = results_for(task, sources.dimension, m, given.vectors);
    timings.vectors = std::max<std::int64_t>(given.vectors, 1);
    SumStrengths strengths;
    if (!given.values.empty())
        strengths.charges = matrix_view(std::span<const double>(given.values), given.columns);
    if (!dipoles.empty()) strengths.dipoles = matrix_view(std::span<const double>(dipoles), 3);
    try {
        for (int i = 0; i < task.repeat; ++i) {
            plan.execute(strengths, results.views, task.hooks);
            timings.executions.push_back(plan.report());
        }
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(with_files(task, error.what()));
    }

    watch.lap();
    write_sum_outputs(task.out, m, results.arrays);
    timings.write = watch.lap();
    timings.total = whole.lap();
    if (!task.json.empty()) write_file_atomically(task.json, report_json(task, timings));
    return summary(task, timings);
}

} // namespace farfield
