// A build without CUDA: make_gpu_plane_fmm says so.
#include "backend/cuda/devices.h"
#include "sums/fmm/plane/gpu_plane_fmm.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_plane_fmm(const SumProblem&, const SumOptions&, int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
