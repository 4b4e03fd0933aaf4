// The direct sum of Gaussians in 1 to 6 dimensions on a GPU.
#pragma once

#include "sums/method/method.h"

#include <memory>

namespace farfield::cuda {

/// In precision float64, float32 or mixed. @throws BackendUnavailable without CUDA or such a GPU.
std::unique_ptr<PreparedSum> make_gpu_gauss_sum(const SumProblem& problem, const SumOptions& options,
                                                int device);

} // namespace farfield::cuda
