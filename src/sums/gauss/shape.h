// How the fast Gauss transform computes a sum: on a grid, or pair by pair up to a cut-off. Pure functions of
// options, points' extent and cost table.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/direct/gauss/gauss_points.h"
#include "sums/gauss/grid/rules.h"
#include "sums/method/problem.h"

#include <farfield/sum_options.h>

namespace farfield {

namespace fgt_cost {
constexpr std::string_view point_seconds = "fgt.cpu.point_seconds"; ///< to sort one and make its taps
constexpr std::string_view row_seconds = "fgt.cpu.row_seconds";     ///< of eight taps along the first axis
constexpr std::string_view grid_seconds = "fgt.cpu.grid_seconds";   ///< of a tap, for a number of the grid
} // namespace fgt_cost

struct GaussShape {
    const GridRule* rule = nullptr; ///< null: pair by pair
    double cutoff = 0.0;            ///< of pairs, in the frame
    double side = 0.0;              ///< of cells, in the frame
    double seconds = 0.0;           ///< on one thread, of evenly spread points
};

/// The distance, in σ, from which on evenly spread sources give half a tolerance of the sum, or of the sum of
/// gradients' magnitudes.
double gauss_cutoff(int dimension, double tolerance, bool with_gradient);

/// What takes least time by the cost table. `tolerance`: what it is to be accurate to, whatever was asked
/// for. `may_grid`: false for pairs in any case.
GaussShape gauss_shape(const SumProblem& problem, const SumOptions& options, const GaussExtent& extent,
                       const GaussFrame& frame, double tolerance, bool may_grid, const CostTable& table);

/// Products of h, as loops have it, with indices of the grid are exact (placing.h).
bool has_exact_indices(const GaussExtent& extent, const GaussFrame& frame);

/// The most that a grid holds, of so many points.
double most_grid_numbers(const SumProblem& problem);

/// Of points with that extent, whichever it is: what no shape does without.
double least_fgt_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table);

} // namespace farfield
