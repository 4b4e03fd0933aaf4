// How exact a sum came out: exact sums at sampled targets, the same for every method.
//
// Uniform samples miss the closest pairs, which dominate the norm of a field. So the targets with the largest
// computed output are always among the samples and count once; the others are drawn uniformly, and their
// squared differences are scaled to all targets that were not sampled for sure.
#pragma once

#include "sums/method/problem.h"

#include <farfield/sum.h>

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

constexpr std::int64_t certain_samples = 64;
constexpr std::int64_t drawn_samples = 192;

/// The inputs of a sum, contiguous, as the caller gave them.
struct VerifyTask {
    const SumProblem* problem = nullptr;
    std::span<const double> sources;   ///< N×dimension
    std::span<const double> targets;   ///< M×dimension; empty where targets are the sources
    std::span<const double> strengths; ///< N×columns
    int threads = 1;
    std::span<const double> dipoles{}; ///< N×3, or empty
    /// In double where the tolerance allows it, also for few pairs: for sums that are compared again and
    /// again.
    bool soon = false;
    /// Of each target the source that it is, −1: none. Empty: as the problem says.
    std::span<const std::int64_t> own_rows{};
    /// Not null: all ranks verify together, and each has its rows of the arrays; the problem counts those of
    /// all. The samples are those of one process.
    comm::Transport* ranks = nullptr;
    /// Not null: all ranks verify alike, each with all rows, and share the work.
    comm::Transport* sharing = nullptr;
};

/// One output as computed, M rows.
struct ComputedOutput {
    Output output = Output::potential;
    std::span<const double> values;
    /// M, of a field that was multiplied by them, such as by charge over mass; empty: it was not.
    std::span<const double> factors{};
};

/// Errors of the outputs, in their order. The same samples every time. Pairs that are left out because they
/// coincide are left out of the exact sums, too.
std::vector<OutputError> verify(const VerifyTask& task, std::span<const ComputedOutput> computed);

/// The sampled targets of an output with these row norms: first those with the largest, then others drawn
/// uniformly, no row twice.
struct TargetSample {
    std::vector<std::int64_t> rows;
    std::int64_t certain = 0; ///< of them, at the front
};
TargetSample sample_targets(std::span<const double> norms, std::int64_t certain = certain_samples,
                            std::int64_t drawn = drawn_samples);
/// The same of all ranks' targets, of which `norms` are this rank's and the first is number `first` of `all`.
TargetSample sample_targets(comm::Transport& ranks, std::span<const double> norms, std::int64_t first,
                            std::int64_t all, std::int64_t certain, std::int64_t drawn);

} // namespace farfield
