// The direct sum of a plan on one GPU or several, for callers that have no CUDA header: arrays of the host,
// or of the one GPU, in and out, any strides, in the same frame, with the same checks and repairs as
// DirectSum has on the CPU.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <vector>

namespace farfield::cuda {

/// `devices` in CUDA's numbers, at least one; several divide a sum of points on themselves. One launch
/// computes the whole sum: of the hooks only the last progress is called.
/// @throws BackendUnavailable without CUDA or such a GPU, InvalidArgument for a variant that does not apply.
std::unique_ptr<PreparedSum> make_gpu_sum(const SumOptions& options, const std::vector<int>& devices,
                                          bool self);

} // namespace farfield::cuda
