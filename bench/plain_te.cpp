// The fused loop, tuned by hand: a thread keeps a block of rows; behind each row of E follows the row of H
// that it completes, with the energy in the same loop, so that a step passes over memory once. The last row
// of H in a block needs the next block's first row of E and is done behind a barrier.
#include "plain_te.h"

#include <algorithm>
#include <cmath>

#define FF_JOIN(name, isa) name##_##isa
#define FF_JOIN_EXPANDED(name, isa) FF_JOIN(name, isa)

namespace {

void electric_row(double* __restrict ex, double* __restrict ey, const double* __restrict hz,
                  const double* __restrict hz_below, long first, long last, double courant) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (long x = first; x < last; ++x) {
        ex[x] = std::fma(courant, hz[x] - hz_below[x], ex[x]);
        ey[x] = std::fma(courant, hz[x - 1] - hz[x], ey[x]);
    }
}

void magnetic_row(double* __restrict hz, double* __restrict energy, const double* __restrict ex,
                  const double* __restrict ex_above, const double* __restrict ey, long first, long last,
                  double courant) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (long x = first; x < last; ++x) {
        const double h = std::fma(courant, ex_above[x] - ex[x] + ey[x] - ey[x + 1], hz[x]);
        hz[x] = h;
        energy[x] = std::fma(h, h, energy[x]);
    }
}

class Sweep {
public:
    explicit Sweep(const FfPlainTe& task) : t_(task) {}

    void electric(long y) const {
        if (y < 1) return;
        const long row = y * t_.pitch;
        electric_row(t_.ex + row, t_.ey + row, t_.hz + row, t_.hz + row - t_.pitch,
                     std::max(1L, everywhere() ? 0 : first(y)), std::min(t_.n, everywhere() ? t_.n : last(y)),
                     t_.courant);
    }
    void magnetic(long y, double wave) const {
        if (y >= t_.n - 1) return;
        const long row = y * t_.pitch;
        const long begin = std::max(0L, first(y));
        const long end = std::min(t_.n - 1, last(y));
        const auto part = [&](long from, long to) {
            magnetic_row(t_.hz + row, t_.energy + row, t_.ex + row, t_.ex + row + t_.pitch, t_.ey + row, from,
                         to, t_.courant);
        };
        if (y != t_.source_y) return part(begin, end);
        // The cell of the source comes between the update and the energy.
        const long x = row + t_.source_x;
        part(begin, t_.source_x);
        const double h =
            std::fma(t_.courant, t_.ex[x + t_.pitch] - t_.ex[x] + t_.ey[x] - t_.ey[x + 1], t_.hz[x]) + wave;
        t_.hz[x] = h;
        t_.energy[x] = std::fma(h, h, t_.energy[x]);
        part(t_.source_x + 1, end);
    }

private:
    bool everywhere() const { return t_.electric_everywhere != 0; }
    long first(long y) const { return t_.first != nullptr ? t_.first[y] : 0; }
    long last(long y) const { return t_.last != nullptr ? t_.last[y] : t_.n; }
    const FfPlainTe& t_;
};

} // namespace

extern "C" void FF_JOIN_EXPANDED(ff_plain_te, FF_ISA)(const FfPlainTe* task) {
    const Sweep sweep(*task);
    const long n = task->n;
    const int threads = task->threads;
#pragma omp parallel num_threads(threads)
    for (long s = 0; s < task->steps; ++s) {
#pragma omp for schedule(static, 1)
        for (int thread = 0; thread < threads; ++thread) {
            const long begin = n * thread / threads;
            const long end = n * (thread + 1) / threads;
            for (long y = begin; y < end; ++y) {
                sweep.electric(y);
                if (y > begin) sweep.magnetic(y - 1, task->waves[s]);
            }
        }
#pragma omp for schedule(static, 1)
        for (int thread = 0; thread < threads; ++thread)
            sweep.magnetic(n * (thread + 1) / threads - 1, task->waves[s]);
    }
}
