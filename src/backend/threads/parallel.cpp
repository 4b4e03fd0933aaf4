// OpenMP, or std::thread where OpenMP cannot serve: in a ThreadSanitizer build, whose sanitizer would report
// libgomp's barriers as races because libgomp is not instrumented; and in a process forked from one that used
// OpenMP, where libgomp waits for ever for its threads, which the fork did not copy (Python's
// multiprocessing).
#include "backend/threads/parallel.h"

#include <algorithm>
#include <atomic>
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

void work(Shared& shared, std::int64_t tasks, detail::TaskFunction function, void* context) {
    for (;;) {
        const auto task = shared.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks) return;
        try {
            function(context, task);
        } catch (...) {
            if (!shared.failed.exchange(true)) shared.error = std::current_exception();
            shared.next.store(tasks, std::memory_order_relaxed);
        }
    }
}

void run_plain_threads(int threads, Shared& shared, std::int64_t tasks, detail::TaskFunction function,
                       void* context) {
    std::vector<std::thread> helpers;
    for (int t = 1; t < threads; ++t) helpers.emplace_back([&] { work(shared, tasks, function, context); });
    work(shared, tasks, function, context);
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
#ifdef FF_NO_OPENMP
        run_plain_threads(threads, shared, tasks, function, context);
#else
        if (forked || fork_is_watched != 0) {
            run_plain_threads(threads, shared, tasks, function, context);
        } else {
#pragma omp parallel num_threads(threads) default(none) shared(shared, tasks, function, context)
            work(shared, tasks, function, context);
        }
#endif
    }
    if (shared.error) std::rethrow_exception(shared.error);
}

void run_own_tasks(int threads, int rounds, TaskFunction function, void* context) {
    threads = std::max(1, threads);
#ifndef FF_NO_OPENMP
    if (threads > 1 && !forked && fork_is_watched == 0) {
        Shared shared;
#pragma omp parallel num_threads(threads) default(none) shared(shared, threads, rounds, function, context)
        for (std::int64_t round = 0; round < rounds; ++round)
            for (int task = omp_get_thread_num(); task < threads; task += omp_get_num_threads()) {
                try {
                    function(context, round * threads + task);
                } catch (...) {
                    if (!shared.failed.exchange(true)) shared.error = std::current_exception();
                }
            }
        if (shared.error) std::rethrow_exception(shared.error);
        return;
    }
#endif
    struct Round {
        TaskFunction function;
        void* context;
        std::int64_t first;
    };
    for (std::int64_t round = 0; round < rounds; ++round) {
        Round now{function, context, round * threads};
        run_tasks(
            threads, threads,
            [](void* given, std::int64_t task) {
                const auto& r = *static_cast<const Round*>(given);
                r.function(r.context, r.first + task);
            },
            &now);
    }
}

} // namespace detail
} // namespace farfield
