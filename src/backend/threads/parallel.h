// Threads of the CPU backend: run numbered tasks on a number of threads. Which thread runs a task is not
// fixed; callers get the same bits for any number of threads because no task depends on who runs it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace farfield {

/// The threads that `requested` stands for: itself if ≥ 1, or as many as OpenMP would use for 0.
int thread_count(int requested);

namespace detail {
using TaskFunction = void (*)(void* context, std::int64_t task);
void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context);
void run_own_tasks(int threads, TaskFunction function, void* context);
} // namespace detail

/// Calls body(task) once for each task in [0, tasks) on at most `threads` threads. Tasks are *started* in
/// rising order, each by the next free thread. The first exception is rethrown after all threads are done.
template <class Body>
void parallel_for(int threads, std::int64_t tasks, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    detail::run_tasks(
        threads, tasks, [](void* context, std::int64_t task) { (*static_cast<Plain*>(context))(task); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

/// Calls body(t) for each t in [0, threads), each t by the same thread as in other calls with as many
/// threads, as far as the machine has them: what a thread wrote in one call is in its caches in the next.
template <class Body>
void parallel_own(int threads, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    detail::run_own_tasks(
        threads, [](void* context, std::int64_t task) { (*static_cast<Plain*>(context))(task); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

} // namespace farfield
