#include "base/array_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

namespace farfield {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20; // of x86-64
constexpr std::align_val_t alignment_of_small{64}, alignment_of_large{huge_page};

// Bytes in huge pages: the last one is taken, too, if at least half of it is wanted.
std::size_t bytes_in_huge_pages(std::size_t bytes) { return (bytes + huge_page / 2) / huge_page * huge_page; }

// Bytes of addresses for a large array, up to an eighth or one huge page more: arrays of nearly the same size
// have the same room, and one can have the memory of another. Pages that are not written take no memory.
std::size_t room_for(std::size_t bytes) {
    std::size_t step = huge_page;
    while (16 * step <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
}

class ArrayKeeper {
public:
    /// Null where none that was freed has this room; then there is way for a new one.
    void* take(std::size_t room) {
        const std::lock_guard lock(mutex_);
        const auto found =
            std::find_if(freed_.rbegin(), freed_.rend(), [&](const Freed& one) { return one.room == room; });
        if (found == freed_.rend()) {
            make_way(room);
            return nullptr;
        }
        void* const memory = found->memory;
        bytes_.kept -= room;
        freed_.erase(std::next(found).base());
        count(room);
        return memory;
    }

    /// One that the system gave.
    void* count_new(void* memory, std::size_t room) {
        const std::lock_guard lock(mutex_);
        count(room);
        make_way(0);
        return memory;
    }

    void give(void* memory, std::size_t room) noexcept {
        const std::lock_guard lock(mutex_);
        bytes_.in_use -= room;
        if (!keeps(memory, room)) ::operator delete(memory, alignment_of_large);
    }

    void release_all() {
        const std::lock_guard lock(mutex_);
        while (!freed_.empty()) release_oldest();
    }

    LargeArrays bytes() {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }

private:
    struct Freed {
        void* memory;
        std::size_t room;
    };

    void count(std::size_t room) {
        bytes_.in_use += room;
        bytes_.most_in_use = std::max(bytes_.most_in_use, bytes_.in_use);
    }

    // For so much more, the oldest first.
    void make_way(std::size_t room) {
        const auto most = std::max(bytes_.most_in_use, bytes_.in_use + room);
        while (bytes_.in_use + bytes_.kept > most) release_oldest();
    }

    bool keeps(void* memory, std::size_t room) noexcept {
        if (!keeps_arrays) return false;
        try {
            freed_.push_back({memory, room});
        } catch (const std::bad_alloc&) {
            return false;
        }
#ifdef MADV_FREE
        madvise(memory, room, MADV_FREE); // the system takes it only where memory is short
#endif
        bytes_.kept += room;
        return true;
    }

    void release_oldest() {
        ::operator delete(freed_.front().memory, alignment_of_large);
        bytes_.kept -= freed_.front().room;
        freed_.erase(freed_.begin());
    }

    std::mutex mutex_;
    std::vector<Freed> freed_; ///< the latest last
    LargeArrays bytes_;
};

ArrayKeeper& keeper() {
    static auto* const only = new ArrayKeeper; // for ever: arrays of other statics may be freed later
    return *only;
}

void* allocate_room(std::size_t room) {
    try {
        return ::operator new(room, alignment_of_large);
    } catch (const std::bad_alloc&) {
        keeper().release_all();
    }
    return ::operator new(room, alignment_of_large);
}

} // namespace

void* allocate_array(std::size_t bytes) {
    if (bytes < huge_page) return ::operator new(bytes, alignment_of_small);
    const auto room = room_for(bytes);
    if (void* const memory = keeper().take(room)) return memory;
    void* const memory = keeper().count_new(allocate_room(room), room);
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes_in_huge_pages(bytes), MADV_HUGEPAGE); // a system without them says no
#endif
    return memory;
}

void free_array(void* memory, std::size_t bytes) noexcept {
    if (bytes < huge_page)
        ::operator delete(memory, alignment_of_small);
    else
        keeper().give(memory, room_for(bytes));
}

LargeArrays large_arrays() { return keeper().bytes(); }

} // namespace farfield
