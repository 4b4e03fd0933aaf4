// Threads of the CPU backend: run numbered tasks on a number of threads. Which thread runs a task is not
// fixed; callers get the same bits for any number of threads because no task depends on who runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace farfield {

/// The threads that `requested` stands for: itself if ≥ 1, or as many as OpenMP would use for 0.
int thread_count(int requested);

/// This process is one of `processes` on this machine that compute at the same time: unless OMP_NUM_THREADS
/// says how many, its threads are as many as its part of the cores has, one at least.
void share_cores(int processes);

namespace detail {
using TaskFunction = void (*)(void* context, std::int64_t task);
void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context);
void run_own_tasks(int threads, int rounds, TaskFunction function, void* context);
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

/// The task that parallel_apart starts as number `k` of `tasks`: the first of each of `runs` runs of tasks,
/// then the second of each, and so on.
constexpr std::int64_t task_of_runs(std::int64_t k, std::int64_t tasks, std::int64_t runs) {
    const auto run = k % runs;
    const auto longer = tasks % runs; // so many runs have one task more
    return run * (tasks / runs) + (run < longer ? run : longer) + k / runs;
}

/// As parallel_for for tasks that write consecutive memory: threads begin far from each other. Memory that is
/// written for the first time is cleared by pages, and two threads in one page would both clear it.
template <class Body>
void parallel_apart(int threads, std::int64_t tasks, const Body& body) {
    const std::int64_t runs = threads < 1 ? 1 : threads;
    parallel_for(threads, tasks, [&](std::int64_t k) { body(task_of_runs(k, tasks, runs)); });
}

/// Calls body(begin, end) for parts of [0, n) that do not depend on the number of threads.
template <class Body>
void parallel_parts(int threads, std::size_t n, const Body& body, std::size_t part = std::size_t{1} << 14) {
    parallel_apart(threads, static_cast<std::int64_t>((n + part - 1) / part), [&](std::int64_t task) {
        const auto begin = static_cast<std::size_t>(task) * part;
        body(begin, n - begin < part ? n : begin + part);
    });
}

/// What body(begin, end) gives for such parts, in their order.
template <class Body>
auto parallel_results(int threads, std::size_t n, const Body& body, std::size_t part = std::size_t{1} << 14) {
    std::vector<std::decay_t<decltype(body(n, n))>> results((n + part - 1) / part);
    parallel_parts(
        threads, n, [&](std::size_t begin, std::size_t end) { results[begin / part] = body(begin, end); },
        part);
    return results;
}

/// Calls body(t) for each t in [0, threads), each t by the same thread as in other calls with as many
/// threads, as far as the machine has them: what a thread wrote in one call is in its caches in the next.
template <class Body>
void parallel_own(int threads, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    detail::run_own_tasks(
        threads, 1, [](void* context, std::int64_t task) { (*static_cast<Plain*>(context))(task); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

/// As parallel_own, with body(0, t) and then body(1, t). Threads do not meet between the two: body(1, t) may
/// run when only those body(0, ·) are over that its thread does, and may wait for what others of them do.
/// Nothing of body(0, ·) may wait. All of body(0, ·) run, even if some of them throw; body(1, ·) are left out
/// once a thread knows of that.
template <class Body>
void parallel_own_twice(int threads, Body&& body) {
    struct Context {
        std::remove_reference_t<Body>* body;
        std::int64_t threads;
    } context{&body, threads < 1 ? 1 : threads};
    detail::run_own_tasks(
        threads, 2,
        [](void* given, std::int64_t task) {
            const auto& c = *static_cast<const Context*>(given);
            (*c.body)(static_cast<int>(task / c.threads), task % c.threads);
        },
        &context);
}

} // namespace farfield
