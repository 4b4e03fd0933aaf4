// A sum over a periodic box from one over open space: the box on itself; the images in its rim as further
// sources; and expansions for all images beyond (sums/lattice/images). `Open` is what HostSum takes: the sum
// over pairs, or the fast multipole method.
#pragma once

#include "backend/comm/agree.h"
#include "backend/simd/isa.h"
#include "base/stopwatch.h"
#include "sums/direct/cpu/direct.h"
#include "sums/direct/periodic/box_share.h"
#include "sums/direct/periodic/image_problem.h"
#include "sums/lattice/images/far_images.h"
#include "sums/lattice/images/soft_images.h"
#include "sums/lattice/lattice_terms.h"
#include "sums/method/refining.h"

#include <farfield/error.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield {

/// `Open` also says `seconds(problem, options)`, on one thread, and `image_shape(problem, options)`: what it
/// wants of far images. Where it `takes_own_points`, ranks, which all have all points, give it a part each.
template <class Open>
class ImageSum {
public:
    ImageSum(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), options_(options), share_(problem, options.communicator, Open::takes_own_points),
          ranks_(share_.ranks()), frame_(problem), shape_(Open::image_shape(problem, options)),
          home_(home_problem(problem, frame_.exponent),
                share_.of_own(open_options(options, frame_.exponent))) {}

    [[nodiscard]] int threads() const { return home_.threads(); }
    void set_float_outputs(OutputSet /*outputs*/) {}

    void set_points(RawVector<double> sources, RawVector<double> targets) {
        sources_as_given_ = std::move(sources);
        targets_as_given_ = std::move(targets);
        prepare();
    }

    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks) {
        if (!dipoles.empty()) throw InternalError("dipoles in a periodic box");
        const auto total = total_strength(strengths);
        require_neutral(problem_, total);
        const auto own = share_.own_rows(results);
        const LatticeResults into{own.potential, own.field};
        // by the seconds that each part takes, about
        const double of_home = Open::seconds(home_problem(problem_, 0), options_);
        const double of_rim = Open::seconds(rim_problem(problem_, 0, rim_count()), options_);
        const double all = of_home + of_rim + far_seconds(far_work(), home_.threads());
        double done = 0.0;
        const auto part = [&](double work) {
            auto some = hooks;
            if (hooks.progress)
                some.progress = [&hooks, from = done / all, share = work / all](double x) {
                    hooks.progress(from + share * x);
                };
            done += work;
            return some;
        };
        // rows that are computed again ask for a stop by themselves, and the images follow
        comm::together(ranks_, [&] {
            home_.compute(strengths.subspan(share_.sources().begin, share_.sources().count), {}, own, report,
                          part(of_home));
        });
        if (report.passes.empty()) report.passes.push_back({"pairs", report.compute_seconds});
        Stopwatch clock;
        add_rim(strengths, own, report, part(of_rim));
        report.passes.push_back({"near images", clock.lap()});
        add_far(strengths, into, part(all - done));
        report.passes.push_back({"far images", clock.lap()});
        for (std::size_t k = report.passes.size() - 2; k < report.passes.size(); ++k)
            report.compute_seconds += report.passes[k].seconds;
        share_.to_units_of_caller(frame_.scale(), into);
        share_.gather(results);
        report.finish_seconds += clock.lap();
        report.threads = home_.threads();
        report.lattice = {.near_pairs = problem_.targets * rim_count(),
                          .order = soft_ ? soft_->degree() : shape_.order,
                          .excess_strength = total.sum,
                          .rim_images = rim_count(),
                          .cells = grid().count()};
    }

    bool refine(double error) {
        const bool home = home_.refine(error);
        const bool rim = rim_ && rim_->refine(error);
        if (is_soft()) {
            const double before = shape_.goal;
            shape_.goal = refined_goal(before, refinement(error, problem_.tolerance));
            if (shape_.goal < before) make_far();
            return home || rim || shape_.goal < before;
        }
        const int before = shape_.order;
        shape_.order =
            std::min(most_image_order,
                     before + more_image_orders(refinement(error, problem_.tolerance), shape_.separation));
        if (shape_.order != before) make_far();
        return home || rim || shape_.order != before;
    }

