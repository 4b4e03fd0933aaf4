// A build without CUDA: make_gpu_gauss_sum says so.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/gauss/gpu_gauss_sum.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_gauss_sum(const SumProblem&, const SumOptions&, int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
