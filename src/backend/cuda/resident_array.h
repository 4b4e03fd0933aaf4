// Numbers in a GPU's memory, without a CUDA header.
#pragma once

#include <farfield/array.h>

#include <cstddef>
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

/// A copy of a caller's array in the memory of its GPU; memory is kept from copy to copy.
class ResidentCopy {
public:
    /// Copies a checked view of a GPU, in the order of a cudaStream_t; null: of the default stream.
    /// @throws DeviceError.
    void take(const ConstArrayView& view, std::int64_t rows, std::int64_t columns, void* stream);
    /// The last one, with the strides of the original.
    [[nodiscard]] const ConstArrayView& view() const { return view_; }

private:
    std::shared_ptr<std::byte> memory_;
    std::size_t size_ = 0;
    ConstArrayView view_;
};

} // namespace farfield::cuda
