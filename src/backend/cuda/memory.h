// Owned memory: DeviceArray on the GPU; on the host, where copies can overlap with work, PinnedArray,
// MappedArray that kernels can use in place, and WriteCombinedArray, quick to read for GPUs and very slow for
// the CPU. All are uninitialised, of a trivially copyable type, and move-only.
#pragma once

#include "backend/cuda/check.h"
#include "backend/cuda/messages.h"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace farfield::cuda {

namespace detail {

inline std::string allocation_text(std::size_t bytes, const char* where) {
    return "allocating " + bytes_text(bytes) + " " + where;
}

struct DeviceMemory {
    static void* allocate(std::size_t bytes) {
        void* memory = nullptr;
        check(cudaMalloc(&memory, bytes), allocation_text(bytes, "on the GPU"));
        return memory;
    }
    static void release(void* memory) noexcept { cudaFree(memory); }
};

// portable: every GPU of the process sees the memory as pinned
template <unsigned flags>
struct HostMemory {
    static void* allocate(std::size_t bytes) {
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | flags),
              allocation_text(bytes, "of pinned memory"));
        return memory;
    }
    static void release(void* memory) noexcept { cudaFreeHost(memory); }
};

} // namespace detail

/// `size` elements of T from `Memory`, released with the object.
template <class T, class Memory>
class OwnedArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    OwnedArray() = default;
    /// @throws DeviceError where the memory is full.
    explicit OwnedArray(std::size_t size)
        : data_(size == 0 ? nullptr : static_cast<T*>(Memory::allocate(size * sizeof(T)))), size_(size) {}
    OwnedArray(OwnedArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    OwnedArray& operator=(OwnedArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~OwnedArray() {
        if (data_ != nullptr) Memory::release(data_);
    }

    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
using DeviceArray = OwnedArray<T, detail::DeviceMemory>;
template <class T>
using PinnedArray = OwnedArray<T, detail::HostMemory<0>>;
template <class T>
using MappedArray = OwnedArray<T, detail::HostMemory<cudaHostAllocMapped>>;
template <class T>
using WriteCombinedArray = OwnedArray<T, detail::HostMemory<cudaHostAllocWriteCombined>>;

/// Room for n elements, and for `spare` more where it has to grow; contents are lost then.
template <class T>
void make_room(DeviceArray<T>& array, std::size_t n, std::size_t spare = 0) {
    if (array.size() >= n) return;
    array = {}; // give the old block back first
    array = DeviceArray<T>(n + spare);
}

/// Copies `count` elements between host and GPU, either way, in the order of `stream`. Host memory that is
/// not pinned is free for reuse at return.
template <class T>
void copy(T* to, const T* from, std::size_t count, cudaStream_t stream) {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream),
          "copying between host and GPU");
}

} // namespace farfield::cuda
