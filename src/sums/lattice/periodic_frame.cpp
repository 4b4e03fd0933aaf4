#include "sums/lattice/periodic_frame.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

double wrapped(double x, double length) {
    const double inside = std::fma(-std::floor(x / length), length, x);
    if (inside < 0.0) return inside + length < length ? inside + length : 0.0; // a rounding below
    return inside < length ? inside : 0.0;
}

} // namespace

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
                out[k][i] = frame.length[k] > 0.0 ? wrapped(x, frame.length[k]) : x;
            }
    });
    return out;
}

} // namespace farfield
