// A build without CUDA: make_own_rows says so.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/several/own_rows.h"

#include <farfield/error.h>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_own_rows(std::unique_ptr<PreparedSum>, const SumProblem&, const SumOptions&,
                                           int) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
