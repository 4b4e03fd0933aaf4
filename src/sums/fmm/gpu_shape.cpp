#include "sums/fmm/gpu_shape.h"

#include "sums/fmm/softened.h"
#include "sums/fmm/tensor_operators.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Rates of an H200.
struct Rates {
    double pairs, multiply_adds; ///< a second
    double seconds_a_cell;       ///< beside multiply-adds
};
constexpr Rates in_float{1.3e12, 12e12, 3e-9};
constexpr Rates in_double{0.5e12, 6e12, 4e-9};
constexpr double tensor_seconds_a_cell = 3e-9;
constexpr double least_leaf = 8.0, most_leaf = 1000.0;

/// Matrices of mirror images stand alone there; on the host one serves all of them.
constexpr double plain_beside_mirrored = 189.0 / 39.5;

const Rates& rates_of(bool wide) { return wide ? in_double : in_float; }

double neighbour_cells(const FmmOrder& order) { return std::pow(2.0 * order.separation + 1.0, 3); }

/// Of a cell, for 1/r, beside what every cell takes.
double harmonic_seconds(FmmOrder order, bool wide) {
    if (!wide && has_tensor_operators(order)) return tensor_seconds_a_cell;
    order.m2l = M2L::matrix;
    order.coarse = 1;
    return multiply_adds_a_cell(order, wide) / rates_of(wide).multiply_adds;
}

/// The same where ε is `softening` of its widths.
double softened_seconds(const FmmOrder& order, bool wide, double softening) {
    const auto cost = softened_cost(order, softening);
    return plain_beside_mirrored * cost.multiply_adds / rates_of(wide).multiply_adds +
           (cost.whole ? 0.0 : harmonic_seconds(order, wide));
}

} // namespace

double gpu_leaf(const FmmOrder& order, bool wide) {
    const auto& rates = rates_of(wide);
    const double cell = rates.seconds_a_cell + harmonic_seconds(order, wide);
    // N·neighbours·leaf/pairs + N/leaf·(8/7)·cell is least
    return std::clamp(std::sqrt(8.0 / 7.0 * cell * rates.pairs / neighbour_cells(order)), least_leaf,
                      most_leaf);
}

double gpu_softened_leaf(const FmmOrder& order, bool wide, double softening) {
    const auto& rates = rates_of(wide);
    double least = HUGE_VAL;
    double best = least_leaf;
    for (double leaf = least_leaf; leaf <= most_leaf; leaf *= 1.1) {
        const double cell = rates.seconds_a_cell + softened_seconds(order, wide, softening / std::cbrt(leaf));
        const double point = neighbour_cells(order) * leaf / rates.pairs + 8.0 / 7.0 * cell / leaf;
        if (point >= least) continue;
        least = point;
        best = leaf;
    }
    return best;
}

FmmShape gpu_fmm_shape(const SumProblem& problem, SumOptions options, const CostTable& table, int order,
                       double softening) {
    options.m2l = M2L::matrix;
    auto shape = fmm_shape(problem, options, table, order);
    if (options.leaf <= 0 && options.depth < 0) {
        const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
        const double leaf = softening > 0.0
                                ? gpu_softened_leaf(shape.order, shape.wide, softening * std::cbrt(points))
                                : gpu_leaf(shape.order, shape.wide);
        options.leaf = static_cast<int>(std::lround(leaf));
        shape = fmm_shape(problem, options, table, order);
    }
    // it spares them nothing; softened levels may have none
    if (!shape.wide && has_tensor_operators(shape.order) && problem.softening == 0.0)
        shape.order.grading = 0.0;
    return shape;
}

} // namespace farfield
