// A sum over a periodic box by Ewald's method: near images one by one, the rest by waves.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/ewald/waves.h"
#include "sums/lattice/lattice_terms.h"

#include <farfield/sum.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

/// The cut-offs that the cost table lets end first for sums of this size, for relative errors of about
/// `goal`.
Cutoffs ewald_cutoffs(const SumProblem& problem, double goal, const CostTable& table);

/// Seconds on one thread.
double ewald_seconds_alone(const SumProblem& problem, const Cutoffs& cutoffs, const CostTable& table);

class EwaldSum {
public:
    EwaldSum(const SumProblem& problem, const Cutoffs& cutoffs, Isa isa, int threads);

    /// N×3 and M×3 as the caller gave them. `own`: of each target the source that it is, or −1; empty with no
    /// targets: targets are the sources.
    void set_points(std::span<const double> sources, std::span<const double> targets,
                    std::span<const std::int64_t> own);

    /// *Writes* what the kernel gives, in the caller's units. Fills passes and the lattice's part of the
    /// report.
    /// @throws InvalidArgument for strengths that are not neutral, and for coincident points; Interrupted.
    void compute(std::span<const double> strengths, const LatticeResults& results, const SumHooks& hooks,
                 SumReport& report);

    [[nodiscard]] const Cutoffs& cutoffs() const { return cutoffs_; }

private:
    [[nodiscard]] bool self() const { return targets_as_given_.empty(); }
    [[nodiscard]] std::int64_t targets() const;

    SumProblem problem_;
    PeriodicFrame frame_;
    Cutoffs cutoffs_;
    int threads_;
    NearSum near_;
    Waves waves_;
    LatticePoints sources_, targets_;
    std::vector<double> sources_as_given_, targets_as_given_;
    std::vector<std::int64_t> own_;
};

} // namespace farfield
