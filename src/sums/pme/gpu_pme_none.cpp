// A build without CUDA: make_gpu_pme says so.
#include "backend/cuda/devices.h"
#include "sums/pme/gpu_pme.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_pme(const SumProblem&, const SumOptions&, int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
