// Text that stands above generated CUDA C++ so that a C++ compiler for the CPU takes it: threads of a block
// are fibers that run one at a time from barrier to barrier, in an order that a seed shuffles. Shared memory
// holds NaN when a block starts, so that reading what nobody wrote shows. Accesses are watched: compiled with
// -fsanitize=thread but linked without its library, the code calls the functions `__tsan_…` below, which
// count races, two threads at one place of shared memory between two barriers of which one writes, and
// strays, accesses between the parts of the machine's memory.
#pragma once

namespace farfield::testing {

constexpr const char* cuda_on_cpu = R"(
#include <math.h>
#include <string.h>
#include <stdint.h>
#include <ucontext.h>
#include <utility>
#include <vector>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__
#define FF_UNWATCHED __attribute__((no_sanitize("thread")))
struct EmulatedIndex {
    int x = 0, y = 0, z = 0;
};
static EmulatedIndex blockIdx, threadIdx;
static inline double __longlong_as_double(long long bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
alignas(16) double shared[30000];
namespace emulator {
constexpr int nobody = -1, several = -2;
struct Place { // four bytes of shared memory
    uint64_t written = 0, read = 0; // the interval between barriers in which that was last done
    int writer = nobody, reader = nobody;
};
Place places[sizeof(shared) / 4];
uint64_t interval = 1, races = 0, strays = 0;
int running = 0;
struct Part { // of a slot
    uint64_t first, end;
};
uint64_t arena = 0, slots = 0, slot_bytes = 1;
const Part* parts = nullptr;
FF_UNWATCHED inline void touch(const volatile void* address, size_t bytes) {
    const uint64_t at = reinterpret_cast<uintptr_t>(address) - arena;
    if (at / slot_bytes >= slots) return;
    const Part& part = parts[at / slot_bytes];
    strays += at % slot_bytes < part.first || at % slot_bytes + bytes > part.end;
}
FF_UNWATCHED inline void access(const volatile void* address, size_t bytes, bool writes) {
    const size_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(shared);
    if (offset >= sizeof(shared)) return touch(address, bytes);
    for (size_t i = offset / 4; i < (offset + bytes + 3) / 4; ++i) {
        Place& place = places[i];
        const bool other_wrote = place.written == interval && place.writer != running;
        const bool other_read = place.read == interval && place.reader != running;
        races += other_wrote || (writes && other_read);
        if (writes) {
            place.written = interval, place.writer = running;
        } else {
            place.reader = place.read == interval && place.reader != running ? several : running;
            place.read = interval;
        }
    }
}
constexpr size_t stack_bytes = 128 * 1024;
ucontext_t scheduler;
struct Fiber {
    ucontext_t context;
    EmulatedIndex thread;
    bool done = false;
};
std::vector<Fiber> fibers;
std::vector<char> stacks;
void (*body)(const uint64_t*) = nullptr;
const uint64_t* arguments = nullptr;
void enter() {
    body(arguments);
    fibers[running].done = true;
    swapcontext(&fibers[running].context, &scheduler);
}
// Returns a random number; the same sequence for a seed.
uint64_t state = 1;
uint64_t draw() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
// One block of threads that may meet at barriers. 1: some threads wait for others that have left.
int run_block(int x, int y, int z) {
    const int count = x * y * z;
    fibers.assign(count, Fiber());
    stacks.resize(size_t(count) * stack_bytes);
    for (int i = 0; i < count; ++i) {
        auto& f = fibers[i];
        f.thread.x = i % x, f.thread.y = i / x % y, f.thread.z = i / (x * y);
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = stacks.data() + size_t(i) * stack_bytes;
        f.context.uc_stack.ss_size = stack_bytes;
        makecontext(&f.context, enter, 0);
    }
    for (;;) {
        ++interval;
        std::vector<int> order(count);
        for (int i = 0; i < count; ++i) order[i] = i;
        for (int i = count - 1; i > 0; --i) std::swap(order[i], order[draw() % (i + 1)]);
        int left = 0;
        for (const int i : order) {
            if (fibers[i].done) continue;
            running = i;
            threadIdx = fibers[i].thread;
            swapcontext(&scheduler, &fibers[i].context);
            left += !fibers[i].done;
        }
        if (left == 0) return 0;
    }
}
template <class... A, size_t... I>
void call(void (*kernel)(A...), const uint64_t* values, std::index_sequence<I...>) {
    kernel(*reinterpret_cast<const std::decay_t<A>*>(values + I)...);
}
template <class... A>
void call(void (*kernel)(A...), const uint64_t* values) {
    call(kernel, values, std::index_sequence_for<A...>());
}
} // namespace emulator
static void __syncthreads() {
    const int me = emulator::running;
    swapcontext(&emulator::fibers[me].context, &emulator::scheduler);
}
#define FF_WATCH(BYTES)                                                                                          \
    FF_UNWATCHED void __tsan_read##BYTES(void* at) { emulator::access(at, BYTES, false); }                        \
    FF_UNWATCHED void __tsan_write##BYTES(void* at) { emulator::access(at, BYTES, true); }                        \
    FF_UNWATCHED void __tsan_unaligned_read##BYTES(void* at) { emulator::access(at, BYTES, false); }              \
    FF_UNWATCHED void __tsan_unaligned_write##BYTES(void* at) { emulator::access(at, BYTES, true); }
extern "C" {
FF_WATCH(1)
FF_WATCH(2)
FF_WATCH(4)
FF_WATCH(8)
FF_WATCH(16)
FF_UNWATCHED void __tsan_read_range(void* at, size_t bytes) { emulator::access(at, bytes, false); }
FF_UNWATCHED void __tsan_write_range(void* at, size_t bytes) { emulator::access(at, bytes, true); }
FF_UNWATCHED void __tsan_init() {}
FF_UNWATCHED void __tsan_func_entry(void*) {}
FF_UNWATCHED void __tsan_func_exit() {}
FF_UNWATCHED uint64_t count_races() { return emulator::races; }
FF_UNWATCHED uint64_t count_strays() { return emulator::strays; }
void watch(uint64_t arena, uint64_t slots, uint64_t slot_bytes, const void* parts) {
    emulator::arena = arena, emulator::slots = slots, emulator::slot_bytes = slot_bytes;
    emulator::parts = static_cast<const emulator::Part*>(parts);
}
}
extern "C" void emulate(void (*kernel)(const uint64_t*), const uint64_t* values, long long blocks, int x, int y, int z,
                        int shared_bytes, uint64_t seed) {
    emulator::state = seed * 2654435761u + 88172645463325252u;
    emulator::body = kernel;
    emulator::arguments = values;
    for (long long b = 0; b < blocks; ++b) {
        blockIdx.x = int(b);
        if (shared_bytes > 0) {
            memset(shared, 0xff, shared_bytes); // a NaN in either precision
            emulator::run_block(x, y, z);
            continue;
        }
        for (threadIdx.z = 0; threadIdx.z < z; ++threadIdx.z)
            for (threadIdx.y = 0; threadIdx.y < y; ++threadIdx.y)
                for (threadIdx.x = 0; threadIdx.x < x; ++threadIdx.x) kernel(values);
    }
}
)";

} // namespace farfield::testing
