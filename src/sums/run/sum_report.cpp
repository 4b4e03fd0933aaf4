#include "sums/run/sum_report.h"

#include "base/json.h"
#include "base/machine.h"
#include "base/text.h"

#include <farfield/options.h>
#include <farfield/version.h>

#include <algorithm>
#include <fmt/format.h>
#include <variant>

namespace farfield {
namespace {

const SumReport& fastest(const SumTimings& timings) {
    return *std::min_element(
        timings.executions.begin(), timings.executions.end(),
        [](const SumReport& a, const SumReport& b) { return a.compute_seconds < b.compute_seconds; });
}

void add_gpus(Json& json, const SumReport& report) {
    const auto found = gpus();
    for (const int index : report.device.gpus)
        for (const auto& gpu : found)
            if (gpu.index == index) json["gpus"].push_back(gpu.name);
}

// As asked for.
Json options_of(const SumOptions& options) {
    Json json;
    for (const auto& option : option_table())
        if (option.sum)
            std::visit([&](const auto& value) { json[std::string(option.name)] = value; },
                       option.sum.get(options));
    return json;
}

Json errors_of(const SumReport& report) {
    auto list = Json::array();
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

Json bounds_of(const SumReport& report) {
    auto list = Json::array();
    for (const auto& bound : report.bounds)
        list.push_back({{"output", name_of(bound.output)}, {"norm", "L2"}, {"relative", bound.relative}});
    return list;
}

Json stages_of(const SumTimings& timings) {
    const auto& best = fastest(timings);
    Json stages{{"read_seconds", timings.read},
                {"plan_seconds", timings.plan},
                {"prepare_seconds", best.prepare_seconds},
                {"compute_seconds", best.compute_seconds},
                {"finish_seconds", best.finish_seconds}};
    if (!best.errors.empty()) stages["verify_seconds"] = timings.executions.front().verify_seconds;
    stages["write_seconds"] = timings.write;
    stages["total_seconds"] = timings.total;
    return stages;
}

// What only some methods have.
void add_method(Json& json, const SumReport& best) {
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
    if (best.method == Method::treecode)
        json["treecode"] = {{"order", best.treecode.order},
                            {"theta", best.treecode.theta},
                            {"accuracy", best.treecode.accuracy},
                            {"levels", best.treecode.levels},
                            {"cells", best.treecode.cells},
                            {"groups", best.treecode.groups},
                            {"near_pairs", best.treecode.near_pairs},
                            {"far_pairs", best.treecode.far_pairs},
                            {"tree_seconds", best.treecode.tree_seconds}};
    if (best.method == Method::ewald)
        json["lattice"] = {{"splitting", best.lattice.splitting},
                           {"cutoff", best.lattice.cutoff},
                           {"wave_cutoff", best.lattice.wave_cutoff},
                           {"near_pairs", best.lattice.near_pairs},
                           {"waves", best.lattice.waves},
                           {"excess_strength", best.lattice.excess_strength}};
    else if (best.method == Method::pme)
        json["lattice"] = {
            {"splitting", best.lattice.splitting},   {"cutoff", best.lattice.cutoff},
            {"near_pairs", best.lattice.near_pairs}, {"mesh", best.lattice.mesh},
            {"order", best.lattice.order},           {"excess_strength", best.lattice.excess_strength}};
    else if (best.lattice.cells > 0)
        json["lattice"] = {{"near_pairs", best.lattice.near_pairs},
                           {"rim_images", best.lattice.rim_images},
                           {"cells", best.lattice.cells},
                           {"order", best.lattice.order},
                           {"excess_strength", best.lattice.excess_strength}};
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
}

Json density_of(const DensityReport& report) {
    Json json{{"rule", name_of(report.bandwidth)},
              {"factor", report.factor},
              {"n_eff", report.effective},
              {"weight", report.weight},
              {"widths", report.widths}};
    const auto d = report.widths.size();
    json["cholesky"] = Json::array();
    for (auto row = report.cholesky.begin(); row != report.cholesky.end();
         row += static_cast<std::ptrdiff_t>(d))
        json["cholesky"].push_back(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(d)));
    return json;
}

Json sigmas_of(const SigmasReport& report) {
    Json json{{"rounds", report.rounds}, {"group_tolerance", report.group_tolerance}};
    for (const auto& group : report.groups)
        json["groups"].push_back(
            {{"sigma", group.sigma}, {"sources", group.sources}, {"method", name_of(group.method)}});
    return json;
}

} // namespace

std::string sum_report_json(const SumFilesTask& task, const SumTimings& timings) {
    const auto& best = fastest(timings);
    Json json;
    json["version"] = version();
    json["cpu"] = this_machine().cpu;
    json["kernel"] = name_of(task.options.kernel);
    json["method"] = name_of(best.method);
    json["method_reason"] = best.reason;
    json["precision"] = name_of(best.precision);
    json["device"] = name_of(best.device);
    json["cost_table"] = best.cost_table.empty() ? Json() : Json(best.cost_table);
    if (best.device.kind == DeviceKind::cuda) add_gpus(json, best);
    json["isa"] = name_of(best.isa);
    json["ranks"] = task.options.communicator.size();
    json["threads"] = best.threads;
    json["output"] = Json::array();
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
    add_method(json, best);
    if (timings.density) json["density"] = density_of(*timings.density);
    if (timings.sigmas) json["sigmas"] = sigmas_of(*timings.sigmas);
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

namespace {

std::string work_of(const SumReport& report) {
    if (report.method == Method::fmm)
        return fmt::format("order {}, {} leaves", report.fmm.order, report.fmm.leaves);
    if (report.method == Method::treecode)
        return fmt::format("order {}, {} groups", report.treecode.order, report.treecode.groups);
    if (report.method == Method::fgt && report.fgt.strategy == GaussStrategy::grid)
        return fmt::format("a grid of {:.2g} numbers", static_cast<double>(report.fgt.grid_numbers));
    if (report.method == Method::fgt && report.fgt.strategy == GaussStrategy::clusters)
        return fmt::format("{} clusters of order {}", report.fgt.clusters, report.fgt.order);
    if (report.method == Method::fgt && report.fgt.strategy == GaussStrategy::boxes)
        return fmt::format("{} boxes of order {}", report.fgt.boxes, report.fgt.order);
    if (report.method == Method::fgt) return fmt::format("pairs up to {:.2g} sigma", report.fgt.cutoff);
    if (report.method == Method::ewald)
        return fmt::format("{} waves, near images within {:.3g}", report.lattice.waves,
                           report.lattice.cutoff);
    if (report.method == Method::pme)
        return fmt::format("a mesh of {} points, splines of order {}, near images within {:.3g}",
                           joined(report.lattice.mesh, "×"), report.lattice.order, report.lattice.cutoff);
    return fmt::format("{:.2e} pairs/s", report.direct.pairs_per_second);
}

// A density is the potential of a sum of Gaussians.
std::string_view name_in(const SumTimings& timings, Output output) {
    return timings.density && output == Output::potential ? "density" : name_of(output);
}

std::string density_line(const DensityReport& report) {
    const bool by_rule = report.bandwidth != BandwidthRule::sigma;
    const auto widths = joined(report.widths, ", ", "{:.4g}");
    if (report.widths.empty())
        return fmt::format("density by Gaussians of a width a point: n_eff {:.6g}\n", report.effective);
    if (by_rule)
        return fmt::format("density by {}'s rule: n_eff {:.6g}, factor {:.4g}, widths along the axes {}\n",
                           report.bandwidth == BandwidthRule::scott ? "Scott" : "Silverman", report.effective,
                           report.factor, widths);
    return fmt::format("density by Gaussians of width {:.4g}: n_eff {:.6g}\n", report.widths.front(),
                       report.effective);
}

std::string ranks_text(const SumFilesTask& task) {
    const int ranks = task.options.communicator.size();
    return ranks > 1 ? fmt::format("{} ranks of ", ranks) : std::string();
}

} // namespace

std::string sum_summary(const SumFilesTask& task, const SumTimings& timings) {
    const auto& best = fastest(timings);
    const auto machine = best.device.kind == DeviceKind::cuda
                             ? name_of(best.device)
                             : fmt::format("{}, {}{} thread{}", name_of(best.isa), ranks_text(task),
                                           best.threads, best.threads == 1 ? "" : "s");
    const auto work = work_of(best);
    const auto vectors =
        timings.vectors > 1 ? fmt::format(", {} vectors of strengths", timings.vectors) : std::string();
    auto out = fmt::format("{} sources, {} targets{}: {:.3g} s, {} ({}, {})\n", best.sources, best.targets,
                           vectors, best.compute_seconds, work, name_of(best.precision), machine);
    if (timings.density) out += density_line(*timings.density);
    if (timings.sigmas)
        out += fmt::format("{} widths from {:.4g} to {:.4g}, a sum each\n", timings.sigmas->groups.size(),
                           timings.sigmas->groups.front().sigma, timings.sigmas->groups.back().sigma);
    for (const auto& error : best.errors)
        out += fmt::format("relative error of the {}: {:.1e} ({} at {} sampled targets)\n",
                           name_in(timings, error.output), error.relative,
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

} // namespace farfield
