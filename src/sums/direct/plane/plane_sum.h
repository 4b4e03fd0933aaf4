// The direct sum of logarithms and of vortices in the plane, on a CPU.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <string>

namespace farfield {

/// Empty, or why method 'direct' does not compute this sum of a kernel of the plane.
std::string why_no_plane_sum(const SumOptions& options, const DeviceChoice& device);

/// @throws InvalidArgument for a variant that needs targets = sources, BackendUnavailable for an ISA that
/// this CPU lacks.
std::unique_ptr<PreparedSum> make_plane_sum(const SumProblem& problem, const SumOptions& options);

} // namespace farfield
