// Exact values of periodic sums at sampled targets.
#pragma once

#include "sums/select/sampled_rows.h"

#include <optional>

namespace farfield {

/// Along one axis alone, the others being open.
bool is_periodic_along_line(const SumProblem& problem);

/// What sums of rows aim at that are to be the exact ones.
inline constexpr double precise_goal = 1e-16;

/// Fills the rows with potential and field by an Ewald sum in double that aims at relative errors of `goal`,
/// split between near images and waves as suits a few targets, hence at another place than the sum that is
/// judged. What its own rounding leaves is below 1e-13. A slab is one of a stack of slabs in such a sum;
/// along one axis every pair and its images are summed in closed form.
void compute_periodic_rows(const VerifyTask& task, ExactRows& rows, double goal = precise_goal);

/// A goal with which rows take much less time: what judges an error of about the tolerance. Fields may be
/// small beside what splittings are chosen by, and errors far below the tolerance, so that some of such rows
/// have to be looked at with `checking` times that goal. Nothing where precise rows take little.
inline constexpr double checking = 1e-3;
std::optional<double> rough_goal(const VerifyTask& task);

} // namespace farfield
