// A build without CUDA: the functions of devices.h, which find nothing and say why.
#include "backend/cuda/devices.h"

#include <farfield/error.h>

namespace farfield::cuda {

bool built_with_cuda() { return false; }

CudaVersions versions() { return {}; }

std::vector<DeviceInfo> devices() { return {}; }

std::string why_no_device() {
    return "this build of Farfield has no CUDA; configure with -DFARFIELD_CUDA=ON (CUDA 12.4 or newer)";
}

void use_device(int /*index*/) { throw BackendUnavailable(why_no_device()); }

} // namespace farfield::cuda
