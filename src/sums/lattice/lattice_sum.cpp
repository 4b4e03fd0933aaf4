#include "sums/lattice/lattice_sum.h"

#include "base/stopwatch.h"

#include <farfield/error.h>

#include <string>
#include <string_view>
#include <utility>

namespace farfield {

LatticeSum::LatticeSum(const SumProblem& problem, const Splitting& splitting, double near,
                       std::unique_ptr<SmoothPart> smooth, Isa isa, int threads)
    : problem_(problem), frame_(problem), splitting_(splitting), cutoff_(near), threads_(threads),
      near_(frame_, splitting, near, isa, threads), smooth_(std::move(smooth)) {}

std::int64_t LatticeSum::targets() const {
    return static_cast<std::int64_t>(self() ? sources_[0].size() : targets_[0].size());
}

void LatticeSum::set_points(std::span<const double> sources, std::span<const double> targets,
                            std::span<const std::int64_t> own) {
    sources_as_given_.assign(sources.begin(), sources.end());
    targets_as_given_.assign(targets.begin(), targets.end());
    own_.assign(own.begin(), own.end());
    if (!self()) own_.resize(targets.size() / 3, -1);
    sources_ = wrapped(frame_, sources, threads_);
    targets_ = wrapped(frame_, targets, threads_);
    near_.set_points(sources_, targets_, own_);
    smooth_->set_points(sources_, targets_, self());
}

void LatticeSum::compute(std::span<const double> strengths, const LatticeResults& results,
                         const SumHooks& hooks, SumReport& report) {
    Stopwatch clock;
    const auto total = total_strength(strengths);
    require_neutral(problem_, total);
    WorkWatch watch(static_cast<double>(near_.pairs()) + smooth_->work(), hooks.progress,
                    hooks.stop_requested);
    const auto pass = [&](std::string_view name) {
        if (watch.stopped()) throw Interrupted("the sum was given up before its end");
        report.passes.push_back({std::string(name), clock.lap()});
    };
    const auto coincidences = near_.compute(strengths, results, watch);
    pass("near images");
    smooth_->add(strengths, results, watch, pass);
    const LatticeTerms terms{.frame = frame_,
                             .splitting = splitting_,
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
    report.lattice = {.splitting = splitting_.alpha * frame_.scale(),
                      .cutoff = cutoff_ / frame_.scale(),
                      .near_pairs = near_.pairs(),
                      .excess_strength = total.sum};
    smooth_->describe(report.lattice, frame_.scale());
}

} // namespace farfield
