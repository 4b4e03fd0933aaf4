// What a fast multipole sum in the plane looks like on a GPU, and how long it takes there. Pure functions.
#pragma once

#include "sums/fmm/plane/plane_shape.h"

#include <string_view>

namespace farfield {

/// `plane_shape` with the leaves that suit an H200.
PlaneShape gpu_plane_shape(const SumProblem& problem, SumOptions options, const CostTable& table,
                           int order = 0, double reach = 0.0);

/// `MethodInfo::seconds` on the GPU of that name.
double gpu_plane_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                         const CostTable& table);

} // namespace farfield
