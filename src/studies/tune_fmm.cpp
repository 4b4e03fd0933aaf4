// Sums over evenly spread points in uniform trees, whose cells and pairs follow from the depth. A coefficient
// is what the passes that it stands for take, over how often it counts; where a pass has two, sums of two
// shapes tell them apart. Sums are shaped as those are that the table is to choose between.
#include "studies/tune_fmm.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/fmm/costs.h"
#include "sums/tree/leaf_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace farfield {
namespace {

constexpr int low_order = 2; ///< cells cost hardly any multiply-adds
constexpr FmmOrder coarse_order{.order = low_order, .coarse = 7};
constexpr double coarse_cells = 343.0;
constexpr double least_seconds = 1e-10;

/// What a sum took: the fastest of the repeats, pass by pass, times the threads.
struct FmmTimes {
    double tree =
        std::numeric_limits<double>::infinity(); ///< to move the points, and what is read and written
    double near = tree, cells = tree, points = tree;
    double near_pairs = 0.0; ///< directed
    double cells_served = 0.0;
};

struct FmmShot {
    Isa isa = Isa::automatic;
    bool wide = true;
    int order = low_order;
    int depth = 3; ///< −1: one level, of 7³ cells
    std::int64_t points = 0;
    M2L m2l = M2L::mirrored; ///< what the table says must not choose what is measured
};

std::vector<double> even_points(std::int64_t n) {
    std::vector<double> points(3 * static_cast<std::size_t>(n));
    std::minstd_rand engine(1);
    for (double& x : points) x = static_cast<double>(engine()) * 0x1p-31;
    return points;
}

SumOptions options_of_shot(const FmmShot& shot, int threads) {
    return {.kernel = Kernel::coulomb,
            .method = Method::fmm,
            .order = shot.order,
            .depth = shot.depth,
            .leaf = shot.depth < 0 ? static_cast<int>(static_cast<double>(shot.points) / coarse_cells) : 0,
            .m2l = shot.m2l,
            .precision = shot.wide ? Precision::float64 : Precision::float32,
            .coincident = Coincident::skip,
            .threads = threads,
            .isa = shot.isa,
            .device = {.kind = DeviceKind::cpu, .gpus = {}}};
}

// So deep that about `leaf` points are in a leaf, and three levels at least.
int depth_for(std::int64_t points, double leaf) {
    return std::max(
        2, static_cast<int>(std::lround(std::log(static_cast<double>(points) / leaf) / std::log(8.0))));
}

void take_least(FmmTimes& times, double tree, const SumReport& report, double threads) {
    double near = 0.0, cells = 0.0, points = 0.0;
    for (const auto& [name, seconds] : report.passes)
        (name == "P2P" ? near : name == "P2M" || name == "L2P" ? points : cells) += seconds;
    const double copies = report.prepare_seconds + report.finish_seconds;
    times.tree = std::min(times.tree, threads * (tree + copies));
    times.near = std::min(times.near, threads * near);
    times.cells = std::min(times.cells, threads * cells);
    times.points = std::min(times.points, threads * points);
    times.near_pairs = static_cast<double>(report.fmm.near_pairs);
    const auto all = static_cast<double>(report.fmm.cells);
    times.cells_served = report.fmm.coarse > 1 ? all : std::max(1.0, all - 9.0); // without levels 0 and 1
}

FmmTimes times_of(const FmmShot& shot, const MeasureSettings& settings) {
    const auto points = even_points(shot.points);
    const std::vector<double> strengths(static_cast<std::size_t>(shot.points), 1.0);
    std::vector<double> field(points.size());
    const auto view = matrix_view(std::span<const double>(points), 3);
    SumPlan plan(view, options_of_shot(shot, settings.threads));
    FmmTimes times;
    for (int run = 0; run == 0 || (run < settings.repeats && !is_to_stop(settings)); ++run) {
        const double tree = seconds_of([&] { plan.update(view); });
        plan.execute(std::span<const double>(strengths), {.field = matrix_view(std::span<double>(field), 3)});
        take_least(times, tree, plan.report(), thread_count(settings.threads));
    }
    return times;
}

/// Of α·x + β·y = t for two sums, both at least as small as a time can be.
std::array<double, 2> two_unknowns(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    const double determinant = a[0] * b[1] - a[1] * b[0];
    return {std::max(least_seconds, (a[2] * b[1] - a[1] * b[2]) / determinant),
            std::max(least_seconds, (a[0] * b[2] - a[2] * b[0]) / determinant)};
}

// Cells of the coarsest level take products one cell after the other at any order. At the edge they have
// senders on one side, as the model has it.
void measure_cells(const MeasureSettings& settings, CostTable& costs) {
    std::array<std::array<double, 3>, 2> equations{};
    auto order = coarse_order;
    const auto senders = [](const FmmOrder& of) { return static_cast<double>(offset_classes(of).size()); };
    for (auto& equation : equations) {
        const FmmShot shot{.order = order.order, .depth = -1, .points = settings.points};
        const auto times = times_of(shot, settings);
        const double served = 0.5 * times.cells_served;
        equation = {served * senders(order) / senders({}), served * multiply_adds_a_cell(order, true),
                    times.cells};
        order.order = 12;
    }
    costs.costs[std::string(fmm_cost::cpu_cell_seconds)] = two_unknowns(equations[0], equations[1])[0];
}

// A second of translations. On a machine whose cells cost hardly more than to be found, that much at least.
double translation_rate(const FmmShot& shot, const FmmTimes& times, const CostTable& costs) {
    const double cell = costs.costs.at(std::string(fmm_cost::cpu_cell_seconds));
    const double all = times.cells / times.cells_served;
    return multiply_adds_a_cell({.order = shot.order, .m2l = shot.m2l}, shot.wide) /
           std::max(all - cell, 0.1 * all);
}

void measure_rates(Isa isa, bool wide, const MeasureSettings& settings, CostTable& costs) {
    FmmShot shot{.isa = isa,
                 .wide = wide,
                 .order = 20, // too many functions for cells in lanes
                 .depth = depth_for(settings.points, 32.0),
                 .points = settings.points};
    const auto times = times_of(shot, settings);
    costs.costs[fmm_cost::cpu_multiply_adds_per_second(isa, wide)] = translation_rate(shot, times, costs);
    const double functions = std::pow(shot.order + 1.0, 2) * 2.0 * static_cast<double>(shot.points);
    costs.costs[fmm_cost::cpu_functions_per_second(isa, wide)] =
        functions / std::max(least_seconds, times.points);
    shot.m2l = M2L::rotation;
    costs.costs[fmm_cost::cpu_rotated_work_per_second(isa, wide)] =
        translation_rate(shot, times_of(shot, settings), costs);
    shot.m2l = M2L::mirrored;
    shot.order = 8;
    const auto in_lanes = times_of(shot, settings);
    costs.costs[fmm_cost::cpu_block_work_per_second(isa, wide)] = block_work_a_cell({.order = shot.order}) *
                                                                  in_lanes.cells_served /
                                                                  std::max(least_seconds, in_lanes.cells);
}

// Leaves of many points and of few: the second take longer for their pairs.
void measure_near_leaves(const MeasureSettings& settings, CostTable& costs) {
    FmmShot shot{.wide = false, .points = 4 * settings.points};
    shot.depth = depth_for(shot.points, 128.0);
    std::array<std::array<double, 3>, 2> equations{};
    for (auto& equation : equations) {
        const auto times = times_of(shot, settings);
        const LeafGrid grid{1, shot.depth};
        equation = {times.near_pairs, 0.5 * (grid.neighbours(1) + grid.cells()), times.near};
        ++shot.depth;
    }
    costs.costs[std::string(fmm_cost::cpu_near_leaf_seconds)] = two_unknowns(equations[0], equations[1])[1];
}

// Of more points than caches hold, as sums have that are worth the method.
void measure_tree(const MeasureSettings& settings, CostTable& costs) {
    const std::int64_t points = 16 * settings.points;
    FmmShot shot{.depth = depth_for(points, 512.0), .points = points};
    std::array<std::array<double, 3>, 2> equations{};
    for (auto& equation : equations) {
        const auto times = times_of(shot, settings);
        equation = {static_cast<double>(points), LeafGrid{1, shot.depth}.cells(), times.tree};
        ++shot.depth;
    }
    const auto [point, leaf] = two_unknowns(equations[0], equations[1]);
    costs.costs[std::string(fmm_cost::cpu_point_seconds)] = point;
    costs.costs[std::string(fmm_cost::cpu_leaf_seconds)] = leaf;
}

double seconds_to_plan(const FmmShot& shot, const MeasureSettings& settings) {
    const auto points = even_points(shot.points);
    const auto view = matrix_view(std::span<const double>(points), 3);
    return seconds_of([&] { const SumPlan plan(view, options_of_shot(shot, settings.threads)); });
}

// Translations are kept for the next plan: each repeat has an order of its own.
void measure_operators(const MeasureSettings& settings, CostTable& costs) {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run == 0 || (run < std::min(settings.repeats, 8) && !is_to_stop(settings)); ++run) {
        const FmmShot shot{.order = 24 + run, .depth = 2, .points = 64};
        const double first = seconds_to_plan(shot, settings);
        const double again = seconds_to_plan(shot, settings);
        const double numbers = predicted_operator_bytes({.order = shot.order}, true) / sizeof(double);
        least = std::min(least, (first - again) / numbers);
    }
    costs.costs[std::string(fmm_cost::cpu_operator_seconds)] =
        std::max(least_seconds, least * thread_count(settings.threads));
}

