#include "sums/gauss/shape.h"

#include "backend/simd/isa.h"
#include "base/spelling.h"
#include "math/log_gamma.h"
#include "sums/direct/common/costs.h"
#include "sums/gauss/grid/grid.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Q(a, x), the upper incomplete gamma function over Γ(a), for a = ½, 1, 1½, …
double upper_gamma(double twice_a, double x) {
    const bool half = std::fmod(twice_a, 2.0) != 0.0;
    double a = half ? 0.5 : 1.0;
    double q = half ? std::erfc(std::sqrt(x)) : std::exp(-x);
    for (; 2.0 * a < twice_a; a += 1.0) q += std::exp(a * std::log(x) - x - log_gamma(a + 1.0));
    return q;
}

/// Numbers beside each other in a register.
double lanes_of(const SumProblem& problem, Isa isa) {
    const double bytes = isa == Isa::avx512 ? 64.0 : isa == Isa::avx2 ? 32.0 : isa == Isa::sse42 ? 16.0 : 8.0;
    return std::max(1.0, bytes / (is_wide(problem.precision) ? 8.0 : 4.0));
}

/// Along an axis, of an extent in the frame: the share of it that a length is, 1 at most.
double share_of(double length, double extent) { return extent > length ? length / extent : 1.0; }

struct PairCost {
    double seconds; ///< of a pair
    double lanes;
};

/// The best side of cells for a cut-off.
GaussShape pairwise(const SumProblem& problem, const GaussExtent& extent, const GaussFrame& frame,
                    double cutoff, const PairCost& cost) {
    const auto n = static_cast<double>(problem.sources);
    const auto m = static_cast<double>(problem.targets);
    constexpr double row_seconds = 6e-8; // to find the sources of a row of cells
    GaussShape best{.cutoff = cutoff, .seconds = HUGE_VAL};
    for (int parts = 1; parts <= (problem.dimension > 3 ? 2 : 8); ++parts) {
        const double side = cutoff / parts;
        double cells = 1.0, near = 1.0, rows = 1.0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(problem.dimension); ++k) {
            const double length = std::ldexp(extent.high[k] - extent.low[k], frame.exponent);
            cells *= std::max(1.0, length / side);
            near *= share_of((2 * parts + 1) * side, length);
            if (k > 0) rows *= std::min<double>(2 * parts + 1, 2.0 * length / side + 1.0);
        }
        cells = std::min(cells, std::max(m, 1.0));
        if (parts > 1) near *= problem.dimension > 2 ? 0.8 : 0.95; // corners are out of reach
        const double in_vectors = cells * (std::ceil(m / cells / cost.lanes) + 0.3) * cost.lanes;
        const double seconds =
            in_vectors * near * n * cost.seconds + cells * rows * row_seconds + 5e-8 * (n + m);
        if (seconds < best.seconds) {
            best.side = side;
            best.seconds = seconds;
        }
    }
    return best;
}

double grid_seconds_of(const SumProblem& problem, const GridRule& rule, double numbers, bool with_gradient,
                       const CostTable& table) {
    const double d = problem.dimension;
    const double rows = std::pow(rule.width, d - 1.0) * (rule.width > 8 ? 2.0 : 1.0);
    const auto n = static_cast<double>(problem.sources);
    const auto m = static_cast<double>(problem.targets);
    const double takes = with_gradient ? d + 1.0 : 1.0;
    return cost_of(table, fgt_cost::point_seconds) * (n + m) +
           cost_of(table, fgt_cost::row_seconds) * rows * (n + takes * m) +
           cost_of(table, fgt_cost::grid_seconds) * numbers * d * (rule.reach + 8.0);
}

// Errors of many sources and of the axes average out: sums came out at 0.3 to 1 times the rule's error in 1
// to 4 dimensions.
bool is_accurate(const GridRule& rule, double tolerance, bool with_gradient) {
    constexpr double share = 0.7; // plans compute again what exceeds `kept_share` (refining.h)
    const double error = with_gradient ? std::max(rule.error, rule.gradient_error) : rule.error;
    return error <= share * tolerance;
}

ClusterAim cluster_aim(const SumProblem& problem, double tolerance, bool with_gradient, double pair_seconds,
                       const CostTable& table) {
    const double term = cost_of(table, fgt_cost::term_seconds);
    return {.tolerance = tolerance,
            .relative_to_sum = problem.relative_to == RelativeTo::sum,
            .with_gradient = with_gradient,
            .vectors = problem.strength_vectors,
            .most_numbers = most_grid_numbers(problem),
            .rates = {.pair = pair_seconds, .term = term, .moment = 2.0 * term}};
}

BoxAim box_aim(const SumProblem& problem, double tolerance, bool with_gradient, const PairCost& pair,
               const CostTable& table) {
    constexpr double share_of_cutoff = 0.1; // boxes are small: no pairs beyond the cut-off come along
    const double usual_slack = std::pow(3.0, problem.dimension); // README.md, "Boxes"
    return {
        .tolerance = std::min(0.1, usual_slack * tolerance),
        .cutoff = gauss_cutoff(problem.dimension, share_of_cutoff * tolerance, with_gradient),
        .with_gradient = with_gradient,
        .vectors = problem.strength_vectors,
        .most_numbers = most_box_numbers(problem),
        .rates = {.pair = pair.seconds, .term = cost_of(table, fgt_cost::term_seconds), .lanes = pair.lanes}};
}

} // namespace

