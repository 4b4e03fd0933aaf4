// What a tree code's sum costs: counts of evenly spread points, priced by the cost table. Other methods are
// held to the same points, so that choices between them are fair.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/method/problem.h"
#include "sums/treecode/shape.h"

#include <farfield/sum_options.h>

#include <string_view>

namespace farfield {

/// Of one target on average.
struct TreecodeCounts {
    double near = 0.0; ///< sources that act point by point
    double far = 0.0;  ///< cells that act by their expansions, but for those of local expansions
};

/// Of points spread evenly over a cube.
TreecodeCounts treecode_counts(const SumProblem& problem, const TreecodeShape& shape);

/// `MethodInfo::seconds`.
double treecode_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                        const CostTable& table);

} // namespace farfield
