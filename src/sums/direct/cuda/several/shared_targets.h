// The direct sum at separate targets, divided among several GPUs, of one process or of ranks.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <vector>

namespace farfield::cuda {

/// Each GPU sums all sources at its share of the targets; only ranks exchange anything, the results. A CPU
/// thread waits for each GPU of a process, whatever `multi_gpu` and `exchange` say. Arrays of the host in and
/// out; the bits are those of any other number of GPUs.
/// @throws InvalidArgument for rungs other than `register_tile` and, when points come, for arrays on a GPU;
/// BackendUnavailable for a GPU that is not there.
std::unique_ptr<PreparedSum> make_shared_targets(const SumOptions& options, const std::vector<int>& devices);

} // namespace farfield::cuda
