// A sum that takes arrays of the host, for arrays on a GPU.
#pragma once

#include "backend/comm/transport.h"
#include "sums/method/method.h"

#include <cuda_runtime_api.h>

#include <memory>

namespace farfield::cuda {

/// Takes and gives contiguous doubles on the current GPU, potentials and fields in space, in the order of
/// `stream`. Ranks call it together.
std::unique_ptr<PreparedSum> make_through_host(std::unique_ptr<PreparedSum> sum, comm::Transport& ranks,
                                               cudaStream_t stream);

} // namespace farfield::cuda
