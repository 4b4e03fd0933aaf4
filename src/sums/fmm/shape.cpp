#include "sums/fmm/shape.h"

#include "sums/fmm/bounds.h"
#include "sums/fmm/costs.h"
#include "sums/fmm/periodic_level.h"
#include "sums/tree/near_lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace farfield {
namespace {

/// Points of a small leaf beside a larger one that act one by one at any order: expansions at the other's
/// points take no less time (0.18 s at 40 to 80, 0.20 at 18 and at 160 for a million points on a sphere,
/// order 4).
constexpr std::int32_t few_at_least = 64;

constexpr int coarse_grids[] = {1, 3, 5, 7};
/// In boxes potentials are smaller, as images cancel in part, and relative errors about 2.2 times as large,
/// which higher orders have to spare: errors at random charges, orders 4 to 21, 10,000 to 1,000,000 points.
constexpr int most_order_with_more = 10;
/// Cells an axis of a periodic level 0: of more, too many act on each other. Softened, the cell is the box:
/// polynomials carry no images from level 0.
constexpr int most_periodic = 3, most_periodic_softened = 1;

/// Digits that an order gains, fitted to the errors of orders up to 24 for charges of both signs in a cube.
double digits_an_order(int separation) { return separation == 1 ? 0.31 : 0.52; }

double first_digits(int separation) { return separation == 1 ? 1.5 : 1.6; }

/// Of bounds: what those of points in the corners of the nearest cells that are expanded gain, and a quarter
/// more, as most points are not there.
double bounded_digits_an_order(int separation) {
    return 1.25 * std::log10((separation + 1.0 - corner_radius) / corner_radius);
}

/// All grids, from coarse to fine.
std::vector<LeafGrid> leaf_grids(const SumProblem& problem, int separation) {
    std::vector<LeafGrid> grids;
    const bool periodic = has_periodic_tree(problem);
    const int most = problem.softening > 0.0 ? most_periodic_softened : most_periodic;
    for (const int coarse : coarse_grids) {
        if (periodic && coarse > most) continue;
        const int first = periodic ? first_level_of_leaves(coarse, separation) : 0;
        for (int level = first; level <= 9; ++level) grids.push_back({coarse, level, 3, periodic});
    }
    std::sort(grids.begin(), grids.end(), [](const auto& a, const auto& b) { return a.cells() < b.cells(); });
    return grids;
}

template <class Cost>
LeafGrid best_grid(const SumProblem& problem, int separation, const Cost& cost) {
    const auto grids = leaf_grids(problem, separation);
    return *std::min_element(grids.begin(), grids.end(),
                             [&](const LeafGrid& a, const LeafGrid& b) { return cost(a) < cost(b); });
}

LeafGrid choose_grid(const SumProblem& problem, const SumOptions& options, const FmmShape& shape,
                     const CostTable& table, double softening) {
    const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
    const bool periodic = has_periodic_tree(problem);
    const int separation = shape.order.separation;
    if (options.leaf > 0)
        return best_grid(problem, separation, [&](const LeafGrid& grid) {
            return std::abs(std::log(points / grid.cells() / options.leaf));
        });
    std::map<int, FmmRates> rates_of;
    for (const int coarse : coarse_grids) {
        auto order = shape.order;
        order.coarse = periodic ? 1 : coarse;
        rates_of[coarse] = fmm_rates(table, problem, options, order, shape.wide);
    }
    return best_grid(problem, separation, [&](const LeafGrid& grid) {
        const auto seconds = fmm_seconds_on(grid, rates_of.at(grid.coarse), problem, softening);
        return seconds.once + problem.executions * seconds.each;
    });
}

// Polynomials do not act on points beyond their cells, so that a large leaf beside a dense region would meet
// all of its points. It is divided where its children spare more pairs each than a cell has that holds what
// is thought best: there the near field takes about as long as the far field.
void fit_softening(FmmShape& shape) {
    const double neighbours = std::pow(2.0 * shape.order.separation + 1.0, 3);
    shape.tree.pairs_a_cell = neighbours * shape.leaf * shape.leaf;
    shape.tree.steps = true;
    shape.few = all_points;
}

} // namespace

int order_for(double tolerance, int separation) {
    const double digits = -std::log10(tolerance);
    const double order = (digits - first_digits(separation)) / digits_an_order(separation);
    return std::clamp(static_cast<int>(std::ceil(order)), 2, most_order(true));
}

