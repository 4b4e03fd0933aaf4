// A build without CUDA: make_gpu_image_sum says so.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/periodic/gpu_image_sum.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_image_sum(const SumProblem&, const SumOptions&, int, const OpenSums&) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
