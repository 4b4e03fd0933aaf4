#include "sums/lattice/periodic_frame.h"

#include "backend/threads/parallel.h"
#include "sums/lattice/in_box.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {
PeriodicFrame::PeriodicFrame(const SumProblem& problem) {
    const double longest = *std::max_element(problem.period.begin(), problem.period.end());
    exponent = -std::ilogb(longest);
    for (std::size_t k = 0; k < 3; ++k) length[k] = std::ldexp(problem.period[k], exponent);
    softening = std::ldexp(problem.softening, exponent);
}

double PeriodicFrame::scale() const { return std::ldexp(1.0, exponent); }

LatticePoints wrapped(const PeriodicFrame& frame, std::span<const double> points, int threads) {
    const auto n = points.size() / 3;
    LatticePoints out;
    for (auto& axis : out) axis.resize(n);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            for (std::size_t k = 0; k < 3; ++k) {
                const double x = std::ldexp(points[3 * i + k], frame.exponent);
                out[k][i] = frame.length[k] > 0.0 ? image_in_box(x, frame.length[k]) : x;
            }
    });
    return out;
}

} // namespace farfield