private:
    [[nodiscard]] bool is_soft() const {
        return softens_far_images(problem_, Open::image_shape(problem_, options_).goal);
    }
    [[nodiscard]] double far_work() const { return soft_ ? soft_->work() : far_->work(); }
    [[nodiscard]] const ImageGrid& grid() const { return *grid_; }
    /// Of all ranks.
    [[nodiscard]] std::int64_t rim_count() const { return rim_count_; }

    void prepare() {
        const int count = home_.threads();
        sources_ = wrapped(frame_, sources_as_given_, count);
        targets_ = wrapped(frame_, targets_as_given_, count);
        home_.set_points(own_sources(), own_targets());
        rim_.reset();
        make_far();
    }

    // The grid stays while the order rises, as the images of the rim do.
    void make_far() {
        if (!grid_ || !rim_) grid_ = choose_grid();
        if (is_soft()) {
            soft_.emplace(*grid_, SoftKernel{frame_.softening},
                          soft_goal(problem_, shape_.goal, frame_.exponent), home_.threads(), ranks_,
                          share_.divides());
            set_far_points(*soft_);
        } else {
            far_.emplace(*grid_, shape_.order, options_.isa, home_.threads(), ranks_, share_.divides());
            set_far_points(*far_);
        }
        if (rim_) return;
        const auto& part = share_.sources();
        auto images = rim_images(*grid_, sources_, static_cast<std::int64_t>(part.begin),
                                 static_cast<std::int64_t>(part.begin + part.count));
        rim_of_ = std::move(images.of);
        rim_count_ = std::ssize(rim_of_);
        if (share_.divides()) rim_count_ = comm::sum_of_ranks(*ranks_, rim_count_);
        rim_.emplace(rim_problem(problem_, frame_.exponent, rim_count()),
                     share_.of_own(rim_options(options_, frame_.exponent)));
        rim_->set_points(std::move(images.points), problem_.self ? own_sources() : own_targets());
    }
    template <class Far>
    void set_far_points(Far& far) const {
        if (!share_.divides()) return far.set_points(sources_, problem_.self ? nullptr : &targets_);
        const auto own = BoxShare::part_of(problem_.self ? sources_ : targets_, share_.targets());
        far.set_points(sources_, &own);
    }
    [[nodiscard]] RawVector<double> own_sources() const {
        return BoxShare::rows_of(sources_, share_.sources(), home_.threads());
    }
    [[nodiscard]] RawVector<double> own_targets() const { // none where they are the sources
        return problem_.self ? RawVector<double>()
                             : BoxShare::rows_of(targets_, share_.targets(), home_.threads());
    }

    [[nodiscard]] ImageGrid choose_grid() const {
        Lengths low{}, extent{};
        for (std::size_t k = 0; k < 3; ++k) {
            if (frame_.length[k] > 0.0) continue;
            double least = HUGE_VAL, most = -HUGE_VAL;
            for (const auto* points : {&sources_[k], &targets_[k]})
                for (const double x : *points) {
                    least = std::min(least, x);
                    most = std::max(most, x);
                }
            if (!(least <= most)) continue; // no points
            low[k] = least;
            extent[k] = most - least;
        }
        const auto grid =
            choose_image_grid(problem_, frame_.length, low, extent, shape_, frame_.exponent,
                              [&](const SumProblem& open) { return Open::seconds(open, options_); });
        return comm::from_rank(ranks_, grid); // hosts may have cost tables of their own
    }

    void add_rim(std::span<const double> strengths, const DirectResults& results, const SumReport& of_home,
                 const SumHooks& hooks) {
        rim_strengths_.resize(rim_of_.size());
        for (std::size_t j = 0; j < rim_of_.size(); ++j)
            rim_strengths_[j] = strengths[static_cast<std::size_t>(rim_of_[j])];
        const auto m = share_.targets().count;
        // a rank without targets wants what the others want
        rim_potential_.resize(results.potential != nullptr ? std::max<std::size_t>(1, m) : 0);
        rim_field_.resize(results.field != nullptr ? std::max<std::size_t>(1, 3 * m) : 0);
        SumReport report = of_home;
        compute_rim({.potential = results.potential != nullptr ? rim_potential_.data() : nullptr,
                     .field = results.field != nullptr ? rim_field_.data() : nullptr},
                    report, hooks);
        for (std::size_t i = 0; i < m && results.potential != nullptr; ++i)
            results.potential[i] += rim_potential_[i];
        for (std::size_t i = 0; i < 3 * m && results.field != nullptr; ++i) results.field[i] += rim_field_[i];
    }

    // Points are wrapped into the box, so that none meets an image, unless it is rounded.
    void compute_rim(const DirectResults& results, SumReport& report, const SumHooks& hooks) {
        try {
            comm::together(ranks_, [&] { rim_->compute(rim_strengths_, {}, results, report, hooks); });
        } catch (const InvalidArgument&) {
            if (options_.precision != Precision::float32) throw;
            throw InvalidArgument("sources: a point meets an image of another once both are rounded to "
                                  "float; use more digits for the precision, or move one of them");
        }
    }

    // Results are those of the kernel, whose sign may be the other; far images are those of charges.
    void add_far(std::span<const double> strengths, const LatticeResults& results, const SumHooks& hooks) {
        const double sign = problem_.kernel->sign;
        share_.turn(sign, results);
        WorkWatch watch(far_work(), hooks.progress, hooks.stop_requested);
        watch.ask();
        if (soft_)
            soft_->add(strengths, results, watch);
        else
            far_->add(strengths, results, watch);
        watch.ask();
        if (comm::any_rank(ranks_, watch.stopped())) throw Interrupted("the sum was given up before its end");
        const LatticeTerms terms{.frame = frame_,
                                 .splitting = {},
                                 .boundary = problem_.boundary,
                                 .coincident = problem_.coincident,
                                 .self = problem_.self};
        if (problem_.boundary == Boundary::vacuum) {
            const std::span<const double> targets = problem_.self ? sources_as_given_ : targets_as_given_;
            terms.add_vacuum(sources_as_given_,
                             targets.subspan(3 * share_.targets().begin, 3 * share_.targets().count),
                             strengths, results);
        }
        share_.turn(sign, results);
    }

    SumProblem problem_;
    SumOptions options_;
    BoxShare share_;
    comm::Transport* ranks_; ///< that share the work and each get all results; null: this process is alone
    PeriodicFrame frame_;
    ImageShape shape_;
    Open home_;
    std::optional<Open> rim_;
    std::optional<ImageGrid> grid_;
    std::optional<FarImages> far_; ///< or, of softened charges,
    std::optional<SoftImages> soft_;
    RawVector<double> sources_as_given_, targets_as_given_;
    LatticePoints sources_, targets_;
    std::vector<std::int64_t> rim_of_; ///< the sources that this rank's images in the rim are of
    std::int64_t rim_count_ = 0;
    std::vector<double> rim_strengths_, rim_potential_, rim_field_;
};

} // namespace farfield
