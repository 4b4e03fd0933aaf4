// A sum over a periodic box by Ewald's method: the smooth part by waves, one by one.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/lattice/cutoffs.h"
#include "sums/lattice/lattice_sum.h"

namespace farfield {

/// The cut-offs that the cost table lets end first for sums of this size, for relative errors of about
/// `goal`.
Cutoffs ewald_cutoffs(const SumProblem& problem, double goal, const CostTable& table);

/// Seconds on one thread.
double ewald_seconds_alone(const SumProblem& problem, const Cutoffs& cutoffs, const CostTable& table);

class EwaldSum : public LatticeSum {
public:
    EwaldSum(const SumProblem& problem, const Cutoffs& cutoffs, Isa isa, int threads);
};

} // namespace farfield
