// The time of fast multipole sums in space that follows from the cost table.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/costs/fmm_coefficients.h"
#include "sums/fmm/shape.h"
#include "sums/method/problem.h"

#include <farfield/sum_options.h>

#include <string>
#include <string_view>

namespace farfield {

/// Seconds of parts of a sum, for one thread.
struct FmmRates {
    double seconds_a_pair = 0.0;
    double seconds_a_near_leaf = 0.0;
    double seconds_a_cell = 0.0; ///< all translations to one cell
    /// As `seconds_a_cell`, where a kernel is softened by so many widths of a cell.
    [[nodiscard]] double seconds_a_softened_cell(double softening) const;
    double seconds_a_coarse_cell = 0.0; ///< of the coarsest level, on a grid of `order.coarse`³
    double seconds_a_point = 0.0;       ///< as a source or a target, in the far field
    double tree_seconds_a_point = 0.0;
    double tree_seconds_a_leaf = 0.0;
    double operator_seconds = 0.0;     ///< of all translations
    FmmOrder order{};                  ///< of any level but the coarsest
    double seconds_a_cell_found = 0.0; ///< of `seconds_a_cell`, beside multiply-adds
    double seconds_a_multiply_add = 0.0;
    double seconds_a_block_work = 0.0; ///< of a multiply-add, as block_work counts
    bool wide = true;
};
/// The rates for `order.m2l`. Softened kernels beside 1/r are at the rate of products.
FmmRates fmm_rates(const CostTable& table, const SumProblem& problem, const SumOptions& options,
                   const FmmOrder& order, bool wide);

/// What M2L::automatic stands for: the faster one for a cell that is not on level 0.
M2L fastest_m2l(const CostTable& table, const SumProblem& problem, const SumOptions& options, FmmOrder order,
                bool wide);

/// Seconds of a sum over evenly spread points on one thread.
struct FmmSeconds {
    double once = 0.0; ///< before the first execution
    double each = 0.0; ///< of an execution
};
/// @param softening  ε in sides of the cube
FmmSeconds fmm_seconds_on(const LeafGrid& grid, const FmmRates& rates, const SumProblem& problem,
                          double softening);

/// `MethodInfo::seconds`.
double fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                   const CostTable& table);

} // namespace farfield
