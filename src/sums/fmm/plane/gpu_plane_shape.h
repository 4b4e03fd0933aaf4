// What a fast multipole sum in the plane looks like on a GPU, and how long it takes there. Pure functions.
#pragma once

#include "sums/fmm/plane/plane_shape.h"

#include <string_view>

namespace farfield {

/// `plane_shape` with the leaves that suit an H200.
PlaneShape gpu_plane_shape(const SumProblem& problem, SumOptions options, const CostTable& table,
                           int order = 0, double reach = 0.0);

/// Pairs closer than this, in widths of a leaf, are taken in double where others are in float: what the
/// rounding of coordinates does to the others, in the L2 norm of the field, is a tenth of the error of
/// expansions.
float plane_close(const LaurentOrder& order);

/// `MethodInfo::seconds` on the GPU of that name.
double gpu_plane_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                         const CostTable& table);

} // namespace farfield
