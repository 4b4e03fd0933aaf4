// Ewald's method as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/simd/isa.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/ewald/ewald_sum.h"
#include "sums/method/refining.h"

#include <farfield/error.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace farfield {
namespace {

/// Relative errors aimed at: of a tolerance, as estimates are of the mean, and without one.
constexpr double share_of_tolerance = 0.5, usual_goal = 5e-7, least_goal = 1e-16;

double first_goal(const SumProblem& problem) {
    return problem.tolerance > 0.0 ? share_of_tolerance * problem.tolerance : usual_goal;
}

/// Of what is no box, and no sum of images is asked for, a unit cube.
SumProblem in_a_box(SumProblem problem) {
    if (!problem.is_periodic_box()) problem.period = {1.0, 1.0, 1.0};
    return problem;
}

Cutoffs first_cutoffs(const SumProblem& problem, const CostTable& table) {
    return ewald_cutoffs(in_a_box(problem), first_goal(problem), table);
}

int threads_of(const SumProblem& problem, const SumOptions& options) {
    const auto& table = cost_table_in_use().table;
    const auto cutoffs = first_cutoffs(problem, table);
    return threads_for(options.threads, ewald_seconds_alone(in_a_box(problem), cutoffs, table), table);
}

/// What HostSum asks for.
class EwaldOnCpu {
public:
    EwaldOnCpu(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), isa_(resolve_isa(options.isa)), threads_(threads_of(problem, options)),
          goal_(first_goal(problem)) {
        renew();
    }

    void set_points(RawVector<double> sources, RawVector<double> targets) {
        sources_ = std::move(sources);
        targets_ = std::move(targets);
        sum_->set_points(sources_, targets_, {});
    }
    [[nodiscard]] int threads() const { return threads_; }
    void set_float_outputs(OutputSet /*outputs*/) {}

    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks) {
        if (!dipoles.empty()) throw InvalidArgument("method 'ewald' has no dipoles; leave them out");
        if (results.hessian != nullptr)
            throw InvalidArgument("method 'ewald' has no output 'hessian'; leave it out");
        Stopwatch watch;
        sum_->compute(strengths, {results.potential, results.field}, hooks, report);
        report.compute_seconds = watch.lap();
        report.threads = threads_;
        report.device = {.kind = DeviceKind::cpu};
        report.isa = isa_;
        report.precision = Precision::float64;
    }

    bool refine(double error) {
        if (goal_ <= least_goal) return false;
        goal_ = std::max(least_goal, goal_ / refinement(error, problem_.tolerance));
        renew();
        sum_->set_points(sources_, targets_, {});
        return true;
    }

private:
    void renew() {
        sum_.emplace(problem_, ewald_cutoffs(problem_, goal_, cost_table_in_use().table), isa_, threads_);
    }

    SumProblem problem_;
    Isa isa_;
    int threads_;
    double goal_;
    std::optional<EwaldSum> sum_;
    RawVector<double> sources_, targets_;
};

bool computes(const KernelInfo& kernel) { return kernel.loop == PairLoop::inverse_distance; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    return why_no_lattice_sum("ewald", problem, options, device);
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view /*gpu*/,
               const CostTable& table) {
    const auto cutoffs = first_cutoffs(problem, table);
    return problem.executions * ewald_seconds_alone(in_a_box(problem), cutoffs, table) /
           thread_count(options.threads);
}

// Points read, as given, wrapped and sorted; results; structure factors of 16 parts, and what waves have.
double bytes(const SumProblem& problem, const SumOptions& /*options*/, const DeviceChoice& /*device*/) {
    const auto cutoffs = first_cutoffs(problem, cost_table_in_use().table);
    const double waves = wave_count(PeriodicFrame(in_a_box(problem)), cutoffs.wave);
    const double targets = problem.self ? 0.0 : 16.0 * static_cast<double>(problem.targets);
    return 8.0 * (18.0 * static_cast<double>(problem.sources) + targets +
                  4.0 * static_cast<double>(problem.targets) + 40.0 * waves) +
           2e6;
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& /*device*/) {
    return std::make_unique<HostSum<EwaldOnCpu>>(problem, options);
}

constexpr MethodInfo row{.value = Method::ewald,
                         .name = "ewald",
                         .text =
                             "periodic boxes by Ewald's method: near images one by one, the rest by waves",
                         .on_gpu = false,
                         .resident = false,
                         .many_vectors = nullptr,
                         .computes = computes,
                         .field_and_jerk = nullptr,
                         .why_not = why_not,
                         .seconds = seconds,
                         .bytes = bytes,
                         .make = make,
                         .approximates = true,
                         .periodic = true};

} // namespace

const MethodInfo& ewald_method() { return row; }

} // namespace farfield
