// Exact values of periodic sums at sampled targets.
#pragma once

#include "sums/select/sampled_rows.h"

namespace farfield {

/// Along one axis alone, the others being open.
bool is_periodic_along_line(const SumProblem& problem);

/// Fills the rows with potential and field by an Ewald sum in double that aims at relative errors of 1e-16,
/// split between near images and waves as suits a few targets, hence at another place than the sum that is
/// judged. What its own rounding leaves is below 1e-13. A slab is one of a stack of slabs in such a sum;
/// along one axis every pair and its images are summed in closed form. Less would not do: fields may be small
/// beside what splittings are chosen by, and errors far below the tolerance.
void compute_periodic_rows(const VerifyTask& task, ExactRows& rows);

} // namespace farfield
