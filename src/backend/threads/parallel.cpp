// OpenMP, or std::thread where OpenMP cannot serve: in a ThreadSanitizer build, whose sanitizer would report
// libgomp's barriers as races because libgomp is not instrumented; and in a process forked from one that used
// OpenMP, where libgomp waits for ever for its threads, which the fork did not copy (Python's
// multiprocessing).
#include "backend/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <omp.h>
#include <pthread.h>
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define FF_NO_OPENMP 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FF_NO_OPENMP 1
#endif
#endif

namespace farfield {
namespace {

struct Shared {
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error; ///< written by the one thread that set `failed`
};

// Whether the task did not throw.
bool run_task(Shared& shared, detail::TaskFunction function, void* context, std::int64_t task) {
    try {
        function(context, task);
        return true;
    } catch (...) {
        if (!shared.failed.exchange(true)) shared.error = std::current_exception();
        return false;
    }
}

void work(Shared& shared, std::int64_t tasks, detail::TaskFunction function, void* context) {
    for (;;) {
        const auto task = shared.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks) return;
        if (!run_task(shared, function, context, task)) shared.next.store(tasks, std::memory_order_relaxed);
    }
}

// Calls body(t, t + 1) for each t in [0, threads) on a thread of its own, but for those for which the system
// has no thread: this thread does them in one call, and the last one in any case.
template <class Body>
void run_plain_threads(int threads, const Body& body) {
    std::vector<std::thread> helpers;
    helpers.reserve(static_cast<std::size_t>(threads - 1));
    for (int t = 0; t + 1 < threads; ++t) {
        try {
            helpers.emplace_back([&body, t] { body(t, t + 1); });
        } catch (const std::exception&) {
            break;
        }
    }
    body(static_cast<int>(helpers.size()), threads);
    for (auto& helper : helpers) helper.join();
}

#ifndef FF_NO_OPENMP
std::atomic<bool> forked{false};
const int fork_is_watched = pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif

} // namespace

int thread_count(int requested) { return requested > 0 ? requested : std::max(1, omp_get_max_threads()); }

namespace detail {

void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context) {
    threads = static_cast<int>(std::min<std::int64_t>(std::max(1, threads), tasks));
    Shared shared;
    if (threads <= 1) {
        work(shared, tasks, function, context);
    } else {
        [[maybe_unused]] const auto each = [&](int, int) { work(shared, tasks, function, context); };
#ifdef FF_NO_OPENMP
        run_plain_threads(threads, each);
#else
        if (forked || fork_is_watched != 0) {
            run_plain_threads(threads, each);
        } else {
#pragma omp parallel num_threads(threads) default(none) shared(shared, tasks, function, context)
            work(shared, tasks, function, context);
        }
#endif
    }
    if (shared.error) std::rethrow_exception(shared.error);
}

// Each thread goes from round to round by itself, with OpenMP and without: what the tasks say to each other
// is all that orders them, in ThreadSanitizer builds too.
void run_own_tasks(int threads, int rounds, TaskFunction function, void* context) {
    threads = std::max(1, threads);
    Shared shared;
    const auto run = [&](int first, int last, int stride) {
        for (std::int64_t round = 0; round < rounds && (round == 0 || !shared.failed); ++round)
            for (int task = first; task < last; task += stride)
                run_task(shared, function, context, round * threads + task);
    };
    const auto plain = [&] { run_plain_threads(threads, [&](int first, int last) { run(first, last, 1); }); };
#ifdef FF_NO_OPENMP
    plain();
#else
    if (threads == 1 || forked || fork_is_watched != 0) {
        plain();
    } else {
#pragma omp parallel num_threads(threads) default(none) shared(threads, run)
        run(omp_get_thread_num(), threads, omp_get_num_threads());
    }
#endif
    if (shared.error) std::rethrow_exception(shared.error);
}

} // namespace detail
} // namespace farfield
