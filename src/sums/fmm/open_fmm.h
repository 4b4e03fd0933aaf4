// The fast multipole sum over open space as ImageSum takes it.
#pragma once

#include "sums/costs/cost_file.h"
#include "sums/direct/periodic/image_sum.h"
#include "sums/fmm/costs.h"
#include "sums/fmm/fmm_sum.h"
#include "sums/fmm/shape.h"

#include <algorithm>

namespace farfield {

class OpenFmm : public FmmSum {
public:
    using FmmSum::FmmSum;

    static constexpr bool takes_own_points = true;
    static double seconds(const SumProblem& problem, const SumOptions& options) {
        return seconds_by(problem, options, cost_table_in_use().table);
    }
    /// On one thread.
    static double seconds_by(const SumProblem& problem, SumOptions options, const CostTable& table) {
        options.threads = 1;
        return fmm_seconds(problem, options, {}, table);
    }
    /// As the tree's own cells.
    static ImageShape image_shape(const SumProblem& problem, const SumOptions& options) {
        auto goal = problem;
        if (problem.tolerance == 0.0) goal.tolerance = usual_tolerance;
        ImageShape shape{.separation = options.separation > 0 ? options.separation : 1,
                         .goal = image_goal(goal)};
        shape.order = options.order > 0 ? std::min(options.order, most_image_order)
                                        : image_order(image_goal(goal), shape.separation);
        return shape;
    }
};

} // namespace farfield
