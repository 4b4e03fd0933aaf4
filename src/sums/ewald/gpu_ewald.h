// Ewald's method of a plan on a GPU, for callers that have no CUDA header: arrays of the host or of the GPU,
// in and out, any strides.
#pragma once

#include "sums/method/method.h"

#include <memory>

namespace farfield::cuda {

/// @throws BackendUnavailable without CUDA or such a GPU.
std::unique_ptr<PreparedSum> make_gpu_ewald(const SumProblem& problem, const SumOptions& options, int device);

} // namespace farfield::cuda
