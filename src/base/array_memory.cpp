#include "base/array_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace farfield {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20; // of x86-64

// Bytes in huge pages: the last one is taken, too, if at least half of it is wanted.
std::size_t bytes_in_huge_pages(std::size_t bytes) {
    return bytes < huge_page ? 0 : (bytes + huge_page / 2) / huge_page * huge_page;
}

std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes < huge_page ? 64 : huge_page};
}

} // namespace

void* allocate_array(std::size_t bytes) {
    const auto in_huge_pages = bytes_in_huge_pages(bytes);
    void* const memory = ::operator new(std::max(bytes, in_huge_pages), alignment_of(bytes));
#ifdef MADV_HUGEPAGE
    if (in_huge_pages > 0) madvise(memory, in_huge_pages, MADV_HUGEPAGE); // a system without them says no
#endif
    return memory;
}

void free_array(void* memory, std::size_t bytes) noexcept { ::operator delete(memory, alignment_of(bytes)); }

} // namespace farfield
