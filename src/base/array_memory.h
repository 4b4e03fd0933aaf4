// Where arrays get their memory. It starts on a cache line; large arrays ask the system for huge pages, which
// are about five times faster to write for the first time and spare the processor's table of addresses.
//
// Large arrays that are freed stay here for the next of their size: simulations and plans that get other
// points make the same arrays again and again, and the system would have to clear their memory each time. All
// that is held was once in use at one time; what is not in use the system may take where it needs memory.
#pragma once

#include <cstddef>

namespace farfield {

/// The memory is not written, so that the threads which write it first pay for it together.
/// @throws std::bad_alloc
void* allocate_array(std::size_t bytes);
/// @param bytes  as they were asked for
void free_array(void* memory, std::size_t bytes) noexcept;

/// Not in builds in which the use of freed memory is looked for.
#if defined(__has_feature) // Clang
#if __has_feature(address_sanitizer)
#define FARFIELD_FREES_ARRAYS 1
#endif
#elif defined(__SANITIZE_ADDRESS__) // GCC
#define FARFIELD_FREES_ARRAYS 1
#endif
#ifdef FARFIELD_FREES_ARRAYS
constexpr bool keeps_arrays = false;
#else
constexpr bool keeps_arrays = true;
#endif

/// Of large arrays, in bytes of addresses.
struct LargeArrays {
    std::size_t in_use = 0;
    std::size_t kept = 0;        ///< freed
    std::size_t most_in_use = 0; ///< at one time
};
LargeArrays large_arrays();

} // namespace farfield
