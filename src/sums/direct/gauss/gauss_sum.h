// The direct sum of Gaussians in 1 to 6 dimensions, on a CPU.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <string>

namespace farfield {

/// Empty, or why method 'direct' does not compute this sum of Gaussians.
std::string why_no_gauss_sum(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device);

/// `MethodInfo::bytes`.
double gauss_sum_bytes(const SumProblem& problem);

/// @throws BackendUnavailable for an ISA that this CPU lacks.
std::unique_ptr<PreparedSum> make_gauss_sum(const SumProblem& problem, const SumOptions& options);

} // namespace farfield
