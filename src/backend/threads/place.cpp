#include "backend/threads/place.h"

#include <cstddef>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <vector>

namespace farfield {

void take_place(int number) {
    const int places = omp_get_num_places();
    if (omp_get_proc_bind() == omp_proc_bind_false || places <= 0) return;
    const int place = number % places;
    std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, cpus.data());
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set); // refused: the thread stays where it is
}

} // namespace farfield
