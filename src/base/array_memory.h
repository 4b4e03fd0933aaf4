// Where arrays get their memory. It starts on a cache line; large arrays ask the system for huge pages, which
// are about five times faster to write for the first time and spare the processor's table of addresses.
#pragma once

#include <cstddef>

namespace farfield {

/// The memory is not written, so that the threads which write it first pay for it together.
/// @throws std::bad_alloc
void* allocate_array(std::size_t bytes);
/// @param bytes  as they were asked for
void free_array(void* memory, std::size_t bytes) noexcept;

} // namespace farfield
