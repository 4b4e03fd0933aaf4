#include "sums/around/left_out.h"

#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/around/tighten.h"
#include "sums/plan_access.h"
#include "sums/select/sampled_rows.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>

namespace farfield {
namespace {

SumProblem problem_of_left_out(const LeftOutTask& task) {
    SumProblem out;
    out.kernel = &gauss_kernel();
    out.dimension = task.dimension;
    out.outputs = out.kernel->output_set();
    out.sources = out.targets = static_cast<std::int64_t>(task.strengths.size());
    out.sigma = task.options.sigma;
    out.self_term = task.options.self_term;
    out.tolerance = task.options.tolerance;
    return out;
}

/// As verify.cpp has it of a plain sum: what makes a rounding of the largest that there may be an error of
/// the tolerance, or that largest itself.
double least_product(const LeftOutTask& task, Output output) {
    const double most = task.most * (output == Output::gradient ? std::exp(-0.5) / task.options.sigma : 1.0);
    return task.options.relative_to == RelativeTo::sum ? most : 0x1p-53 * most / task.options.tolerance;
}

std::vector<OutputError> errors_of_products(const LeftOutTask& task, std::span<const double> values,
                                            std::span<const double> gradient) {
    const auto problem = problem_of_left_out(task);
    const VerifyTask verified{.problem = &problem,
                              .sources = task.points,
                              .targets = {},
                              .strengths = task.strengths,
                              .threads = thread_count(task.options.threads)};
    std::vector<ComputedOutput> computed{{Output::potential, values, task.factors}};
    if (!gradient.empty()) computed.push_back({Output::gradient, gradient, task.factors});
    return verify_with(verified, computed,
                       {.rows = [&](std::span<const ComparedOutput> compared,
                                    ExactRows& rows) { compute_exact_rows(verified, compared, rows); },
                        .least = [&](Output output) { return least_product(task, output); }});
}

/// @throws ToleranceNotReached with `missed`, if there is such a text, where the tolerance is out of reach.
SumReport execute_once(const LeftOutTask& task, const SumOptions& options, const SumOutputs& outputs,
                       const SumHooks& hooks, const std::string& missed) {
    try {
        SumPlan plan(matrix_view(task.points, task.dimension), options);
        SumPlanAccess::leave_comparing_to_caller(plan); // the products are compared
        plan.execute(ConstArrayView(task.strengths), outputs, hooks);
        return plan.report();
    } catch (const InvalidArgument&) {
        if (missed.empty()) throw;
        throw ToleranceNotReached(missed);
    }
}

void multiply(std::vector<double>& values, std::span<const double> factors) {
    const auto width = factors.empty() ? 1 : values.size() / factors.size();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i / width];
}

} // namespace

SumReport sum_left_out(const LeftOutTask& task, const SumHooks& hooks, std::vector<double>& values,
                       std::vector<double>& gradient) {
    auto options = task.options;
    values.resize(task.strengths.size());
    gradient.resize(options.outputs.has(Output::gradient) ? task.points.size() : 0);
    SumOutputs outputs{.potential = std::span<double>(values)};
    if (!gradient.empty()) outputs.gradient = matrix_view(std::span<double>(gradient), task.dimension);
    double verify_seconds = 0.0;
    std::string missed; // what is wrong with the values so far
    for (;;) {
        auto report = execute_once(task, options, outputs, hooks, missed);
        multiply(values, task.factors);
        multiply(gradient, task.factors);
        if (options.tolerance == 0.0) return report;
        Stopwatch watch;
        report.errors = errors_of_products(task, values, gradient);
        report.verify_seconds = verify_seconds += watch.lap();
        const double error = largest_error(report.errors);
        if (keeps(task.options, error)) return report;
        missed = fmt::format(
            "the relative error of the density without each point itself is {:.2g}, above the tolerance "
            "{:g}; "
            "method '{}' in precision '{}' does no better here: use {} or a larger tolerance",
            error, task.options.tolerance, name_of(report.method), name_of(report.precision),
            report.method == Method::fgt ? spelled("method", "direct") : spelled("precision", "double"));
        if (tighten(options, task.options, report, error)) continue;
        if (error <= task.options.tolerance) return report;
        throw ToleranceNotReached(missed);
    }
}

} // namespace farfield
