// A sum over a periodic box by Ewald's method: the smooth part by waves, one by one.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/lattice/cutoffs.h"
#include "sums/lattice/lattice_sum.h"

#include <string_view>

namespace farfield {

/// Seconds of a near image that is looked at; of a wave at a target, and the share of that for a source.
struct EwaldRates {
    double pair = 0.0, wave = 0.0, of_sources = 0.5;
};
/// On one thread.
EwaldRates ewald_rates(const CostTable& table);
/// On that GPU; without a name on the one that comes first in the table.
EwaldRates ewald_rates_on_gpu(const CostTable& table, std::string_view gpu);

/// The cut-offs that these rates let end first for sums of this size, for relative errors of about `goal`.
Cutoffs ewald_cutoffs(const SumProblem& problem, double goal, const EwaldRates& rates);

double ewald_seconds(const SumProblem& problem, const Cutoffs& cutoffs, const EwaldRates& rates);

class EwaldSum : public LatticeSum {
public:
    EwaldSum(const SumProblem& problem, const Cutoffs& cutoffs, Isa isa, int threads,
             comm::Transport* ranks = nullptr);
};

} // namespace farfield
