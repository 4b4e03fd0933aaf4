// What sums over periodic boxes take on a GPU beside the sum itself.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/method/problem.h"

#include <string_view>

namespace farfield {

/// `MethodInfo::seconds` of a sum that takes `seconds` there: with the GPU's start, and with arrays that come
/// from the host.
double lattice_seconds_on_gpu(const SumProblem& problem, double seconds, std::string_view gpu,
                              const CostTable& table);

/// Memory for what is known of fields at close range (cuda::NearFields), where goals depend on them.
double near_fields_bytes_on_gpu(const SumProblem& problem);

} // namespace farfield
