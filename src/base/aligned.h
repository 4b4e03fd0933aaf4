// Arrays that start on a cache line, for vector loads.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace farfield {

template <class T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {} // NOLINT(google-explicit-constructor): rebinding

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }

    template <class U>
    bool operator==(const CacheLineAllocator<U>&) const {
        return true;
    }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

/// The same, but numbers that nobody gave a value hold whatever the memory held. Memory that nobody wrote yet
/// is not touched, so that the threads which write it first pay for it together.
template <class T>
struct RawAllocator : CacheLineAllocator<T> {
    RawAllocator() = default;
    template <class U>
    RawAllocator(const RawAllocator<U>&) {} // NOLINT(google-explicit-constructor): rebinding

    void construct(T* p) { ::new (static_cast<void*>(p)) T; }
    template <class U>
    void construct(T* p, U&& value) {
        ::new (static_cast<void*>(p)) T(std::forward<U>(value));
    }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

} // namespace farfield
