// Which split, mesh and splines let a sum keep a goal and end first.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/lattice/cutoffs.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace farfield {

struct MeshChoice {
    Splitting splitting;
    double near = 0.0; ///< of r
    std::array<std::int32_t, 3> mesh{};
    int order = 0;        ///< of the splines
    double seconds = 0.0; ///< of one sum, by the rates

    [[nodiscard]] double points() const { return 1.0 * mesh[0] * mesh[1] * mesh[2]; }
};

/// Seconds of the parts of a sum.
struct MeshRates {
    double pair = 0.0;      ///< of an image that is looked at
    double row = 0.0;       ///< of eight mesh points that a point spreads to or gathers from
    double transform = 0.0; ///< of a mesh point, times log₂ of their number
    bool padded = true;     ///< rows have `padded_order` mesh points
};
MeshRates mesh_rates(const CostTable& table); ///< of one thread of a CPU
/// Of a GPU by CUDA's name; empty: of any. Meshes chosen by them are the same for all GPUs.
MeshRates mesh_rates_on_gpu(const CostTable& table, std::string_view gpu);

/// For relative errors of about `goal`, as `cutoffs_for` has them. `order`: of the splines; 0: any.
/// Infinite seconds and order 0 where no mesh of that order keeps the goal.
MeshChoice best_mesh(const SumProblem& problem, int order, double goal, const MeshRates& rates);

} // namespace farfield
