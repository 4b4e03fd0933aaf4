// Numbers in a GPU's memory, without a CUDA header.
#pragma once

#include <farfield/array.h>

#include <cstdint>
#include <memory>
#include <span>

namespace farfield::cuda {

/// A row-major array of doubles.
class ResidentArray {
public:
    /// A copy of the host's numbers. @throws BackendUnavailable, DeviceError.
    ResidentArray(std::span<const double> values, std::int64_t columns, int gpu);
    [[nodiscard]] ArrayView view() const;

private:
    std::shared_ptr<double> memory_;
    std::int64_t rows_, columns_;
    int gpu_;
};

} // namespace farfield::cuda
