// Sums of Gaussians at their own sources without a source's own term (leave-one-out), each times a factor of
// its target, such as one over the weight of all others. The tolerance is that of the products.
#pragma once

#include <farfield/sum.h>

#include <span>
#include <vector>

namespace farfield {

struct LeftOutTask {
    int dimension = 0;
    std::span<const double> points;    ///< N×dimension
    std::span<const double> strengths; ///< N, ≥ 0
    std::span<const double> factors;   ///< N: one over the strengths of all others, times any unit
    double most = 1.0;                 ///< that a product of the potential may be
    SumOptions options;                ///< with sigma and outputs
};

/// Fills `values` and, if the options ask for it, `gradient`. Errors of the report are those of the products.
/// @throws ToleranceNotReached, and what SumPlan throws.
SumReport sum_left_out(const LeftOutTask& task, const SumHooks& hooks, std::vector<double>& values,
                       std::vector<double>& gradient);

} // namespace farfield
