// Sums of Gaussians of several widths: φ(x) = Σ q_i exp(−|x − x_i|²/(2σ_i²)) and +∇φ, a width a source, in 1
// to 6 dimensions. Sources of one width form a group; each group is a sum of its own (farfield/sum.h), by the
// method that the options name, and the tolerance is kept by their total.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <vector>

namespace farfield {

/// Widths that differ, at most: each takes a sum of its own.
inline constexpr int most_sigmas = 64;

/// Arrays of the host or of one GPU, of any strides. An array that is not there has no dimensions.
struct SigmasInput {
    ConstArrayView sources{};   ///< N×d
    ConstArrayView strengths{}; ///< N, or N×k for several vectors
    ConstArrayView sigmas{};    ///< N, > 0, in the unit of the points
    ConstArrayView targets{};   ///< M×d; absent: the sources
};

/// One of the sums.
struct SigmaGroup {
    double sigma = 0.0;
    std::int64_t sources = 0;
    Method method = Method::direct; ///< the one really used for most of its pairs
};

struct SigmasReport {
    std::vector<SigmaGroup> groups{}; ///< by rising width
    /// Times all groups were summed: again with a smaller tolerance of each where the total missed its own.
    int rounds = 0;
    double group_tolerance = 0.0; ///< of each group in the last round; 0: none was given
    /// Of the whole. Method, machine and what a method tells are those of the sum with most pairs; times and
    /// pairs are those of all; errors those of the total.
    SumReport sum{};
};

/// Computes the outputs that are present, potential and gradient, arrays of the host: M or M×k, and M×d or
/// M×(k·d). `options`: kernel `gauss`, no sigma. With SelfTerm::exclude a source does not count at its own
/// place. The error that `options.tolerance` bounds is the largest of the total over its largest value, or,
/// with RelativeTo::sum, over Σ|q| and, of gradients, Σ|q_i|/(σ_i √e).
/// @throws InvalidArgument for wrong shapes, numbers that are not finite or a width ≤ 0 (names the row), more
///         than `most_sigmas` widths, another kernel, or a sigma beside these; ToleranceNotReached where
///         groups cancel so far that their rounding is more than the tolerance of the total; Interrupted,
///         DeviceError and what SumPlan throws.
SigmasReport sum_sigmas(const SigmasInput& input, const SumOptions& options, const SumOutputs& outputs,
                        const SumHooks& hooks = {});

} // namespace farfield
