// A build without CUDA: make_gpu_ewald says so.
#include "backend/cuda/devices.h"
#include "sums/ewald/gpu_ewald.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_ewald(const SumProblem&, const SumOptions&, int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
