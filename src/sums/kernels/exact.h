// Sums of one target over all sources in the plainest way, for the reference method and for verification. The
// formulas are those of the kernels' headers, over a plain number type.
#pragma once

#include <cmath>
#include <cstdint>

namespace farfield {

constexpr int most_dimensions = 6;

/// One target and all sources. Arrays are contiguous and finite.
struct ExactTask {
    int dimension = 3;
    int columns = 1; ///< numbers a strength
    std::int64_t sources = 0;
    const double* points = nullptr;    ///< N×dimension
    const double* strengths = nullptr; ///< N×columns
    const double* dipoles = nullptr;   ///< N×dimension; null: none
    const double* target = nullptr;    ///< dimension
    std::int64_t own = -1;             ///< the source that is the target itself; −1: none
    bool without_own = false;          ///< it does not count, even if the kernel has a value there
    double softening = 0.0;
    double sigma = 0.0;        ///< of Gaussians; of vortices with a core
    bool with_hessian = false; ///< the Hessian, too, behind the other outputs
};

/// Pairs left out because both points are at one place and the kernel is not finite there.
struct CoincidentSources {
    std::int64_t count = 0;
    std::int64_t first = -1;
};

/// Adds all outputs of the kernel, one after the other in the order of its row, to `out`; the Hessian, which
/// comes last, only if it is asked for.
template <class Real>
using ExactSum = CoincidentSources (*)(const ExactTask& task, Real* out);

/// A source seen from the target, for formulas.
template <class Real>
struct SeenSource {
    const Real* d; ///< x − y
    int dimension;
    Real r2;         ///< |x − y|²
    const double* q; ///< its strength
    Real softening2;
    Real sigma;
    bool with_hessian;
    const double* dipole; ///< or null
};

/// ExactSum of a formula: Formula::add(SeenSource, out), with Formula::acts_on_itself and, where points meet
/// without softening or a core, Formula::singular.
template <class Formula, class Real>
CoincidentSources exact_sum(const ExactTask& task, Real* out) {
    CoincidentSources coincident;
    const Real softening = static_cast<Real>(task.softening);
    SeenSource<Real> seen{nullptr,
                          task.dimension,
                          Real(0),
                          nullptr,
                          softening * softening,
                          static_cast<Real>(task.sigma),
                          task.with_hessian,
                          nullptr};
    Real d[most_dimensions] = {};
    seen.d = d;
    for (std::int64_t j = 0; j < task.sources; ++j) {
        if (j == task.own && (task.without_own || !Formula::acts_on_itself)) continue;
        seen.r2 = Real(0);
        for (int k = 0; k < task.dimension; ++k) {
            d[k] = static_cast<Real>(task.target[k]) - static_cast<Real>(task.points[j * task.dimension + k]);
            seen.r2 += d[k] * d[k];
        }
        const bool meet = seen.r2 + seen.softening2 == Real(0);
        if (Formula::singular && meet && seen.sigma == Real(0)) {
            if (coincident.count++ == 0) coincident.first = j;
            continue;
        }
        seen.q = task.strengths + j * task.columns;
        if (task.dipoles != nullptr) seen.dipole = task.dipoles + j * task.dimension;
        Formula::add(seen, out);
    }
    return coincident;
}

} // namespace farfield
