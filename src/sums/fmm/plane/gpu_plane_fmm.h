// Fast multipole sums in the plane on a GPU.
#pragma once

#include "sums/method/method.h"

#include <memory>

namespace farfield::cuda {

/// Every pass runs on the GPU: tree, lists, expansions, near pairs, results; counts return to the host.
/// @throws BackendUnavailable without CUDA or such a GPU.
std::unique_ptr<PreparedSum> make_gpu_plane_fmm(const SumProblem& problem, const SumOptions& options,
                                                int device);

} // namespace farfield::cuda
