// Every pair of vortices of the plane on a CPU.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <string>

namespace farfield {

/// Empty, or why the direct sum of vortices cannot be told this.
std::string why_no_vortex_sum(const SumOptions& options, const DeviceChoice& device);

/// @throws BackendUnavailable for an ISA that this CPU lacks.
std::unique_ptr<PreparedSum> make_vortex_sum(const SumProblem& problem, const SumOptions& options);

} // namespace farfield
