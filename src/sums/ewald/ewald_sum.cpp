#include "sums/ewald/ewald_sum.h"

#include "backend/threads/parallel.h"
#include "base/stopwatch.h"

#include <farfield/error.h>

#include <cmath>
#include <cstddef>

namespace farfield {

double ewald_seconds_alone(const SumProblem& problem, const Cutoffs& cutoffs, const CostTable& table) {
    const PeriodicFrame frame(problem);
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const double pairs = m * near_images(frame, n, cutoffs);
    // structure factors take about half of what sums at targets take
    const double waves = (0.5 * n + m) * wave_count(frame, cutoffs.wave);
    return pairs * cost_of(table, "lattice.cpu.pair_seconds") +
           waves * cost_of(table, "ewald.cpu.wave_seconds");
}

Cutoffs ewald_cutoffs(const SumProblem& problem, double goal, const CostTable& table) {
    const PeriodicFrame frame(problem);
    return best_cutoffs(frame, static_cast<double>(problem.sources), goal,
                        [&](const Cutoffs& cutoffs) { return ewald_seconds_alone(problem, cutoffs, table); });
}

EwaldSum::EwaldSum(const SumProblem& problem, const Cutoffs& cutoffs, Isa isa, int threads)
    : problem_(problem), frame_(problem), cutoffs_(cutoffs), threads_(threads),
      near_(frame_, cutoffs.splitting, cutoffs.near, isa, threads), waves_(frame_, cutoffs, isa, threads) {}

std::int64_t EwaldSum::targets() const {
    return static_cast<std::int64_t>(self() ? sources_[0].size() : targets_[0].size());
}

void EwaldSum::set_points(std::span<const double> sources, std::span<const double> targets,
                          std::span<const std::int64_t> own) {
    sources_as_given_.assign(sources.begin(), sources.end());
    targets_as_given_.assign(targets.begin(), targets.end());
    own_.assign(own.begin(), own.end());
    if (!self()) own_.resize(targets.size() / 3, -1);
    sources_ = wrapped(frame_, sources, threads_);
    targets_ = wrapped(frame_, targets, threads_);
    near_.set_points(sources_, targets_, own_);
}

void EwaldSum::compute(std::span<const double> strengths, const LatticeResults& results,
                       const SumHooks& hooks, SumReport& report) {
    Stopwatch clock;
    const auto total = total_strength(strengths);
    require_neutral(problem_, total);
    const auto n = static_cast<std::int64_t>(strengths.size());
    const double work = static_cast<double>(near_.pairs()) +
                        static_cast<double>(n + targets()) * static_cast<double>(waves_.count());
    WorkWatch watch(work, hooks.progress, hooks.stop_requested);
    const auto pass = [&](const char* name) {
        if (watch.stopped()) throw Interrupted("the sum was given up before its end");
        report.passes.push_back({name, clock.lap()});
    };
    const auto coincidences = near_.compute(strengths, results, watch);
    pass("near images");
    waves_.set_sources(sources_, strengths, watch);
    pass("structure factors");
    waves_.add(self() ? sources_ : targets_, results, watch);
    pass("waves");
    const LatticeTerms terms{.frame = frame_,
                             .splitting = cutoffs_.splitting,
                             .boundary = problem_.boundary,
                             .coincident = problem_.coincident,
                             .self = problem_.self};
    terms.add(strengths, own_, coincidences, targets(), results);
    if (problem_.boundary == Boundary::vacuum)
        terms.add_vacuum(sources_as_given_, self() ? sources_as_given_ : targets_as_given_, strengths,
                         results);
    const double unit = problem_.kernel->sign * frame_.scale();
    for (std::int64_t i = 0; i < targets() && results.potential != nullptr; ++i) results.potential[i] *= unit;
    for (std::int64_t i = 0; i < 3 * targets() && results.field != nullptr; ++i)
        results.field[i] *= unit * frame_.scale();
    pass("other terms");
    report.direct.coincident_pairs_skipped = static_cast<std::int64_t>(coincidences.size());
    report.lattice = {.splitting = cutoffs_.splitting.alpha * frame_.scale(),
                      .cutoff = cutoffs_.near / frame_.scale(),
                      .wave_cutoff = cutoffs_.wave * frame_.scale(),
                      .near_pairs = near_.pairs(),
                      .waves = waves_.count(),
                      .excess_strength = total.sum};
}

} // namespace farfield
