#include "sums/gauss/fgt_sum.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/gauss/boxes/boxes.h"
#include "sums/gauss/boxes/costs.h"
#include "sums/gauss/clusters/clusters.h"
#include "sums/gauss/shape.h"
#include "sums/method/refining.h"
#include "sums/points/over_ranks.h"
#include "sums/points/prepared.h"
#include "sums/points/read.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr double usual_fgt_tolerance = 1e-6;
constexpr double least_aim = 1e-17; ///< of an error; below, a cut-off leaves out nothing that double holds

int fgt_threads(const SumProblem& problem, const SumOptions& options) {
    const auto& table = cost_table_in_use().table;
    return threads_for(options.threads, least_fgt_seconds(problem, options, table), table);
}

/// Whether sums in either shape have the same errors.
bool is_same(const GaussShape& a, const GaussShape& b) {
    return a.strategy == b.strategy && a.rule == b.rule;
}

} // namespace

FgtSum::FgtSum(const SumProblem& problem, const SumOptions& options)
    : problem_(problem), options_(options), ranks_(CommunicatorAccess::transport(options.communicator)),
      has_everything_(ranks_ != nullptr && CommunicatorAccess::gives_everything(options.communicator)),
      threads_(fgt_threads(problem, options)),
      aim_(problem.tolerance > 0.0 ? problem.tolerance : usual_fgt_tolerance), wanted_(options.strategy) {
    options_.isa = resolve_isa(options.isa);
    if (ranks_ != nullptr) rows_.emplace(*ranks_, problem_, threads_);
}

void FgtSum::set_points(const ConstArrayView& sources, const ConstArrayView& targets) {
    sources_ = read_points_on(threads_, sources, "sources", problem_.dimension);
    if (!problem_.self) targets_ = read_points_on(threads_, targets, "targets", problem_.dimension);
    take_part(sources_, problem_.dimension);
    take_part(targets_, problem_.dimension);
    extent_ = ranks_ != nullptr
                  ? gauss_extent_over_ranks(*ranks_, sources_, targets_, problem_.dimension, threads_)
                  : gauss_extent(sources_, targets_, problem_.dimension, threads_);
    frame_ = choose_gauss_frame(problem_, extent_);
    boxes_lost_ = false;
    prepare(false);
}

// Of all rows those that this rank is to give.
void FgtSum::take_part(RawVector<double>& rows, std::int64_t width) const {
    if (!has_everything_) return;
    const auto begins = comm::equal_parts(*ranks_, std::ssize(rows) / width);
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    rows = RawVector<double>(rows.begin() + width * begins[rank], rows.begin() + width * begins[rank + 1]);
}

GaussShape FgtSum::shape_for(double tolerance) const {
    auto shape =
        gauss_shape(problem_, options_, extent_, frame_, tolerance, wanted_, cost_table_in_use().table);
    shape.clusters.by_bound = by_bound_;
    return ranks_ != nullptr ? shape_of_first(*ranks_, shape) : shape;
}

template <class Make>
auto FgtSum::prepared(const GaussShape& shape, const Make& make) {
    if (rows_) rows_->deal(shape, given());
    auto way = make(rows_ ? rows_->problem() : problem_);
    way->set_points(shape, rows_ ? rows_->points(given()) : given());
    return way;
}

void FgtSum::prepare(bool same_points) {
    const auto before = shape_.strategy;
    shape_ = shape_for(aim_);
    check_has_gauss_shape(wanted_, shape_.seconds);
    const bool is_open = wanted_ == GaussStrategy::automatic;
    if (!is_open || !try_clusters()) {
        const bool same_way = !rows_ && way_ != nullptr && shape_.strategy == before;
        if (same_way && same_points)
            way_->set_shape(shape_, given());
        else if (same_way)
            way_->set_points(shape_, given());
        else
            way_ = prepared(shape_, [&](const SumProblem& problem) {
                return make_gauss_way(shape_.strategy, problem, options_.isa, threads_, ranks_);
            });
    }
    if (is_open && !boxes_lost_ && !rows_) try_boxes(); // which would bring all points to all ranks
}

// What clusters cost shows only once they are there.
bool FgtSum::try_clusters() {
    constexpr double least_seconds = 1e-3;
    if (!may_cluster(problem_, options_) || shape_.seconds < least_seconds) return false;
    auto shape = shape_;
    shape.strategy = GaussStrategy::clusters;
    shape.clusters.most_seconds = shape_.seconds;
    auto way = prepared(shape, [&](const SumProblem& problem) {
        return std::make_unique<GaussClusters>(problem, options_.isa, threads_, ranks_);
    });
    shape.seconds = way->plan().seconds();
    if (shape.seconds >= shape_.seconds) return false;
    shape_ = shape;
    way_ = std::move(way);
    return true;
}

