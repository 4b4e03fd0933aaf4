#include "sums/fmm/plane/plane_shape.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/costs/fmm_coefficients.h"
#include "sums/direct/common/costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

namespace farfield {
namespace {

constexpr int plane_coarse_grids[] = {1, 3, 5, 7};
constexpr double usual_plane_tolerance = 1e-6; ///< where neither an order nor a tolerance is given
constexpr int usual_sets = 2;                  ///< of complex strengths: nobody knows them yet

/// Digits that an order gains, fitted to the errors of orders up to 36 for complex strengths of both signs in
/// a square (README.md).
double plane_digits_an_order(int separation) { return separation == 1 ? 0.36 : 0.62; }
double plane_first_digits(int /*separation*/) { return 1.5; }

/// Seconds of parts of a sum, for one thread.
struct PlaneRates {
    double pair, near_leaf, cell, coarse_cell, point, tree_point, tree_leaf;
};

// Of M2L to a cell with all its senders; the matrix' rows are padded to vectors.
double multiply_adds_a_cell(const LaurentOrder& order) {
    const int reach = 2 * order.separation + 1;
    double sum = 0.0;
    for (int dy = -reach; dy <= reach; ++dy)
        for (int dx = -reach; dx <= reach; ++dx) {
            if (std::max(std::abs(dx), std::abs(dy)) <= order.separation) continue;
            const int graded = graded_laurent_order(order, dx, dy);
            sum += 2.0 * usual_sets * (graded + 1) * laurent_size(graded);
        }
    const double width = 2.0 * order.separation + 1.0;
    const double offsets = (2.0 * reach + 1.0) * (2.0 * reach + 1.0) - width * width;
    return sum * 3.0 * width * width /
           offsets; // a cell has three in four of its parent's neighbours' children
}

PlaneRates plane_rates(const CostTable& table, const SumProblem& problem, const SumOptions& options,
                       const LaurentOrder& order) {
    const Isa isa = resolve_isa(options.isa);
    const double multiply_add = 1.0 / cost_of(table, fmm_cost::cpu_multiply_adds_per_second(isa, true));
    const double functions = 5.0 * usual_sets * (order.order + 1);
    // the coefficient is of 189 senders; here a cell has 27
    const double cell =
        multiply_adds_a_cell(order) * multiply_add + cost_of(table, fmm_cost::cpu_cell_seconds) / 7.0;
    return {.pair = pair_weight(problem) / cpu_rates(table, options, problem.self).pairs_per_second_a_thread,
            .near_leaf = cost_of(table, fmm_cost::cpu_near_leaf_seconds),
            .cell = cell,
            .coarse_cell = cell * order.coarse * order.coarse / 54.0, // half of all others are far
            .point = functions * multiply_add,
            .tree_point = cost_of(table, fmm_cost::cpu_point_seconds),
            .tree_leaf = cost_of(table, fmm_cost::cpu_leaf_seconds)};
}

struct PlaneSeconds {
    double once = 0.0; ///< before the first execution
    double each = 0.0; ///< of an execution
};

PlaneSeconds seconds_on_grid(const LeafGrid& grid, const PlaneRates& rates, const SumProblem& problem,
                             int separation) {
    const auto sources = static_cast<double>(problem.sources);
    const auto targets = static_cast<double>(problem.targets);
    const double near_leaves = grid.neighbours(separation);
    const double lists = problem.self ? 0.5 * (near_leaves + grid.cells()) : near_leaves;
    PlaneSeconds out;
    out.once =
        (problem.self ? sources : sources + targets) * rates.tree_point + grid.cells() * rates.tree_leaf;
    out.each =
        near_leaves * sources * targets / std::pow(grid.cells(), 2) * rates.pair + lists * rates.near_leaf;
    if (!grid.has_far_cells(separation)) return out;
    out.each += (sources + targets) * rates.point;
    if (grid.coarse > 1) out.each += std::pow(grid.coarse, 2) * rates.coarse_cell;
    for (int level = 1; level <= grid.level; ++level)
        if (const LeafGrid here{grid.coarse, level, 2}; here.has_far_cells(separation))
            out.each += here.cells() * rates.cell;
    return out;
}

std::vector<LeafGrid> plane_grids(int most_coarse) {
    std::vector<LeafGrid> grids;
    for (const int coarse : plane_coarse_grids)
        for (int level = 0; level <= 14 && coarse <= most_coarse; ++level)
            grids.push_back({coarse, level, 2});
    std::sort(grids.begin(), grids.end(), [](const auto& a, const auto& b) { return a.cells() < b.cells(); });
    return grids;
}

// Whose cells are as wide as that, in sides; a single cell is.
bool is_wide_enough(const LeafGrid& grid, double width) {
    return grid.cells() == 1.0 || grid.across() * width <= 1.0;
}

LeafGrid choose_plane_grid(const SumProblem& problem, const SumOptions& options, LaurentOrder order,
                           const CostTable& table, double width, int most_coarse) {
    const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
    const auto cost = [&](const LeafGrid& grid) {
        if (options.leaf > 0) return std::abs(std::log(std::max(points, 1.0) / grid.cells() / options.leaf));
        order.coarse = grid.coarse;
        const auto rates = plane_rates(table, problem, options, order);
        const auto seconds = seconds_on_grid(grid, rates, problem, order.separation);
        return seconds.once + problem.executions * seconds.each;
    };
    auto grids = plane_grids(most_coarse);
    std::erase_if(grids, [&](const LeafGrid& grid) { return !is_wide_enough(grid, width); });
    std::vector<double> costs(grids.size());
    std::transform(grids.begin(), grids.end(), costs.begin(), cost);
    return grids[static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin())];
}

} // namespace

