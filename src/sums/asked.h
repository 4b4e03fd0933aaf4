// From what a caller asks for to the problem that methods see.
#pragma once

#include "sums/method/method.h"

#include <farfield/sum.h>

namespace farfield {

/// Checks the options and puts the sum into a problem. `targets` is null where they are the sources.
/// @throws InvalidArgument for a value that is not allowed, whatever the points.
SumProblem problem_of(const SumOptions& options, const ConstArrayView& sources,
                      const ConstArrayView* targets);

/// Checks strengths and outputs against the problem and each other; returns the number of vectors of
/// strengths. @throws InvalidArgument for an output that the kernel does not have, or an array of a wrong
/// shape.
std::int64_t check_arrays(const SumProblem& problem, const SumStrengths& strengths,
                          const SumOutputs& outputs);

/// @throws InvalidArgument for outputs or dipoles that the method does not have on that device.
void check_device(const MethodInfo& method, const DeviceChoice& device, OutputSet outputs, bool dipoles);

} // namespace farfield
