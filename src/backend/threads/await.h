// Waiting for another thread: a look now and then for some microseconds, which is less than it takes to wake
// a sleeper; then sleep, so that a machine with other things to do does them.
#pragma once

#include <atomic>
#include <thread>

namespace farfield {

/// Returns when `value` is not `old` any more. Whoever changes it calls notify_all.
template <class T>
void await_change(const std::atomic<T>& value, T old) {
    constexpr int looks = 200; ///< each some tens of nanoseconds
    constexpr int yields = 20; ///< others may run meanwhile
    for (int i = 0; i < looks; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    for (int i = 0; i < yields; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        std::this_thread::yield();
    }
    value.wait(old, std::memory_order_acquire);
}

} // namespace farfield
