// How exact a sum of several widths came out: its total against exact sums of all parts at sampled targets.
#pragma once

#include "sums/around/sigma_parts.h"

#include <farfield/sum.h>

#include <span>
#include <vector>

namespace farfield {

/// What is summed, on the host.
struct SigmaSum {
    int dimension = 0;
    bool self = true; ///< targets are the sources
    std::int64_t vectors = 1;
    std::vector<double> sources;   ///< N×dimension
    std::vector<double> targets;   ///< M×dimension; empty where targets are the sources
    std::vector<double> strengths; ///< N×vectors
    std::vector<SigmaSources> groups;
    std::vector<SigmaPart> parts;

    [[nodiscard]] std::int64_t source_count() const {
        return static_cast<std::int64_t>(sources.size()) / dimension;
    }
    [[nodiscard]] const std::vector<double>& at() const { return self ? sources : targets; }
    [[nodiscard]] std::int64_t target_count() const {
        return static_cast<std::int64_t>(at().size()) / dimension;
    }
};

/// Values of the total, M×vectors and M×(vectors·dimension); empty if not asked for.
struct SigmaTotals {
    std::vector<double> potential, gradient;
};

/// Errors of the outputs that are there; of several vectors of strengths the worst.
std::vector<OutputError> sigma_errors(const SigmaSum& sum, const SumOptions& options,
                                      const SigmaTotals& totals);

} // namespace farfield
