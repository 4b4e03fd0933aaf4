#include "sums/direct/cuda/several/exported_memory.cuh"

#include "backend/cuda/memory.h"

#include <mutex>
#include <utility>
#include <vector>

namespace farfield::cuda {
namespace {

struct Block {
    std::vector<pid_t> processes;
    int device;
    std::byte* data;
    std::size_t size;
};

/// Blocks that no object has.
struct Pool {
    std::mutex mutex;
    std::vector<Block> blocks;
};

Pool& pool() {
    static auto* const all = new Pool; // objects may outlive other statics
    return *all;
}

} // namespace

ExportedMemory::ExportedMemory(std::vector<pid_t> processes, std::size_t bytes)
    : processes_(std::move(processes)) {
    check(cudaGetDevice(&device_), "asking for the GPU");
    {
        const std::lock_guard lock(pool().mutex);
        auto& blocks = pool().blocks;
        auto best = blocks.end();
        for (auto block = blocks.begin(); block != blocks.end(); ++block)
            if (block->processes == processes_ && block->device == device_ && block->size >= bytes &&
                (best == blocks.end() || block->size < best->size))
                best = block;
        if (best != blocks.end()) {
            data_ = best->data;
            size_ = best->size;
            blocks.erase(best);
            return;
        }
    }
    data_ = static_cast<std::byte*>(detail::DeviceMemory::allocate(bytes));
    size_ = bytes;
}

ExportedMemory::ExportedMemory(ExportedMemory&& other) noexcept
    : processes_(std::move(other.processes_)), device_(other.device_),
      data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

ExportedMemory& ExportedMemory::operator=(ExportedMemory&& other) noexcept {
    std::swap(processes_, other.processes_);
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

ExportedMemory::~ExportedMemory() {
    if (data_ == nullptr) return;
    const std::lock_guard lock(pool().mutex);
    pool().blocks.push_back({std::move(processes_), device_, data_, size_});
}

} // namespace farfield::cuda
