// Memory of a GPU that other ranks of the host open for as long as its process lives.
#pragma once

#include <cstddef>
#include <vector>

#include <sys/types.h>

namespace farfield::cuda {

/// Never given back to CUDA, since others may still have it open, but kept for the next object of the same
/// processes: making one is collective, so that by then nobody reads from it for the last one.
class ExportedMemory {
public:
    ExportedMemory() = default;
    /// At least `bytes` on the current GPU. @param processes  of the ranks, in their order
    /// @throws DeviceError
    ExportedMemory(std::vector<pid_t> processes, std::size_t bytes);
    ExportedMemory(const ExportedMemory&) = delete;
    ExportedMemory& operator=(const ExportedMemory&) = delete;
    ExportedMemory(ExportedMemory&& other) noexcept;
    ExportedMemory& operator=(ExportedMemory&& other) noexcept;
    ~ExportedMemory();

    [[nodiscard]] std::byte* data() const { return data_; }

private:
    std::vector<pid_t> processes_;
    int device_ = 0;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace farfield::cuda
