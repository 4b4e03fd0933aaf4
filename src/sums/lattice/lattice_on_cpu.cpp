#include "sums/lattice/lattice_on_cpu.h"

#include "backend/simd/isa.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/lattice/near_fields.h"
#include "sums/method/refining.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

constexpr double share_of_tolerance = 0.5, usual_goal = 5e-7, least_goal = 1e-16;

/// What errors may be more than the estimates' unit allows, as the fields of close pairs are that much
/// stronger: a power of √2, so that moving points seldom need another sum. Potentials gain less by such
/// pairs.
double looser_goal(double near_field) {
    constexpr double share = 0.6, most = 12.0;
    const double looser = std::min(share * near_field, most);
    return looser <= 1.0 ? 1.0 : std::exp2(0.5 * std::floor(2.0 * std::log2(looser)));
}

} // namespace

double first_lattice_goal(const SumProblem& problem) {
    return problem.tolerance > 0.0 ? share_of_tolerance * problem.tolerance : usual_goal;
}

SumProblem in_a_box(SumProblem problem) {
    if (!problem.is_periodic_box()) problem.period = {1.0, 1.0, 1.0};
    return problem;
}

LatticeOnCpu::LatticeOnCpu(std::string_view method, const SumProblem& problem, const SumOptions& options,
                           double seconds, Make make)
    : method_(method), problem_(problem), make_(std::move(make)), isa_(resolve_isa(options.isa)),
      threads_(threads_for(options.threads, seconds, cost_table_in_use().table)),
      goal_(first_lattice_goal(problem)) {}

void LatticeOnCpu::set_points(RawVector<double> sources, RawVector<double> targets) {
    sources_ = std::move(sources);
    targets_ = std::move(targets);
    // where the result is compared with exact sums, and computed again if strengths are not alike
    const bool verified = problem_.tolerance > 0.0;
    const double looser =
        verified ? looser_goal(near_field_strength(problem_, sources_, targets_, threads_)) : 1.0;
    if (!sum_ || looser != looser_) sum_ = make_(goal_ * looser, isa_, threads_);
    looser_ = looser;
    sum_->set_points(sources_, targets_, {});
}

void LatticeOnCpu::compute(std::span<const double> strengths, std::span<const double> dipoles,
                           const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    if (!dipoles.empty())
        throw InvalidArgument(fmt::format("method '{}' has no dipoles; leave them out", method_));
    if (results.hessian != nullptr)
        throw InvalidArgument(fmt::format("method '{}' has no output 'hessian'; leave it out", method_));
    Stopwatch watch;
    sum_->compute(strengths, {results.potential, results.field}, hooks, report);
    report.compute_seconds = watch.lap();
    report.threads = threads_;
    report.device = {.kind = DeviceKind::cpu};
    report.isa = isa_;
    report.precision = Precision::float64;
}

bool LatticeOnCpu::refine(double error) {
    if (goal_ * looser_ <= least_goal) return false;
    goal_ = std::max(least_goal / looser_, goal_ / refinement(error, problem_.tolerance));
    auto finer = make_(goal_ * looser_, isa_, threads_);
    if (!finer) return false;
    sum_ = std::move(finer);
    sum_->set_points(sources_, targets_, {});
    return true;
}

} // namespace farfield
