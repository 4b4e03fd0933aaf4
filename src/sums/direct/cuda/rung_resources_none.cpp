// A build without CUDA: the kernels of the rungs are not in it.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/rung_resources.h"

#include <farfield/error.h>

namespace farfield::cuda {

RungResources rung_resources(Rung /*rung*/, Precision /*precision*/) {
    throw BackendUnavailable(why_no_device());
}
MultiprocessorLimits multiprocessor_limits() { throw BackendUnavailable(why_no_device()); }

} // namespace farfield::cuda
