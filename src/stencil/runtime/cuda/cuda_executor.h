// The target `cuda`: kernels compiled by NVRTC for the GPU at hand, fields that stay on it.
#pragma once

#include "stencil/runtime/executor.h"

#include <memory>

namespace farfield::stencil::cuda {

/// Whether this build has CUDA, and this machine a GPU and NVRTC.
bool is_usable();

/// @throws BackendUnavailable where this build has no CUDA, or this machine no usable GPU or no NVRTC;
/// DeviceError where
///         its memory is too small.
std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<const ir::Program> program,
                                             const ExecutorOptions& options);

} // namespace farfield::stencil::cuda