// Their time is estimated from some of the points, which takes about as long as a sum over 10,000 points.
void FgtSum::try_boxes() {
    constexpr double least_seconds = 0.05;
    constexpr double share = 0.8; // of the other way's seconds: both are estimates
    double seconds = shape_.seconds - shape_.seconds_of_points; // which are over
    if (shape_.strategy == GaussStrategy::pairs)                // of points as they lie, not evenly spread
        seconds = std::max(seconds, shape_.boxes.rates.pair * way_->work());
    if (seconds < least_seconds) return;
    boxes_lost_ = true;
    const auto points = given();
    const double vectors = std::max(1, problem_.strength_vectors);
    const auto all = static_cast<double>(problem_.sources + (problem_.self ? 0 : problem_.targets));
    const double preparing = box_point_seconds * all / problem_.executions;
    const double most = share * seconds * vectors - preparing;
    if (most <= 0.0) return;
    if (best_box_size(points, problem_.dimension, shape_.boxes, threads_).seconds > most) return;
    auto shape = shape_;
    shape.strategy = GaussStrategy::boxes;
    auto way = std::make_unique<GaussBoxes>(problem_, options_.isa, threads_, ranks_);
    way->set_points(shape, points);
    if (way->plan().seconds().all() > most) return;
    boxes_lost_ = false;
    shape.seconds = way->plan().seconds().all() / vectors;
    shape_ = shape;
    way_ = std::move(way);
}

bool FgtSum::refine(double error) {
    const double factor = refinement(error, problem_.tolerance);
    double aim = aim_;
    auto wanted = shape_.strategy;
    bool by_bound = by_bound_;
    if (shape_.strategy == GaussStrategy::grid) {
        auto next = shape_;
        for (; aim > least_aim && is_same(next, shape_); aim /= factor) next = shape_for(aim / factor);
        const bool is_better =
            next.strategy != GaussStrategy::pairs && std::isfinite(next.seconds) && !is_same(next, shape_);
        if (!is_better && options_.strategy != GaussStrategy::automatic) return false;
        wanted = is_better ? wanted_ : GaussStrategy::pairs;
        if (!is_better) aim = problem_.tolerance;
    } else {
        constexpr double least_clustered = 1e-15; // below, nearly all is pairs
        if (aim <= least_aim) return false;
        const bool may_bound = wanted == GaussStrategy::clusters && !by_bound_;
        by_bound = by_bound_ || may_bound;
        if (!may_bound) aim = std::max(least_aim, aim / factor);
        if (wanted == GaussStrategy::clusters && aim < least_clustered &&
            options_.strategy == GaussStrategy::automatic) {
            wanted = GaussStrategy::pairs;
            aim = problem_.tolerance;
        }
    }
    aim_ = aim;
    wanted_ = wanted;
    by_bound_ = by_bound;
    prepare(true);
    return true;
}

void FgtSum::compute(std::int64_t vectors, int exponent, const SumHooks& hooks, SumReport& report) {
    WorkWatch watch(static_cast<double>(vectors) * way_->work(), hooks.progress, hooks.stop_requested);
    if (rows_)
        way_->add(rows_->strengths(strengths_, vectors), vectors, exponent, sums_, report.passes, watch);
    else
        way_->add(strengths_, vectors, exponent, sums_, report.passes, watch);
    watch.ask(); // also where this rank had nothing to do
    describe(report);
    if (comm::any_rank(ranks_, watch.stopped())) throw Interrupted("the sum was given up before its end");
}

// Pairs are of the targets that a rank sums at.
void FgtSum::describe(SumReport& report) const {
    way_->describe(report);
    if (!rows_ || shape_.strategy != GaussStrategy::pairs || !rows_->deals_out()) return;
    report.fgt.cells = comm::sum_of_ranks(*ranks_, report.fgt.cells);
    report.fgt.near_pairs = comm::sum_of_ranks(*ranks_, report.fgt.near_pairs);
}

SumProblem FgtSum::own_problem() const {
    auto own = problem_;
    own.sources = std::ssize(sources_) / problem_.dimension;
    own.targets = problem_.self ? own.sources : std::ssize(targets_) / problem_.dimension;
    return own;
}

void FgtSum::write(int exponent, const SumOutputs& outputs) {
    if (!rows_)
        return write_gauss_sums(problem_, sums_, frame_, exponent, way_->target_order(), outputs, threads_);
    const auto own = own_problem();
    given_sums_.take(own, outputs, sums_.vectors(), threads_);
    const auto order = rows_->bring_back(sums_, way_->target_order(), given_sums_);
    if (has_everything_) {
        sums_.take(problem_, outputs, given_sums_.vectors(), threads_);
        rows_->share(given_sums_, order, sums_);
        return write_gauss_sums(problem_, sums_, frame_, exponent, {}, outputs, threads_);
    }
    comm::together(*ranks_,
                   [&] { write_gauss_sums(own, given_sums_, frame_, exponent, order, outputs, threads_); });
}

void FgtSum::execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                     SumReport& report) {
    Stopwatch clock;
    if (outputs.potential) require_host(outputs.potential, "potential");
    if (outputs.gradient) require_host(outputs.gradient, "gradient");
    const auto vectors = gauss_vectors_of(strengths);
    read_values_on(threads_, strengths, has_everything_ ? problem_.sources : own_problem().sources,
                   "strengths", strengths_, static_cast<int>(vectors));
    take_part(strengths_, vectors);
    const int exponent = ranks_ != nullptr
                             ? strength_exponent_over_ranks(*ranks_, strengths_, {}, 0, threads_)
                             : strength_exponent(strengths_, {}, 0, threads_);
    sums_.take(rows_ ? rows_->problem() : problem_, outputs, vectors, threads_);
    report.isa = options_.isa;
    report.threads = threads_;
    report.device = {.kind = DeviceKind::cpu};
    report.prepare_seconds = clock.lap();
    if (sums_.with_potential() || sums_.with_gradient()) compute(vectors, exponent, hooks, report);
    report.compute_seconds = clock.lap();
    write(exponent, outputs);
    report.finish_seconds = clock.lap();
}

} // namespace farfield
