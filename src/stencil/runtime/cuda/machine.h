// What the executor asks of a GPU. Tests put one in its place that runs the same kernels on the CPU.
#pragma once

#include "stencil/codegen/cuda/plan.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace farfield::stencil::cuda {

/// A launch with its arguments: pointers and numbers, each in 8 bytes.
struct BoundLaunch {
    const codegen::cuda::Launch* launch = nullptr;
    std::vector<std::uint64_t> values;
};

/// Rows of `width` bytes, the first bytes of each `pitch` apart on the GPU.
struct PitchedRows {
    std::int64_t count = 0;
    std::size_t width = 0;
    std::size_t pitch = 0;

    std::size_t bytes() const { return static_cast<std::size_t>(count) * width; }
};

class Machine {
public:
    Machine() = default;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    virtual ~Machine() = default;

    /// Compiles and loads the kernels.
    /// @return seconds in the compiler; 0 where a cache had the code.
    virtual double load(const codegen::cuda::Plan& plan) = 0;
    /// "NVIDIA H200, NVRTC 13.0"
    virtual std::string description() const = 0;
    /// Memory of the GPU, released with the machine. @throws DeviceError where it is full.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void clear(void* memory, std::size_t bytes) = 0;
    /// In the order of the launches; the host's memory is free at return.
    virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
    /// Waits for all launches so far. @throws DeviceError for what went wrong in them.
    virtual void download(void* to, const void* from, std::size_t bytes) = 0;
    /// The same for rows that lie one behind the other in the host's memory.
    virtual void upload_rows(void* to, const void* from, const PitchedRows& rows) = 0;
    virtual void download_rows(void* to, const void* from, const PitchedRows& rows) = 0;
    /// From what `open` gave to this GPU's memory, beside other copies. Nothing is launched before
    /// `synchronize`.
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    /// What another process needs to open memory of this GPU; empty where it cannot.
    virtual std::vector<std::byte> handle_of(void* memory) = 0;
    /// Memory of another process's GPU, until it is closed; null where this GPU cannot read it.
    virtual void* open(std::span<const std::byte> handle) = 0;
    virtual void close(void* memory) noexcept = 0;
    /// Runs launches one after the other. @param repeats the same list comes again: worth recording as a
    /// graph.
    virtual void run(const std::vector<BoundLaunch>& launches, bool repeats) = 0;
    virtual void synchronize() = 0;
};

} // namespace farfield::stencil::cuda
