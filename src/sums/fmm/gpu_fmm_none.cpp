// A build without CUDA: make_gpu_fmm says so.
#include "backend/cuda/devices.h"
#include "sums/fmm/gpu_fmm.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_fmm(const SumProblem&, const SumOptions&, const std::vector<int>&) {
    throw BackendUnavailable(why_no_device());
}

std::unique_ptr<PreparedSum> make_gpu_box_fmm(const SumProblem&, const SumOptions&, int, const TreeBox&) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
