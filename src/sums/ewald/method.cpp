// Ewald's method as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/ewald/ewald_sum.h"
#include "sums/method/refining.h"
#include "sums/points/read.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace farfield {
namespace {

/// Relative errors aimed at: of a tolerance, as estimates are of the mean, and without one.
constexpr double share_of_tolerance = 0.5, usual_goal = 5e-7, least_goal = 1e-16;

double first_goal(const SumProblem& problem) {
    return problem.tolerance > 0.0 ? share_of_tolerance * problem.tolerance : usual_goal;
}

/// Open space, which no sum of images is asked for, is told as a unit cube.
SumProblem in_a_box(SumProblem problem) {
    if (!problem.is_periodic()) problem.period = {1.0, 1.0, 1.0};
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

class OnCpu : public PreparedSum {
public:
    OnCpu(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), isa_(resolve_isa(options.isa)), threads_(threads_of(problem, options)),
          goal_(first_goal(problem)) {
        renew();
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        sources_ = read_points_on(threads_, sources, "sources");
        targets_ = problem_.self ? RawVector<double>() : read_points_on(threads_, targets, "targets");
        sum_->set_points(sources_, targets_, {});
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        Stopwatch watch;
        if (outputs.hessian) throw InvalidArgument("method 'ewald' has no output 'hessian'; leave it out");
        read_values_on(threads_, strengths, problem_.sources, "strengths", strengths_);
        if (outputs.potential) require_host(outputs.potential, "potential");
        if (outputs.field) require_host(outputs.field, "field");
        const auto m = static_cast<std::size_t>(problem_.targets);
        // near images write both in any case
        potential_.resize(m);
        field_.resize(outputs.field ? 3 * m : 0);
        report.prepare_seconds = watch.lap();
        sum_->compute(strengths_, {potential_.data(), outputs.field ? field_.data() : nullptr}, hooks,
                      report);
        report.compute_seconds = watch.lap();
        if (outputs.potential) write_values(outputs.potential, potential_.data(), problem_.targets, 1);
        if (outputs.field) write_values(outputs.field, field_.data(), problem_.targets, 3);
        report.finish_seconds = watch.lap();
        report.threads = threads_;
        report.device = {.kind = DeviceKind::cpu};
        report.isa = isa_;
        report.precision = Precision::float64;
    }

    void execute_with_dipoles(const ConstArrayView& /*strengths*/, const ConstArrayView& /*dipoles*/,
                              const SumOutputs& /*outputs*/, const SumHooks& /*hooks*/,
                              SumReport& /*report*/) override {
        throw InvalidArgument("method 'ewald' has no dipoles; leave them out");
    }

    bool refine(double error) override {
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
    RawVector<double> sources_, targets_, strengths_;
    std::vector<double> potential_, field_;
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
    return std::make_unique<OnCpu>(problem, options);
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