double digits_of(int order, int separation) {
    return first_digits(separation) + order * digits_an_order(separation);
}

int order_after(int order, int separation, double error, double tolerance, bool wide) {
    const double missing = std::isfinite(error) && tolerance > 0.0 ? std::log10(error / tolerance) : 1.0;
    const int more = static_cast<int>(std::ceil(std::max(missing, 0.0) / digits_an_order(separation)));
    return std::min(order + std::clamp(more, 1, 8), most_order(wide));
}

std::optional<int> next_order(OrderSearch& search, const FmmShape& shape, double error, double tolerance) {
    if (shape.order.order >= most_order(shape.wide)) return std::nullopt;
    const auto more = search.beyond(error, tolerance);
    if (!more) return std::nullopt;
    return order_after(shape.order.order + *more, shape.order.separation, error, tolerance, shape.wide);
}

int order_for_bound(double tolerance, int separation) {
    const double order = -std::log10(tolerance) / bounded_digits_an_order(separation);
    return std::clamp(static_cast<int>(std::ceil(order)), 2, most_order(true));
}

int order_after_bound(int order, int separation, double excess) {
    const double missing = std::isfinite(excess) ? std::log10(std::max(excess, 1.0)) : 1.0;
    const int more = static_cast<int>(std::ceil(missing / bounded_digits_an_order(separation) + 0.3));
    return std::min(order + std::max(more, 1), most_order(true));
}

int most_order(bool wide) { return wide ? 40 : 20; }

FmmShape fmm_shape(const SumProblem& problem, const SumOptions& options, const CostTable& table, int order,
                   double softening) {
    FmmShape shape;
    const bool periodic = has_periodic_tree(problem);
    if (periodic) softening = problem.softening / problem.period[0];
    // bounds fall by few digits an order at separation 1, and floats would add much rounding to them
    shape.wide = is_wide(options.precision) || options.guaranteed;
    shape.order.separation = options.separation > 0 ? options.separation : options.guaranteed ? 2 : 1;
    shape.order.grading = options.grading;
    const double tolerance = problem.tolerance > 0.0 ? problem.tolerance : usual_tolerance;
    // softened fields lack the large values of near pairs, beside which errors vanish
    int more = problem.softening > 0.0 ? 2 : 0;
    if (periodic && more == 0 && order_for(tolerance, shape.order.separation) <= most_order_with_more)
        more = 1;
    shape.order.order = order > 0            ? order
                        : options.order > 0  ? options.order
                        : options.guaranteed ? order_for_bound(tolerance, shape.order.separation)
                                             : order_for(tolerance, shape.order.separation) + more;
    shape.order.order = std::min(shape.order.order, most_order(shape.wide));
    shape.order.m2l = options.m2l != M2L::automatic ? options.m2l
                      : options.guaranteed          ? M2L::mirrored // rounding by rotations is not bounded
                                           : fastest_m2l(table, problem, options, shape.order, shape.wide);
    shape.tree.separation = shape.order.separation;
    const auto points = static_cast<double>(std::max(problem.sources, problem.targets));
    if (options.depth >= 0) {
        shape.grid = {1, options.depth, 3, periodic};
        if (periodic)
            shape.grid.level = std::max(options.depth, first_level_of_leaves(1, shape.order.separation));
        shape.tree.depth = shape.grid.level;
    } else {
        shape.grid = choose_grid(problem, options, shape, table, softening);
    }
    shape.tree.coarse = shape.grid.coarse;
    shape.order.coarse = periodic ? 1 : shape.grid.coarse; // images are served otherwise
    if (periodic) shape.tree.period = problem.period[0];
    shape.leaf = std::max(1.0, points / shape.grid.cells());
    if (options.depth < 0) {
        // so many that evenly spread points stay on one level
        shape.tree.most = static_cast<std::int32_t>(
            std::max(2.0 * shape.leaf, shape.leaf + 6.0 * std::sqrt(shape.leaf) + 4.0));
        shape.tree.more_on_surfaces = options.leaf == 0;
    }
    if (problem.softening > 0.0)
        fit_softening(shape);
    else
        shape.few =
            std::max(few_at_least, static_cast<std::int32_t>(std::pow(shape.order.order + 2.0, 2) / 2.0));
    return shape;
}

} // namespace farfield
