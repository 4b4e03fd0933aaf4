#include "studies/flop_peak.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "plain_fma.h"
#include "studies/tune_measure.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace farfield {
namespace {

using FmaLoop = double (*)(long rounds, int is_double);

FmaLoop fma_loop() {
#if defined(__x86_64__)
    const auto isa = resolve_isa(Isa::automatic);
    if (isa == Isa::avx512) return ff_plain_fma_avx512;
    if (isa == Isa::avx2) return ff_plain_fma_avx2;
#endif
    return ff_plain_fma_scalar;
}

} // namespace

double measured_flop_peak(bool is_double, int threads, int repeats) {
    constexpr long rounds = 1'000'000;
    const auto loop = fma_loop();
    std::vector<double> flops(static_cast<std::size_t>(threads));
    double most = 0.0;
    for (int run = 0; run < repeats + 1; ++run) { // the first wakes the threads
        const double seconds = seconds_of([&] {
            parallel_for(threads, threads, [&](std::int64_t thread) {
                flops[static_cast<std::size_t>(thread)] = loop(rounds, is_double ? 1 : 0);
            });
        });
        most = std::max(most, std::accumulate(flops.begin(), flops.end(), 0.0) / seconds);
    }
    return most;
}

} // namespace farfield
