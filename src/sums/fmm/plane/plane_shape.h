// What a fast multipole sum in the plane is to look like, and how long it takes. Pure functions of the
// options, the number of points and the cost table.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/expansions/laurent.h"
#include "sums/fmm/common/leaf_rates.h"
#include "sums/method/problem.h"
#include "sums/tree/leaf_grid.h"
#include "sums/tree/octree.h"

#include <farfield/sum_options.h>

#include <cstdint>
#include <string_view>

namespace farfield {

struct PlaneShape {
    LaurentOrder order;
    TreeShape tree;
    /// Smaller leaves beside a larger one act point by point where they hold no more points than this.
    std::int32_t few = 0;
    LeafGrid grid;     ///< of evenly spread points
    double leaf = 0.0; ///< points of a leaf, were they spread evenly
};

/// The highest order that is taken: beyond it rounding errors leave nothing to gain.
constexpr int most_plane_order = 40;

/// The order that usually suffices for a relative error, in the L2 norm, of the potential and the field.
int plane_order_for(double tolerance, int separation);

/// The order that may suffice where `order` gave `error`: larger by one at least, up to the highest.
int plane_order_after(int order, int separation, double error, double tolerance);

/// Digits that sums of this order usually have.
double plane_digits(int order, int separation);

/// From this distance on, in core sizes, a vortex acts as a point does, to the digits of an order and one
/// more: e^(−r²/2σ²) is what is left out of velocities.
double core_reach(int order, int separation);

/// The shape that takes least time by the cost table, but for what the options fix. @param order  0: as the
/// options or the tolerance ask @param reach  in sides of a square around the points: cells that act by
/// expansions are not nearer @param most_coarse  k of TreeShape is this at most
PlaneShape plane_shape(const SumProblem& problem, const SumOptions& options, const CostTable& table,
                       int order = 0, double reach = 0.0, int most_coarse = 7);

/// What divides a sum of that order between ranks.
LeafRates plane_leaf_rates(const SumProblem& problem, const SumOptions& options, const CostTable& table,
                           const LaurentOrder& order);

/// `MethodInfo::seconds`.
double plane_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table);

} // namespace farfield
