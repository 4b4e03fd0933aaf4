#include "backend/threads/place.h"

#include <cstddef>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <vector>

namespace farfield {
namespace {

std::vector<cpu_set_t> asked_places() {
    std::vector<cpu_set_t> out;
    if (omp_get_proc_bind() == omp_proc_bind_false) return out;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
        omp_get_place_proc_ids(place, cpus.data());
        auto& set = out.emplace_back();
        CPU_ZERO(&set);
        for (const int cpu : cpus)
            if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
    }
    return out;
}

const std::vector<cpu_set_t>& places() {
    static const auto all = asked_places();
    return all;
}

} // namespace

void look_at_places() { (void)places(); }

void take_place(int number) {
    if (places().empty()) return;
    const auto& set = places()[static_cast<std::size_t>(number) % places().size()];
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set); // refused: the thread stays where it is
}

} // namespace farfield