int plane_order_for(double tolerance, int separation) {
    const double digits = -std::log10(tolerance);
    const double order = (digits - plane_first_digits(separation)) / plane_digits_an_order(separation);
    return std::clamp(static_cast<int>(std::ceil(order)), 2, most_plane_order);
}

int plane_order_after(int order, int separation, double error, double tolerance) {
    const double missing = std::isfinite(error) && tolerance > 0.0 ? std::log10(error / tolerance) : 1.0;
    const int more = static_cast<int>(std::ceil(std::max(missing, 0.0) / plane_digits_an_order(separation)));
    return std::min(order + std::clamp(more, 1, 10), most_plane_order);
}

double plane_digits(int order, int separation) {
    return plane_first_digits(separation) + plane_digits_an_order(separation) * order;
}

double core_reach(int order, int separation) {
    return std::sqrt(2.0 * std::numbers::ln10 * (plane_digits(order, separation) + 1.0));
}

PlaneShape plane_shape(const SumProblem& problem, const SumOptions& options, const CostTable& table,
                       int order, double reach, int most_coarse) {
    PlaneShape shape;
    shape.order.separation = options.separation > 0 ? options.separation : 1;
    shape.order.grading = options.grading;
    const double tolerance = problem.tolerance > 0.0 ? problem.tolerance : usual_plane_tolerance;
    shape.order.order = order > 0           ? order
                        : options.order > 0 ? options.order
                                            : plane_order_for(tolerance, shape.order.separation);
    shape.tree.separation = shape.order.separation;
    const double width = reach / shape.order.separation; // between cells that are no neighbours are as many
    shape.grid = options.depth >= 0
                     ? LeafGrid{1, options.depth, 2}
                     : choose_plane_grid(problem, options, shape.order, table, width, most_coarse);
    if (options.depth >= 0) shape.tree.depth = options.depth;
    shape.order.coarse = shape.tree.coarse = shape.grid.coarse;
    if (width > 0.0)
        shape.tree.deepest =
            std::max(0, static_cast<int>(std::floor(-std::log2(std::min(1.0, width * shape.grid.coarse)))));
    const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
    shape.leaf = std::max(1.0, points / shape.grid.cells());
    if (options.depth < 0) {
        // so many that evenly spread points stay on one level
        shape.tree.most = static_cast<std::int32_t>(
            std::max(2.0 * shape.leaf, shape.leaf + 6.0 * std::sqrt(shape.leaf) + 4.0));
    }
    shape.few = shape.order.order / 2 + 1; // an expansion takes as long at a point as so many pairs, about
    return shape;
}

LeafRates plane_leaf_rates(const SumProblem& problem, const SumOptions& options, const CostTable& table,
                           const LaurentOrder& order) {
    auto usual = order; // of any level but the coarsest
    usual.coarse = 1;
    const auto rates = plane_rates(table, problem, options, usual);
    return {.seconds_a_pair = rates.pair, .seconds_a_cell = rates.cell, .seconds_a_point = rates.point};
}

double plane_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table) {
    const auto shape = plane_shape(problem, options, table);
    const auto rates = plane_rates(table, problem, options, shape.order);
    const auto seconds = seconds_on_grid(shape.grid, rates, problem, shape.order.separation);
    return cost_of(table, fmm_cost::cpu_fixed_seconds) +
           (seconds.once + problem.executions * seconds.each) / thread_count(options.threads);
}

} // namespace farfield
