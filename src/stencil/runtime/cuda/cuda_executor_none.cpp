// The target `cuda` of a build without CUDA.
#include "stencil/runtime/cuda/cuda_executor.h"

#include "backend/cuda/devices.h"

#include <farfield/error.h>

namespace farfield::stencil::cuda {

bool is_usable() { return false; }

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is that of every target
std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<const ir::Program>, const ExecutorOptions&) {
    throw BackendUnavailable(farfield::cuda::why_no_device());
}

} // namespace farfield::stencil::cuda
