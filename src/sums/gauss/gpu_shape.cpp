#include "sums/gauss/gpu_shape.h"

#include "sums/direct/common/costs.h"
#include "sums/direct/common/device_model.h"
#include "sums/gauss/grid/grid.h"
#include "sums/gauss/grid/placing.h"
#include "sums/gauss/grid/widths.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Rates of an H200: seconds of a point, of a tap, of a number of the grid that is written or read as points
/// move on, and of a number that is folded along an axis; pairs a second. Values take longer than spreading,
/// and gradients longer than values.
struct GaussGpuRates {
    double point, tap, touch, fold, pairs;
};
constexpr GaussGpuRates gauss_in_float{2e-11, 1.2e-13, 4e-12, 6e-12, 6.7e11};
constexpr GaussGpuRates gauss_in_double{4e-11, 1.6e-13, 4e-12, 9e-12, 3.5e11};
constexpr double of_values = 1.1, with_slopes = 1.6;
constexpr double fixed_seconds = 3.5e-5;

/// What rounding to float adds to the error of a value and of a gradient, relative to the largest.
constexpr double float_error = 3e-7, float_gradient_error = 6e-7;
constexpr double least_tolerance_of_float_pairs = 1e-6;

double length_of(const GaussExtent& extent, const GaussFrame& frame, std::size_t k) {
    return std::ldexp(extent.high[k] - extent.low[k], frame.exponent);
}

// Points lie evenly, in columns along the last axis: registers that leave a cell write or read a plane for
// each cell up to the next one with a point, but not more than all planes.
double grid_seconds_on_gpu(const SumProblem& problem, const GridRule& rule, double numbers,
                           bool with_gradient, bool wide) {
    const auto& rates = wide ? gauss_in_double : gauss_in_float;
    const double d = problem.dimension;
    const double taps = std::pow(rule.width, d);
    const auto of = [&](std::int64_t points, double takes) {
        const auto n = static_cast<double>(points);
        const double planes = n > 0.0 ? std::min<double>(rule.width, numbers / n) : 0.0;
        return n * (rates.point + takes * rates.tap * taps + rates.touch * planes * taps / rule.width);
    };
    return of(problem.sources, 1.0) + of_values * of(problem.targets, with_gradient ? with_slopes : 1.0) +
           numbers * d * rates.fold + fixed_seconds;
}

/// Each number of columns of the grid collects from points about them; values are taken from shared memory.
double sparse_seconds_on_gpu(const SumProblem& problem, const GridRule& rule, double numbers,
                             bool with_gradient, bool wide) {
    const double w = rule.width;
    const double slower = wide ? 2.5 : 1.0;
    const double visits = std::pow((7.0 + w) / 8.0, 2);
    const double collect = visits * (2.0 * w + 20.0) * 1.1e-12;
    const double value = (w * w * w / 16.0 + 25.0) * 1.1e-12 * 2.0 * (with_gradient ? 2.0 : 1.0);
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    return slower * (n * collect + m * value + numbers * 1.6e-11) + fixed_seconds;
}

/// Pairs of targets that are together and sources within the cut-off of their box.
GpuGaussShape pairs_on_gpu(const SumProblem& problem, const GaussExtent& extent, const GaussFrame& frame,
                           double tolerance, bool with_gradient) {
    GpuGaussShape shape;
    shape.wide = tolerance < least_tolerance_of_float_pairs;
    shape.cutoff = frame.sigma * gauss_cutoff(problem.dimension, tolerance, with_gradient);
    // beyond space there are few points a box, and many boxes within reach
    shape.side = (problem.dimension > most_grid_axes ? 1.0 : 0.5) * shape.cutoff;
    double share = problem.dimension == 3 ? 0.7 : 1.0;
    const double together =
        std::pow(32.0 / std::max<double>(1.0, static_cast<double>(problem.targets)), 1.0 / problem.dimension);
    for (std::size_t k = 0; k < static_cast<std::size_t>(problem.dimension); ++k) {
        const double length = length_of(extent, frame, k);
        const double reach = 2.0 * shape.cutoff + together * length;
        share *= length > reach ? reach / length : 1.0;
    }
    const auto& rates = shape.wide ? gauss_in_double : gauss_in_float;
    shape.seconds = static_cast<double>(problem.sources) * static_cast<double>(problem.targets) * share *
                        (with_gradient ? 1.5 : 1.0) / rates.pairs +
                    fixed_seconds;
    return shape;
}

