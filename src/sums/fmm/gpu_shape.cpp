#include "sums/fmm/gpu_shape.h"

#include "sums/direct/common/costs.h"
#include "sums/fmm/mirrored_operators.h"
#include "sums/fmm/periodic_level.h"
#include "sums/fmm/softened.h"
#include "sums/fmm/tensor_operators.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Rates of an H200.
struct Rates {
    double pairs, multiply_adds, mirrored_multiply_adds; ///< a second
    double seconds_a_cell;                               ///< beside multiply-adds
    double seconds_a_function;                           ///< of a point, to form and to evaluate expansions
};
constexpr Rates in_float{1.3e12, 12e12, 4.5e12, 3e-9, 2.3e-12};
constexpr Rates in_double{0.7e12, 6e12, 3e12, 4e-9, 3.4e-12};
constexpr double tensor_seconds_a_product = 3.3e-9; ///< of 32 by 32 numbers, for all senders of a cell
/// Rates::seconds_a_cell of softened sums, fitted to steps of a Plummer cluster of a million bodies, orders 4
/// to 12: with it counts what small leaves lose of the pairs a second.
constexpr double seconds_a_softened_cell = 50e-9;
constexpr double least_leaf = 8.0, most_leaf = 1000.0;
/// Of an execution with its tree: launches, and what each point takes.
constexpr double fixed_seconds = 0.7e-3, seconds_a_point = 0.4e-9;
/// Softened sums run through two kinds of expansions.
constexpr double softened_beside_hard = 1.8;
/// By which the order is lower than the CPU's, with which that one's sums seldom fall short.
constexpr int softened_orders = 2;
/// Leaves of unlike size act on each other point by point: that takes less time there than expansions at
/// points.
constexpr std::int32_t few_points = 1000;

/// Multiply-adds where each mirror image is sent by itself, beside those where all are at once.
constexpr double plain_beside_mirrored = 189.0 / 39.5;

const Rates& rates_of(bool wide) { return wide ? in_double : in_float; }

double multiply_adds_a_second(const FmmOrder& order, bool wide) {
    return has_mirrored_operators(order) ? rates_of(wide).mirrored_multiply_adds
                                         : rates_of(wide).multiply_adds;
}

double neighbour_cells(const FmmOrder& order) { return std::pow(2.0 * order.separation + 1.0, 3); }

double tensor_seconds(double functions) {
    return tensor_seconds_a_product *
           std::pow(std::ceil(functions / plain_padding) * plain_padding / 32.0, 2);
}

/// Of a cell, for 1/r, beside what every cell takes.
double harmonic_seconds(FmmOrder order, bool wide) {
    const int functions = (order.order + 1) * (order.order + 1);
    if (has_tensor_operators(order, functions)) return tensor_seconds(functions);
    order.coarse = 1;
    return multiply_adds_a_cell(order, wide) / multiply_adds_a_second(order, wide);
}

/// Of so many polynomials, whether sums over mirror images have room for those that are even along all axes.
bool are_mirrored(const FmmOrder& order, int functions, bool wide) {
    int degree = 0;
    while ((degree + 1) * (degree + 2) * (degree + 3) / 6 < functions) ++degree;
    const int half = degree / 2;
    return has_mirrored_operators(order) &&
           (half + 1) * (half + 2) * (half + 3) / 6 <= most_mirrored_rows(wide);
}

/// The same where ε is `softening` of its widths.
double softened_seconds(const FmmOrder& order, bool wide, double softening) {
    const auto cost = softened_cost(order, softening);
    const auto functions = static_cast<int>(cost.functions);
    const auto& rates = rates_of(wide);
    const double polynomials = has_tensor_operators(order, functions) ? tensor_seconds(functions)
                               : are_mirrored(order, functions, wide)
                                   ? cost.multiply_adds / rates.mirrored_multiply_adds
                                   : plain_beside_mirrored * cost.multiply_adds / rates.multiply_adds;
    return polynomials + (cost.whole ? 0.0 : harmonic_seconds(order, wide));
}

} // namespace

double gpu_leaf(const FmmOrder& order, bool wide) {
    const auto& rates = rates_of(wide);
    const double cell = rates.seconds_a_cell + harmonic_seconds(order, wide);
    // N·neighbours·leaf/pairs + N/leaf·(8/7)·cell is least
    return std::clamp(std::sqrt(8.0 / 7.0 * cell * rates.pairs / neighbour_cells(order)), least_leaf,
                      most_leaf);
}

