// The fast Gauss transform on a GPU.
#pragma once

#include "sums/method/method.h"

#include <memory>

namespace farfield::cuda {

/// Every pass runs on the GPU: extent, sorting, spreading, folding, values; or pairs up to a cut-off. Up to
/// three dimensions. @throws BackendUnavailable without CUDA or such a GPU.
std::unique_ptr<PreparedSum> make_gpu_fgt(const SumProblem& problem, const SumOptions& options, int device);

} // namespace farfield::cuda
