// Memory of passes that need some, kept from launch to launch.
#pragma once

#include "backend/cuda/memory.h"

#include <cstddef>

namespace farfield::cuda {

/// Scratch memory of one stream, grown when a launch needs more.
class Workspace {
public:
    /// At least `bytes`; contents are lost when it grows. @throws DeviceError where the GPU's memory is full.
    void* reserve(std::size_t bytes) {
        if (memory_.size() < bytes) {
            memory_ = {}; // give the old block back first
            memory_ = DeviceArray<std::byte>(bytes);
        }
        return memory_.data();
    }

private:
    DeviceArray<std::byte> memory_;
};

} // namespace farfield::cuda
