#include "sums/lattice/lattice_sum.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "base/stopwatch.h"

#include <farfield/error.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace farfield {

LatticeSum::LatticeSum(const SumProblem& problem, const Splitting& splitting, double near,
                       std::unique_ptr<SmoothPart> smooth, Isa isa, int threads, comm::Transport* ranks)
    : problem_(problem), frame_(problem), splitting_(splitting), cutoff_(near), threads_(threads),
      ranks_(ranks), near_(frame_, splitting, near, isa, threads), smooth_(std::move(smooth)) {}

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
    if (ranks_ == nullptr) return smooth_->set_points(sources_, targets_, self());
    near_.divide(ranks_->rank(), ranks_->size(), smooth_->work_of_target());
    own_targets_ = near_.own_targets();
    smooth_->set_points(sources_, own_targets_, false);
}

LatticeResults LatticeSum::own_results(const LatticeResults& results) {
    const auto own = own_targets_[0].size();
    own_potential_.resize(results.potential != nullptr ? own : 0);
    own_field_.resize(results.field != nullptr ? 3 * own : 0);
    return {.potential = results.potential != nullptr ? own_potential_.data() : nullptr,
            .field = results.field != nullptr ? own_field_.data() : nullptr};
}

// All ranks get the sums at the targets of all.
void LatticeSum::share(const LatticeResults& own, const LatticeResults& results) const {
    const auto& firsts = near_.firsts();
    const auto& order = near_.order();
    const auto share_array = [&](const double* mine, double* all, std::size_t width) {
        if (all == nullptr) return;
        std::vector<std::size_t> sizes;
        for (std::size_t rank = 0; rank + 1 < firsts.size(); ++rank)
            sizes.push_back(static_cast<std::size_t>(firsts[rank + 1] - firsts[rank]) * width *
                            sizeof(double));
        RawVector<double> in_cells(order.size() * width);
        ranks_->all_gather(comm::bytes_of(std::span(mine, own_targets_[0].size() * width)),
                           comm::bytes_of(std::span(in_cells)), sizes);
        parallel_parts(threads_, order.size(), [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i)
                std::copy_n(in_cells.data() + i * width, width,
                            all + static_cast<std::size_t>(order[i]) * width);
        });
    };
    share_array(own.potential, results.potential, 1);
    share_array(own.field, results.field, 3);
}

// In the order of targets, in which one process finds them, too.
std::vector<NearSum::Coincidence> LatticeSum::of_all(std::vector<NearSum::Coincidence> coincidences) const {
    if (ranks_ != nullptr) {
        const auto counts = comm::all_values(*ranks_, std::ssize(coincidences));
        coincidences =
            comm::all_gathered(*ranks_, std::span<const NearSum::Coincidence>(coincidences), counts);
    }
    std::sort(coincidences.begin(), coincidences.end(), [](const auto& a, const auto& b) {
        return a.target != b.target ? a.target < b.target : a.source < b.source;
    });
    return coincidences;
}

void LatticeSum::compute(std::span<const double> strengths, const LatticeResults& results,
                         const SumHooks& hooks, SumReport& report) {
    Stopwatch clock;
    const auto total = total_strength(strengths);
    require_neutral(problem_, total);
    WorkWatch watch(static_cast<double>(near_.own_pairs()) + smooth_->work(), hooks.progress,
                    hooks.stop_requested);
    const auto pass = [&](std::string_view name) {
        if (ranks_ != nullptr) watch.ask(); // a rank may have had nothing to do
        if (comm::any_rank(ranks_, watch.stopped())) throw Interrupted("the sum was given up before its end");
        report.passes.push_back({std::string(name), clock.lap()});
    };
    const auto own = ranks_ != nullptr ? own_results(results) : results;
    auto coincidences = near_.compute(strengths, own, watch);
    pass("near images");
    smooth_->add(strengths, own, watch, pass);
    coincidences = of_all(std::move(coincidences));
    if (ranks_ != nullptr) {
        share(own, results);
        pass("sums of ranks");
    }
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
