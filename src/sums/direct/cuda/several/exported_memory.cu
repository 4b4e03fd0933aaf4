#include "sums/direct/cuda/several/exported_memory.cuh"

#include "backend/cuda/memory.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace farfield::cuda {
namespace {

struct Block {
    const comm::Transport* ranks;
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

ExportedMemory::ExportedMemory(const comm::Transport& ranks, std::size_t bytes) : ranks_(&ranks) {
    check(cudaGetDevice(&device_), "asking for the GPU");
    {
        const std::lock_guard lock(pool().mutex);
        auto& blocks = pool().blocks;
        const auto fits = [&](const Block& block) {
            return block.ranks == ranks_ && block.device == device_ && block.size >= bytes;
        };
        if (const auto found = std::find_if(blocks.begin(), blocks.end(), fits); found != blocks.end()) {
            data_ = found->data;
            size_ = found->size;
            blocks.erase(found);
            return;
        }
    }
    data_ = static_cast<std::byte*>(detail::DeviceMemory::allocate(bytes));
    size_ = bytes;
}

ExportedMemory::ExportedMemory(ExportedMemory&& other) noexcept
    : ranks_(other.ranks_), device_(other.device_), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

ExportedMemory& ExportedMemory::operator=(ExportedMemory&& other) noexcept {
    std::swap(ranks_, other.ranks_);
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

ExportedMemory::~ExportedMemory() {
    if (data_ == nullptr) return;
    const std::lock_guard lock(pool().mutex);
    pool().blocks.push_back({ranks_, device_, data_, size_});
}

} // namespace farfield::cuda
