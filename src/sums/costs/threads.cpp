#include "sums/costs/threads.h"

#include "backend/threads/parallel.h"

namespace farfield {

int threads_that_gain(double seconds, double thread_seconds, int all) {
    return seconds / 2.0 > thread_seconds ? all : 1;
}

int threads_for(int requested, double seconds, const CostTable& table) {
    if (requested > 0) return requested;
    return threads_that_gain(seconds, cost_of(table, cpu_thread_seconds), thread_count(0));
}

} // namespace farfield