double gpu_softened_leaf(const FmmOrder& order, bool wide, double softening, double least) {
    const auto& rates = rates_of(wide);
    double fastest = HUGE_VAL;
    double best = least_leaf;
    for (double leaf = least_leaf; leaf <= most_leaf; leaf *= 1.1) {
        const double cell = seconds_a_softened_cell +
                            softened_seconds(order, wide, std::max(least, softening / std::cbrt(leaf)));
        const double point = neighbour_cells(order) * leaf / rates.pairs + 8.0 / 7.0 * cell / leaf;
        if (point >= fastest) continue;
        fastest = point;
        best = leaf;
    }
    return best;
}

FmmShape gpu_fmm_shape(const SumProblem& problem, SumOptions options, const CostTable& table, int order,
                       double softening) {
    const bool periodic = has_periodic_tree(problem);
    if (periodic) softening = problem.softening / problem.period[0];
    const auto asked = options.m2l;
    if (asked == M2L::automatic) options.m2l = M2L::mirrored;
    auto shape = fmm_shape(problem, options, table, order);
    if (problem.softening > 0.0 && order <= 0 && options.order <= 0 &&
        problem.tolerance > 0.0) { // verified, and raised where it falls short
        order = std::max(1, shape.order.order - softened_orders);
        shape = fmm_shape(problem, options, table, order);
    }
    const bool bears = problem.tolerance >= least_bearing_tolerance;
    const int functions = (shape.order.order + 1) * (shape.order.order + 1);
    auto wanted = shape.order;
    wanted.rounded = !shape.wide && asked != M2L::mirrored && (bears || wanted.order <= most_hiding_order);
    wanted.rounded = has_tensor_operators(wanted, functions);
    // tensor cores take tiles of 16 functions: of few functions, grading would spare them next to nothing
    if (wanted.rounded && functions <= 2 * plain_padding) wanted.grading = 0.0;
    if (!has_mirrored_operators(wanted) || mirrored_harmonics(wanted.order) > most_mirrored_rows(shape.wide))
        wanted.m2l = M2L::matrix;
    if (options.leaf <= 0 && options.depth < 0) {
        const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
        const double leaf = softening > 0.0
                                ? gpu_softened_leaf(wanted, shape.wide, softening * std::cbrt(points),
                                                    periodic ? 0.0 : least_softening_of_clusters)
                                : gpu_leaf(wanted, shape.wide);
        options.leaf = static_cast<int>(std::lround(leaf));
        shape = fmm_shape(problem, options, table, order);
    }
    shape.few = std::max(shape.few, few_points);
    shape.order.rounded = wanted.rounded;
    shape.order.grading = wanted.grading;
    shape.order.m2l = wanted.m2l;
    return shape;
}

double gpu_fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                       const CostTable& table) {
    const auto shape = gpu_fmm_shape(problem, options, table);
    const auto precision = shape.wide ? Precision::float64 : Precision::mixed;
    const auto there = gpu_rates(table, gpu, precision, false);
    const double slower =
        gpu_rates(table, "NVIDIA H200", precision, false).pairs_per_second / there.pairs_per_second;
    const auto& rates = rates_of(shape.wide);
    const auto sources = static_cast<double>(problem.sources), targets = static_cast<double>(problem.targets);
    const double points = problem.self ? sources : sources + targets;
    const double near = shape.grid.neighbours(shape.order.separation) * sources * targets /
                        std::pow(shape.grid.cells(), 2) / rates.pairs;
    const double far =
        8.0 / 7.0 * shape.grid.cells() * (rates.seconds_a_cell + harmonic_seconds(shape.order, shape.wide)) +
        points * std::pow(shape.order.order + 1.0, 2) * rates.seconds_a_function;
    const double work =
        (near + far) * (problem.softening > 0.0 ? softened_beside_hard : 1.0) + points * seconds_a_point;
    const double each = fixed_seconds + slower * work;
    if (problem.moves) return problem.executions * each;
    const auto bytes = cost_of_sum(sources, targets, problem.self).bytes;
    return there.start_seconds + problem.executions * (each + bytes / there.bytes_per_second);
}

} // namespace farfield
