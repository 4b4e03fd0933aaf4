#include "sums/gauss/fgt_sum.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/points/prepared.h"
#include "sums/points/read.h"

#include <farfield/error.h>

#include <algorithm>

namespace farfield {
namespace {

constexpr double usual_tolerance = 1e-6;
constexpr double least_aim = 1e-17; ///< of an error; below, a cut-off leaves out nothing that double holds

int fgt_threads(const SumProblem& problem, const SumOptions& options) {
    const auto& table = cost_table_in_use().table;
    return threads_for(options.threads, least_fgt_seconds(problem, options, table), table);
}

} // namespace

FgtSum::FgtSum(const SumProblem& problem, const SumOptions& options)
    : problem_(problem), options_(options), threads_(fgt_threads(problem, options)),
      aim_(problem.tolerance > 0.0 ? problem.tolerance : usual_tolerance),
      cells_(problem_, resolve_isa(options.isa), threads_),
      grid_(problem_, resolve_isa(options.isa), threads_) {
    options_.isa = resolve_isa(options.isa);
}

void FgtSum::set_points(const ConstArrayView& sources, const ConstArrayView& targets) {
    sources_ = read_points_on(threads_, sources, "sources", problem_.dimension);
    if (!problem_.self) targets_ = read_points_on(threads_, targets, "targets", problem_.dimension);
    extent_ = gauss_extent(sources_, targets_, problem_.dimension, threads_);
    frame_ = choose_gauss_frame(problem_, extent_);
    prepare();
}

void FgtSum::prepare() {
    shape_ = gauss_shape(problem_, options_, extent_, frame_, aim_, may_grid_, cost_table_in_use().table);
    if (shape_.rule != nullptr)
        grid_.set_points(*shape_.rule, sources_, targets_, extent_, frame_);
    else
        cells_.set_points(sources_, targets_, extent_, frame_, shape_.cutoff, shape_.side);
}

bool FgtSum::refine(double error) {
    const double factor = std::clamp(2.0 * error / problem_.tolerance, 4.0, 1e4);
    if (shape_.rule != nullptr) {
        const auto* before = shape_.rule;
        for (; aim_ > least_aim && shape_.rule == before; aim_ /= factor) {
            shape_ = gauss_shape(problem_, options_, extent_, frame_, aim_ / factor, true,
                                 cost_table_in_use().table);
        }
        may_grid_ = shape_.rule != nullptr && shape_.rule != before;
        if (!may_grid_) aim_ = std::min(aim_, problem_.tolerance);
    } else {
        if (aim_ <= least_aim) return false;
        may_grid_ = false;
        aim_ = std::max(least_aim, aim_ / factor);
    }
    prepare();
    return true;
}

void FgtSum::compute(std::int64_t vectors, int exponent, const SumHooks& hooks, SumReport& report) {
    const double each = static_cast<double>(vectors);
    WorkWatch watch(each * (shape_.rule != nullptr ? grid_.work() : cells_.pairs()), hooks.progress,
                    hooks.stop_requested);
    Stopwatch clock;
    if (shape_.rule != nullptr) {
        grid_.add(strengths_, vectors, exponent, sums_, report.passes, watch);
        report.precision = Precision::float64;
        report.fgt = {.width = shape_.rule->width, .grid_numbers = grid_.numbers()};
    } else {
        cells_.add(strengths_, vectors, exponent, sums_, watch);
        report.passes = {{"pairs", clock.lap()}};
        report.fgt = {.cutoff = shape_.cutoff / frame_.sigma,
                      .cells = cells_.cells(),
                      .near_pairs = static_cast<std::int64_t>(cells_.pairs())};
    }
    if (watch.stopped()) throw Interrupted("the sum was given up before its end");
}

void FgtSum::execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                     SumReport& report) {
    Stopwatch clock;
    if (outputs.potential) require_host(outputs.potential, "potential");
    if (outputs.gradient) require_host(outputs.gradient, "gradient");
    const auto vectors = gauss_vectors_of(strengths);
    read_values_on(threads_, strengths, problem_.sources, "strengths", strengths_, static_cast<int>(vectors));
    const int exponent = strength_exponent(strengths_, {}, 0, threads_);
    sums_.take(problem_, outputs, vectors, threads_);
    report.isa = options_.isa;
    report.threads = threads_;
    report.device = {.kind = DeviceKind::cpu};
    report.prepare_seconds = clock.lap();
    if (sums_.with_potential() || sums_.with_gradient()) compute(vectors, exponent, hooks, report);
    report.compute_seconds = clock.lap();
    const auto order = shape_.rule != nullptr ? grid_.target_order() : cells_.target_order();
    write_gauss_sums(problem_, sums_, frame_, exponent, order, outputs, threads_);
    report.finish_seconds = clock.lap();
}

} // namespace farfield
