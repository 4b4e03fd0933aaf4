// The direct sum of points on themselves, divided among several GPUs, or ranks with a GPU each.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <vector>

namespace farfield::cuda {

/// Arrays of the host in and out; the bits are those of any other number of GPUs. On several ranks (of
/// `options.communicator`) each names one.
/// @throws InvalidArgument for rungs other than `symmetric` and `register_tile`, and,
/// when points come, for arrays on a GPU; BackendUnavailable for a GPU that is not there.
std::unique_ptr<PreparedSum> make_several_gpus(const SumOptions& options, const std::vector<int>& devices);

} // namespace farfield::cuda
