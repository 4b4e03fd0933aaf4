// What a fast multipole sum looks like on a GPU: as shape.h has it, but for the grid of leaves, where near
// and far field have other rates.
#pragma once

#include "sums/fmm/shape.h"

namespace farfield {

/// Points of a leaf that take least time by those rates, for evenly spread points.
double gpu_leaf(const FmmOrder& order, bool wide);

/// As fmm_shape. @param order  0: as the options or the tolerance ask
FmmShape gpu_fmm_shape(const SumProblem& problem, SumOptions options, const CostTable& table, int order = 0);

} // namespace farfield
