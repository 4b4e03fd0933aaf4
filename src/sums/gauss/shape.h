// How the fast Gauss transform computes a sum, by the strategies of GaussStrategy. Pure functions of
// options, points' extent and cost table.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/direct/gauss/gauss_points.h"
#include "sums/gauss/grid/rules.h"
#include "sums/gauss/ways/shape.h"
#include "sums/method/problem.h"

#include <farfield/sum_options.h>

namespace farfield {

namespace fgt_cost {
constexpr std::string_view point_seconds = "fgt.cpu.point_seconds"; ///< to sort one and make its taps
constexpr std::string_view row_seconds = "fgt.cpu.row_seconds";     ///< of eight taps along the first axis
constexpr std::string_view grid_seconds = "fgt.cpu.grid_seconds";   ///< of a tap, for a number of the grid
constexpr std::string_view term_seconds = "fgt.cpu.term_seconds";   ///< of a cluster's expansion, at a target
} // namespace fgt_cost

/// The distance, in σ, from which on evenly spread sources give half a tolerance of the sum, or of the sum of
/// gradients' magnitudes.
double gauss_cutoff(int dimension, double tolerance, bool with_gradient);

/// What takes least time by the cost table. `tolerance`: what it is to be accurate to, whatever was asked
/// for. `wanted`: a strategy to take in any case, or `automatic`.
GaussShape gauss_shape(const SumProblem& problem, const SumOptions& options, const GaussExtent& extent,
                       const GaussFrame& frame, double tolerance, GaussStrategy wanted,
                       const CostTable& table);

/// Whether clusters of sources are asked for, or tried.
bool may_cluster(const SumProblem& problem, const SumOptions& options);

/// The same of boxes.
bool may_box(const SumOptions& options);

/// @throws InvalidArgument where no shape of that strategy has a finite time.
void check_has_gauss_shape(GaussStrategy strategy, double seconds);

/// Products of h, as loops have it, with indices of the grid are exact (placing.h).
bool has_exact_indices(const GaussExtent& extent, const GaussFrame& frame);

/// The most that a grid holds, of so many points.
double most_grid_numbers(const SumProblem& problem);

/// The most that expansions of boxes hold, with the translations on their way.
double most_box_numbers(const SumProblem& problem);

/// Of points with that extent, whichever it is: what no shape does without.
double least_fgt_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table);

} // namespace farfield
