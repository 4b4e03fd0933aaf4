// Arrays that start on a cache line, for vector loads.
#pragma once

#include "base/array_memory.h"

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace farfield {

template <class T>
struct CacheLineAllocator {
    using value_type = T;

    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {} // NOLINT(google-explicit-constructor): rebinding

    T* allocate(std::size_t n) { return static_cast<T*>(allocate_array(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) { free_array(p, n * sizeof(T)); }

    template <class U>
    bool operator==(const CacheLineAllocator<U>&) const {
        return true;
    }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

/// The same, but numbers that nobody gave a value hold whatever the memory held.
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
