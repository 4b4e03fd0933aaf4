// The CUDA devices of this machine, without a CUDA header: the same functions exist in a build without CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::cuda {

/// What `farfield info` lists of one GPU.
struct DeviceInfo {
    int index = 0;
    std::string name;
    int major = 0; ///< compute capability
    int minor = 0;
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;
};

/// True where the library was built with CUDA (FARFIELD_CUDA).
bool built_with_cuda();

/// "13.0" of the driver and of the runtime linked; empty without driver or CUDA.
struct CudaVersions {
    std::string driver;
    std::string runtime;
};
CudaVersions versions();

/// The GPUs, in CUDA's order; empty where there is none, no driver, or no CUDA in this build.
std::vector<DeviceInfo> devices();

/// Why `devices()` is empty, in one line with the remedy; empty where it is not.
std::string why_no_device();

/// Makes device `index` current for the calling thread.
/// @throws BackendUnavailable where this build has no CUDA, the driver is missing or too old, there is no
/// such
///         device, or the device is older than the code that was built.
void use_device(int index);

} // namespace farfield::cuda