void measure_few_points(const MeasureSettings& settings, CostTable& costs) {
    const FmmShot shot{.order = low_order, .depth = 2, .points = 64};
    const auto points = even_points(shot.points);
    const std::vector<double> strengths(static_cast<std::size_t>(shot.points), 1.0);
    std::vector<double> field(points.size());
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 1 + settings.repeats; ++run) // the first makes the operators
        least = std::min(least, seconds_of([&] {
                             SumPlan plan(matrix_view(std::span<const double>(points), 3),
                                          options_of_shot(shot, settings.threads));
                             plan.execute(std::span<const double>(strengths),
                                          {.field = matrix_view(std::span<double>(field), 3)});
                         }));
    costs.costs[std::string(fmm_cost::cpu_fixed_seconds)] = least;
}

} // namespace

bool measure_fmm(const MeasureSettings& given, CostTable& costs) {
    auto settings = given;
    settings.repeats *= 3; // of sums that take milliseconds
    using Part = void (*)(const MeasureSettings&, CostTable&);
    constexpr std::array<std::pair<const char*, Part>, 5> parts{
        {{"a tree of few points", measure_few_points},
         {"trees", measure_tree},
         {"leaves that are near", measure_near_leaves},
         {"translations, made", measure_operators},
         {"cells", measure_cells}}};
    for (const auto& [what, part] : parts) {
        if (ends_before(settings, what)) return false;
        part(settings, costs);
    }
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) continue;
        for (const bool wide : {false, true}) {
            if (ends_before(settings, fmt::format("expansions, {}, {}", name_of(isa),
                                                  name_of(wide ? Precision::float64 : Precision::float32))))
                return false;
            measure_rates(isa, wide, settings, costs);
        }
    }
    return !is_to_stop(settings);
}

} // namespace farfield
