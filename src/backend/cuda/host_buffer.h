// Pinned host memory for callers without a CUDA header: copies from and to it overlap with other work of a
// GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace farfield::cuda {

class HostBuffer {
public:
    /// `size` numbers, uninitialised. @throws BackendUnavailable without CUDA; DeviceError where there is no
    /// room.
    explicit HostBuffer(std::size_t size);
    HostBuffer(HostBuffer&&) noexcept;
    HostBuffer& operator=(HostBuffer&&) noexcept;
    ~HostBuffer();

    [[nodiscard]] std::span<double> values() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::cuda