double gauss_cutoff(int dimension, double tolerance, bool with_gradient) {
    const double order = dimension + (with_gradient ? 1.0 : 0.0);
    double low = 0.0, high = 40.0;
    for (int step = 0; step < 60; ++step) {
        const double middle = 0.5 * (low + high);
        (upper_gamma(order, 0.5 * middle * middle) > 0.5 * tolerance ? low : high) = middle;
    }
    return high;
}

bool has_exact_indices(const GaussExtent& extent, const GaussFrame& frame) {
    double reach = 0.0;
    for (std::size_t k = 0; k < most_dimensions; ++k)
        reach = std::max({reach, extent.high[k] - frame.centre[k], frame.centre[k] - extent.low[k]});
    double finest = 0.0;
    for (const auto& rule : grid_rules()) finest = std::max(finest, rule.ratio);
    return std::ldexp(reach, frame.exponent) * finest / frame.sigma < 0x1p23;
}

double most_grid_numbers(const SumProblem& problem) {
    const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
    return std::min(32.0 * points + 0x1p18, 0x1p27); // a gigabyte
}

GaussShape gauss_shape(const SumProblem& problem, const SumOptions& options, const GaussExtent& extent,
                       const GaussFrame& frame, double tolerance, GaussStrategy wanted,
                       const CostTable& table) {
    const bool with_gradient = options.outputs.empty() || options.outputs.has(Output::gradient);
    auto alone = options;
    alone.threads = 1;
    const auto rates = cpu_rates(table, alone, problem.self);
    const PairCost pair{.seconds = pair_weight(problem) / rates.pairs_per_second_a_thread,
                        .lanes = lanes_of(problem, resolve_isa(options.isa))};
    auto best = pairwise(problem, extent, frame,
                         frame.sigma * gauss_cutoff(problem.dimension, tolerance, with_gradient), pair);
    best.clusters = cluster_aim(problem, tolerance, with_gradient, pair.seconds, table);
    best.boxes = box_aim(problem, tolerance, with_gradient, pair, table);
    if (wanted == GaussStrategy::clusters || wanted == GaussStrategy::boxes) best.strategy = wanted;
    if (wanted != GaussStrategy::automatic && wanted != GaussStrategy::grid) return best;
    constexpr double most_rows = 4096.0;
    constexpr double sorting_share = 0.8; // of a point's seconds
    const bool may_grid = has_exact_indices(extent, frame);
    if (wanted == GaussStrategy::grid) best = {.strategy = GaussStrategy::grid, .seconds = HUGE_VAL};
    for (const auto& rule : grid_rules()) {
        if (!may_grid || !is_accurate(rule, tolerance, with_gradient)) continue;
        if (std::pow(rule.width, problem.dimension - 1) > most_rows) continue;
        const double numbers = grid_numbers(rule, extent, frame, problem.dimension);
        const double seconds = grid_seconds_of(problem, rule, numbers, with_gradient, table);
        if (numbers > most_grid_numbers(problem) || seconds >= best.seconds) continue;
        best.strategy = GaussStrategy::grid;
        best.rule = &rule;
        best.seconds = seconds;
        best.seconds_of_points = sorting_share * cost_of(table, fgt_cost::point_seconds) *
                                 static_cast<double>(problem.sources + problem.targets);
    }
    return best;
}

double most_box_numbers(const SumProblem& problem) {
    const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
    return std::min(256.0 * points + 0x1p18, 0x1p26); // half a gigabyte
}

bool may_box(const SumOptions& options) {
    return options.strategy == GaussStrategy::boxes || options.strategy == GaussStrategy::automatic;
}

bool may_cluster(const SumProblem& problem, const SumOptions& options) {
    if (options.strategy == GaussStrategy::clusters) return true;
    return options.strategy == GaussStrategy::automatic && problem.dimension > 3;
}

void check_has_gauss_shape(GaussStrategy strategy, double seconds) {
    if (std::isfinite(seconds)) return;
    throw InvalidArgument(fmt::format(
        "{} is out of reach: the points' extent is too many times sigma, or the "
        "tolerance is too small; use {}",
        spelled("strategy", name_of(strategy)), spelled("strategy", name_of(GaussStrategy::automatic))));
}

double least_fgt_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table) {
    const double wanted = problem.tolerance > 0.0 ? problem.tolerance : 1e-6;
    const bool with_gradient = options.outputs.empty() || options.outputs.has(Output::gradient);
    double least = HUGE_VAL;
    for (const auto& rule : grid_rules())
        if (is_accurate(rule, wanted, with_gradient) || &rule == &grid_rules().back())
            least =
                std::min(least, grid_seconds_of(problem, rule, std::pow(2.0 * rule.width, problem.dimension),
                                                with_gradient, table));
    return least;
}

} // namespace farfield
