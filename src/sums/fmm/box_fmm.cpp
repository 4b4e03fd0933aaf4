#include "sums/fmm/box_fmm.h"

#include "backend/threads/parallel.h"
#include "base/stopwatch.h"
#include "sums/direct/periodic/image_problem.h"

#include <farfield/error.h>

#include <cmath>
#include <utility>

namespace farfield {

SumProblem shape_problem(const SumProblem& problem) {
    auto out = problem;
    out.tolerance = home_problem(problem, 0).tolerance;
    return out;
}

namespace {

/// The box as the tree takes it, in its frame.
SumProblem tree_problem(const SumProblem& problem, const PeriodicFrame& frame) {
    auto out = home_problem(problem, frame.exponent);
    out.period = frame.length;
    return out;
}

double begin_of_box(const SumProblem& problem, const SumOptions& options, const PeriodicFrame& frame) {
    const auto shape = fmm_shape(shape_problem(problem), options, cost_table_in_use().table);
    return comm::from_rank(CommunicatorAccess::transport(options.communicator),
                           frame.length[0] * begin_of_box(shape.grid));
}

/// In the cube. What moves across keeps all digits.
LatticePoints from_low(LatticePoints points, double low, double period, int threads) {
    for (auto& axis : points)
        parallel_parts(threads, axis.size(), [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i)
                if (axis[i] >= low + period) axis[i] -= period;
        });
    return points;
}

} // namespace

BoxFmm::BoxFmm(const SumProblem& problem, const SumOptions& options)
    : problem_(problem), options_(options), share_(problem, options.communicator, true), frame_(problem),
      low_(begin_of_box(problem, options, frame_)),
      softening_(far_softening(problem, OpenFmm::image_shape(problem, options))),
      goal_(OpenFmm::image_shape(problem, options).goal) {
    make_tree();
    threads_ = tree_->threads();
}

void BoxFmm::make_tree() {
    tree_.emplace(tree_problem(problem_, frame_), share_.of_own(open_options(options_, frame_.exponent)),
                  TreeBox{.low = low_, .with_far_images = softening_ != FarSoftening::whole});
}

void BoxFmm::make_soft() {
    const auto grid =
        soft_tree_grid(frame_.length, low_, OpenFmm::image_shape(problem_, options_).separation);
    soft_.emplace(grid, soft_kernel(softening_, frame_.softening),
                  soft_goal(problem_, goal_, frame_.exponent), threads(), share_.ranks(), share_.divides());
    if (!share_.divides()) return soft_->set_points(sources_, problem_.self ? nullptr : &targets_);
    const auto own = BoxShare::part_of(problem_.self ? sources_ : targets_, share_.targets());
    soft_->set_points(sources_, &own);
}

bool BoxFmm::refine(double error) {
    if (by_images_) return by_images_->refine(error);
    refinements_.push_back(error);
    if (refine_tree(error)) return true;
    // few points, all of which act on each other in open space, but not across faces
    if (error <= problem_.tolerance || options_.order > 0 || options_.precision != Precision::float64)
        return false;
    take_images();
    stays_with_images_ = true;
    return true;
}

bool BoxFmm::refine_tree(double error) {
    const bool tree = tree_->refine(error);
    const double before = goal_;
    if (soft_) goal_ = refined_goal(before, refinement(error, problem_.tolerance));
    if (goal_ < before) make_soft();
    return tree || goal_ < before;
}

void BoxFmm::take_images() {
    tree_.reset(); // first, lest both be held
    soft_.reset();
    by_images_.emplace(problem_, options_);
    by_images_->set_points(sources_as_given_, targets_as_given_);
}

void BoxFmm::set_points(RawVector<double> sources, RawVector<double> targets) {
    const double period = frame_.length[0];
    sources_ = from_low(wrapped(frame_, sources, threads()), low_, period, threads());
    targets_ = from_low(wrapped(frame_, targets, threads()), low_, period, threads());
    sources_as_given_ = std::move(sources);
    targets_as_given_ = std::move(targets);
    if (stays_with_images_) return by_images_->set_points(sources_as_given_, targets_as_given_);
    by_images_.reset();
    const bool is_new = !tree_;
    if (is_new) make_tree();
    tree_->set_points(BoxShare::rows_of(sources_, share_.sources(), threads()),
                      problem_.self ? RawVector<double>()
                                    : BoxShare::rows_of(targets_, share_.targets(), threads()));
    if (softening_ != FarSoftening::none) make_soft();
    for (std::size_t k = 0; is_new && k < refinements_.size(); ++k) refine_tree(refinements_[k]);
}

void BoxFmm::compute(std::span<const double> strengths, std::span<const double> dipoles,
                     const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    if (by_images_) return by_images_->compute(strengths, dipoles, results, report, hooks);
    if (!dipoles.empty()) throw InternalError("dipoles in a periodic box");
    const auto total = total_strength(strengths);
    require_neutral(problem_, total);
    const auto own = share_.own_rows(results);
    const auto before = report;
    comm::together(share_.ranks(), [&] {
        tree_->compute(strengths.subspan(share_.sources().begin, share_.sources().count), {}, own, report,
                       hooks);
    });
    if (!tree_->is_finite()) {
        report = before;
        take_images();
        for (const double error : refinements_) by_images_->refine(error); // nothing is compared any more
        return by_images_->compute(strengths, dipoles, results, report, hooks);
    }
    Stopwatch clock;
    const LatticeResults into{own.potential, own.field};
    share_.turn(problem_.kernel->sign, into);
    add_surroundings(strengths, into, hooks);
    share_.turn(problem_.kernel->sign, into);
    report.passes.push_back({soft_ ? "far images" : "other terms", clock.lap()});
    report.compute_seconds += report.passes.back().seconds;
    share_.to_units_of_caller(frame_.scale(), into);
    share_.gather(results);
    report.finish_seconds += clock.lap();
    report.lattice.order = report.fmm.order;
    report.lattice.excess_strength = total.sum;
    report.lattice.cells = report.fmm.coarse * report.fmm.coarse * report.fmm.coarse;
}

void BoxFmm::add_surroundings(std::span<const double> strengths, const LatticeResults& own,
                              const SumHooks& hooks) const {
    if (soft_) {
        WorkWatch watch(soft_->work(), {}, hooks.stop_requested);
        watch.ask();
        soft_->add(strengths, own, watch);
        watch.ask();
        if (comm::any_rank(share_.ranks(), watch.stopped()))
            throw Interrupted("the sum was given up before its end");
    }
    if (softening_ != FarSoftening::whole) // which is that of tin foil
        add_tin_foil({.period = frame_.length, .low = {low_, low_, low_}}, views_of(sources_),
                     BoxShare::views_of(problem_.self ? sources_ : targets_, share_.targets()), strengths,
                     own, threads());
    if (problem_.boundary != Boundary::vacuum) return;
    const LatticeTerms terms{.frame = frame_,
                             .splitting = {},
                             .boundary = problem_.boundary,
                             .coincident = problem_.coincident,
                             .self = problem_.self};
    const std::span<const double> targets = problem_.self ? sources_as_given_ : targets_as_given_;
    terms.add_vacuum(sources_as_given_,
                     targets.subspan(3 * share_.targets().begin, 3 * share_.targets().count), strengths, own);
}

} // namespace farfield
