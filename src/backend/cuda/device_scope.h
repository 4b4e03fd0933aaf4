// Makes a GPU current for a block of code and the caller's own one again after it.
#pragma once

#include "backend/cuda/check.h"
#include "backend/cuda/devices.h"

namespace farfield::cuda {

class DeviceScope {
public:
    /// @throws BackendUnavailable as `use_device` does.
    explicit DeviceScope(int device) {
        const bool asked = cudaGetDevice(&before_) == cudaSuccess;
        if (!asked) cudaGetLastError(); // use_device words it
        use_device(device);
        restore_ = asked && before_ != device;
    }
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;
    ~DeviceScope() {
        if (restore_) cudaSetDevice(before_);
    }

private:
    int before_ = 0;
    bool restore_ = false;
};

} // namespace farfield::cuda
