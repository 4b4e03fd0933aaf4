// The energy of points that act on each other, from their own sum.
#pragma once

#include "sums/method/problem.h"

#include <farfield/sum.h>

#include <optional>

namespace farfield {

/// ½ Σ q φ, with dipoles ½ Σ (q φ − p·E), each pair once; of checked views on the host, one vector of
/// strengths. Empty where targets are not the sources, an output that it needs was not computed, arrays lie
/// on a GPU, or the kernel has no energy.
std::optional<double> energy_of(const SumProblem& problem, const SumStrengths& strengths,
                                const SumOutputs& outputs);

} // namespace farfield
