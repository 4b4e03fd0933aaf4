// A build without CUDA: measure_ceilings says so.
#include "backend/cuda/devices.h"
#include "studies/cuda/ceilings.h"

#include <farfield/error.h>

namespace farfield::cuda {

Ceilings measure_ceilings() { throw BackendUnavailable(why_no_device()); }

} // namespace farfield::cuda
