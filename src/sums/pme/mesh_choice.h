// Which split, mesh and splines let a sum keep a goal and end first.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/lattice/cutoffs.h"

#include <array>
#include <cstdint>

namespace farfield {

struct MeshChoice {
    Splitting splitting;
    double near = 0.0; ///< of r
    std::array<std::int32_t, 3> mesh{};
    int order = 0;        ///< of the splines
    double seconds = 0.0; ///< of one sum on one thread, by the cost table

    [[nodiscard]] double points() const { return 1.0 * mesh[0] * mesh[1] * mesh[2]; }
};

/// For relative errors of about `goal`, as `cutoffs_for` has them. `order`: of the splines; 0: any.
/// Infinite seconds and order 0 where no mesh of that order keeps the goal.
MeshChoice best_mesh(const SumProblem& problem, int order, double goal, const CostTable& table);

} // namespace farfield
