// What a fast multipole sum of some points is to look like: the order of its expansions and its tree. Pure
// functions of the options and the number of points.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/fmm/common/order_search.h"
#include "sums/fmm/operators.h"
#include "sums/method/problem.h"
#include "sums/tree/leaf_grid.h"
#include "sums/tree/octree.h"

#include <farfield/sum_options.h>

#include <cstdint>
#include <optional>

namespace farfield {

inline constexpr double usual_tolerance = 1e-6; ///< where neither an order nor a tolerance is given

struct FmmShape {
    FmmOrder order;
    TreeShape tree;
    /// Smaller leaves beside a larger one act point by point where they hold no more points than this.
    std::int32_t few = 0;
    bool wide = true;  ///< expansions in double
    LeafGrid grid;     ///< of evenly spread points
    double leaf = 0.0; ///< points of a leaf, were they spread evenly
};

/// The order that usually suffices for a relative error, in the L2 norm, of the potential and the field.
int order_for(double tolerance, int separation);

/// The digits that an order usually gives: what `order_for` turns into it.
double digits_of(int order, int separation);

/// The order that may suffice where `order` gave `error`: larger by one at least, up to the highest.
int order_after(int order, int separation, double error, double tolerance, bool wide);

/// The order to go on with where that of `shape` left `error`; none where higher ones would gain nothing.
std::optional<int> next_order(OrderSearch& search, const FmmShape& shape, double error, double tolerance);

/// The order at which guaranteed bounds usually come within a tolerance.
int order_for_bound(double tolerance, int separation);

/// The order that may suffice where the bound at `order` is `excess` times what it may be.
int order_after_bound(int order, int separation, double excess);

/// The highest order that is taken in that type: beyond it rounding errors would grow.
int most_order(bool wide);

/// The shape that takes least time by the cost table, but for what the options fix. @param order  0: as the
/// options or the tolerance ask @param softening  ε in sides of a cube around the points; 0 where it is not
/// known yet; of a box it is that of the problem
FmmShape fmm_shape(const SumProblem& problem, const SumOptions& options, const CostTable& table,
                   int order = 0, double softening = 0.0);

} // namespace farfield
