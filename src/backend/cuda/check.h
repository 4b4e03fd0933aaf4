// Every CUDA call goes through `check`, which turns a failure into one of Farfield's errors.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace farfield::cuda {

/// Throws for anything but cudaSuccess. `doing` completes "while …", such as "allocating 1.2 GB on the GPU".
/// @throws BackendUnavailable where there is no usable device or driver; DeviceError for all else, with the
///         remedy for a full memory and for a lost device.
void check(cudaError_t status, std::string_view doing);

/// Checks the launch just made; errors inside the kernel show at the next synchronisation.
inline void check_launch(std::string_view doing) { check(cudaGetLastError(), doing); }

} // namespace farfield::cuda
