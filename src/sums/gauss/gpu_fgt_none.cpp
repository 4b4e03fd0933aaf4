// A build without CUDA: make_gpu_fgt says so.
#include "backend/cuda/devices.h"
#include "sums/gauss/gpu_fgt.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_fgt(const SumProblem&, const SumOptions&, int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
