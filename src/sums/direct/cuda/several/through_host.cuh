// A sum that takes arrays of the host, for arrays on a GPU.
#pragma once

#include "sums/method/method.h"

#include <cuda_runtime_api.h>

#include <memory>

namespace farfield::cuda {

/// Takes and gives contiguous doubles on the current GPU, potentials and fields in space, in the order of
/// `stream`.
std::unique_ptr<PreparedSum> make_through_host(std::unique_ptr<PreparedSum> sum, cudaStream_t stream);

} // namespace farfield::cuda
