// Tasks on the threads of a pool. OpenMP says how many threads to use (OMP_NUM_THREADS, the cores that this
// process may run on), but lends none: its threads spin at barriers, where a loaded machine leaves them no
// core; a fork loses them; and ThreadSanitizer does not see its barriers.
#include "backend/threads/parallel.h"

#include "backend/threads/pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <omp.h>
#include <unistd.h>

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

} // namespace

int thread_count(int requested) { return requested > 0 ? requested : std::max(1, omp_get_max_threads()); }

void share_cores(int processes) {
    if (std::getenv("OMP_NUM_THREADS") != nullptr) return; // NOLINT(concurrency-mt-unsafe): nobody sets it
    const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
    const int part = std::max(1, static_cast<int>(cores / std::max(1, processes)));
    omp_set_num_threads(std::min(part, omp_get_max_threads())); // fewer where it is bound to fewer cores
}

namespace detail {

void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context) {
    threads = static_cast<int>(std::min<std::int64_t>(std::max(1, threads), tasks));
    Shared shared;
    auto* pool = threads > 1 ? ThreadPool::mine() : nullptr;
    if (pool == nullptr) {
        work(shared, tasks, function, context);
    } else {
        // Tasks go to whoever asks: when this thread finds none, a thread that has not come is not waited
        // for.
        pool->run(pool->helpers(threads - 1), Attendance::whoever_came,
                  [&](int) { work(shared, tasks, function, context); });
    }
    if (shared.error) std::rethrow_exception(shared.error);
}

// Each thread goes from round to round by itself: what the tasks say to each other is all that orders them.
void run_own_tasks(int threads, int rounds, TaskFunction function, void* context) {
    threads = std::max(1, threads);
    Shared shared;
    const auto run = [&](int first, int stride) {
        for (std::int64_t round = 0; round < rounds && (round == 0 || !shared.failed); ++round)
            for (int task = first; task < threads; task += stride)
                run_task(shared, function, context, round * threads + task);
    };
    auto* pool = threads > 1 ? ThreadPool::mine() : nullptr;
    const int helpers = pool != nullptr ? pool->helpers(threads - 1) : 0;
    if (helpers == 0)
        run(0, 1);
    else
        pool->run(helpers, Attendance::all, [&](int number) { run(number, helpers + 1); });
    if (shared.error) std::rethrow_exception(shared.error);
}

} // namespace detail
} // namespace farfield
