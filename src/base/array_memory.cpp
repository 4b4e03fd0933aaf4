#include "base/array_memory.h"

#include <sys/mman.h>

#include <new>

namespace farfield {
namespace {

constexpr std::size_t least_of_huge_pages = std::size_t{4} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20; // of x86-64

std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes >= least_of_huge_pages ? huge_page : 64};
}

} // namespace

void* allocate_array(std::size_t bytes) {
    void* const memory = ::operator new(bytes, alignment_of(bytes));
#ifdef MADV_HUGEPAGE
    // Whole ones only: an array takes no more memory than it asks for. A system without them says no.
    if (bytes >= least_of_huge_pages) madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
    return memory;
}

void free_array(void* memory, std::size_t bytes) noexcept { ::operator delete(memory, alignment_of(bytes)); }

} // namespace farfield
