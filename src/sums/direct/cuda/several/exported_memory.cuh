// Memory of a GPU that other ranks of the host open for as long as its process lives.
#pragma once

#include "backend/comm/transport.h"

#include <cstddef>

namespace farfield::cuda {

/// Never given back to CUDA, since others may still have it open, but kept for the next object of the same
/// ranks: making one is collective, so that by then nobody reads from it for the last one.
class ExportedMemory {
public:
    ExportedMemory() = default;
    /// At least `bytes` on the current GPU. @throws DeviceError
    ExportedMemory(const comm::Transport& ranks, std::size_t bytes);
    ExportedMemory(const ExportedMemory&) = delete;
    ExportedMemory& operator=(const ExportedMemory&) = delete;
    ExportedMemory(ExportedMemory&& other) noexcept;
    ExportedMemory& operator=(ExportedMemory&& other) noexcept;
    ~ExportedMemory();

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    const comm::Transport* ranks_ = nullptr;
    int device_ = 0;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace farfield::cuda