bool has_loops(const GridRule& rule, bool wide, int dimension) {
    if (dimension > most_grid_axes) return false;
    return wide ? rule.width >= least_double_width && rule.width <= most_double_width &&
                      rule.reach <= most_double_reach
                : dimension > 1 && rule.width <= most_float_width && rule.reach <= most_float_reach;
}

bool is_accurate_on_gpu(const GridRule& rule, double tolerance, bool with_gradient, bool wide) {
    constexpr double share = 0.7; // as on the CPU (shape.cpp)
    const double value = rule.error + (wide ? 0.0 : float_error);
    const double gradient = rule.gradient_error + (wide ? 0.0 : float_gradient_error);
    return (with_gradient ? std::max(value, gradient) : value) <= share * tolerance;
}

} // namespace

GpuGaussShape gpu_gauss_shape(const SumProblem& problem, const SumOptions& options, const GaussExtent& extent,
                              const GaussFrame& frame, double tolerance, GaussStrategy wanted) {
    const bool with_gradient = options.outputs.empty() || options.outputs.has(Output::gradient);
    auto best = pairs_on_gpu(problem, extent, frame, tolerance, with_gradient);
    if (wanted == GaussStrategy::grid) best.seconds = HUGE_VAL;
    if (wanted == GaussStrategy::pairs || !has_exact_indices(extent, frame)) return best;
    for (const auto& rule : grid_rules())
        for (const bool wide : {false, true}) {
            if (!has_loops(rule, wide, problem.dimension)) continue;
            if (!is_accurate_on_gpu(rule, tolerance, with_gradient, wide)) continue;
            const double numbers = grid_numbers(rule, extent, frame, problem.dimension);
            if (numbers > most_grid_numbers(problem)) continue;
            for (const bool sparse : {false, true}) {
                const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
                if (sparse && (problem.dimension != 3 || numbers < points)) continue;
                const double seconds = (sparse ? sparse_seconds_on_gpu : grid_seconds_on_gpu)(
                    problem, rule, numbers, with_gradient, wide);
                if (seconds >= best.seconds) continue;
                best.rule = &rule;
                best.wide = wide;
                best.sparse = sparse;
                best.seconds = seconds;
            }
        }
    return best;
}

double gpu_fgt_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                       const CostTable& table) {
    const double tolerance = problem.tolerance > 0.0 ? problem.tolerance : 1e-6;
    const bool with_gradient = options.outputs.empty() || options.outputs.has(Output::gradient);
    double least = HUGE_VAL;
    for (const auto& rule : grid_rules())
        for (const bool wide : {false, true})
            if (has_loops(rule, wide, problem.dimension) &&
                is_accurate_on_gpu(rule, tolerance, with_gradient, wide))
                least = std::min(least, grid_seconds_on_gpu(problem, rule,
                                                            std::pow(2.0 * rule.width, problem.dimension),
                                                            with_gradient, wide));
    const auto there = gpu_rates(table, gpu, Precision::mixed, false);
    const double slower =
        gpu_rates(table, "NVIDIA H200", Precision::mixed, false).pairs_per_second / there.pairs_per_second;
    const auto sources = static_cast<double>(problem.sources), targets = static_cast<double>(problem.targets);
    const double bytes =
        8.0 * ((problem.dimension + problem.strength_vectors) * sources +
               (problem.self ? 0.0 : problem.dimension * targets) +
               problem.strength_vectors * (with_gradient ? 1.0 + problem.dimension : 1.0) * targets);
    if (least == HUGE_VAL) // pairs, of which nobody knows how many are near
        least = sources * targets / gauss_in_double.pairs;
    return there.start_seconds +
           problem.executions * (problem.strength_vectors * slower * least + bytes / there.bytes_per_second);
}

} // namespace farfield
