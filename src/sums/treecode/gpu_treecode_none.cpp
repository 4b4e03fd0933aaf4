// A build without CUDA: make_gpu_treecode says so.
#include "backend/cuda/devices.h"
#include "sums/treecode/gpu_treecode.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_treecode(const SumProblem&, const SumOptions&, int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
