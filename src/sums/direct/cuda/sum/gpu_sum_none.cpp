// A build without CUDA: make_gpu_sum says so.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/sum/gpu_sum.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_sum(const SumOptions&, const std::vector<int>&, bool) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
