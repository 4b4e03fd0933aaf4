// A sum of several widths as a sum around sums: read, group, sum each part, compare the total, and sum again
// with smaller tolerances of the groups where the total misses its own.
#include <farfield/sum_sigmas.h>

#include "base/arrays.h"
#include "base/machine.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/around/read_arrays.h"
#include "sums/around/sigma_errors.h"
#include "sums/around/tighten.h"
#include "sums/kernels/exact.h"
#include "sums/plan_access.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace farfield {
namespace {

void check_sigma_options(const SigmasInput& given, const SumOptions& options) {
    if (options.kernel != Kernel::gauss)
        throw InvalidArgument(fmt::format("widths of sources are for Gaussians, not for kernel '{}'; use {}",
                                          name_of(options.kernel), spelled("kernel", "gauss")));
    if (options.sigma != 0.0)
        throw InvalidArgument(fmt::format("{} is given beside a width of each source; leave one of them out",
                                          spelled("sigma", fmt::format("{}", options.sigma))));
    if (options.self_term == SelfTerm::exclude && is_there(given.targets))
        throw InvalidArgument(fmt::format("{} is for targets that are the sources; leave it, or the targets, "
                                          "out",
                                          spelled("self_term", name_of(options.self_term))));
}

SigmaSum read_sigma_sum(const SigmasInput& given, const SumOptions& options) {
    SigmaSum out;
    out.dimension = dimension_of(given.sources);
    out.self = !is_there(given.targets);
    out.sources = read_rows(given.sources, out.dimension, "sources");
    const auto n = given.sources.shape[0];
    out.vectors = given.strengths.ndim == 2 ? std::max<std::int64_t>(given.strengths.shape[1], 1) : 1;
    out.strengths = read_numbers(given.strengths, n, "strengths", static_cast<int>(out.vectors));
    out.groups = group_by_sigma(read_numbers(given.sigmas, n, "sigmas", 1));
    if (!out.self) out.targets = read_rows(given.targets, out.dimension, "targets");
    out.parts = parts_of(out.groups, n, out.self, options.self_term == SelfTerm::exclude);
    return out;
}

/// Bytes of what is kept beside the plan of a part: inputs twice, totals and a part's values.
double sigma_bytes(const SigmaSum& sum, OutputSet outputs) {
    const double d = sum.dimension;
    const auto k = static_cast<double>(sum.vectors);
    const double values =
        (outputs.has(Output::potential) ? k : 0.0) + (outputs.has(Output::gradient) ? k * d : 0.0);
    const auto m = static_cast<double>(sum.target_count());
    const auto rows = static_cast<double>(sum.source_count()) * (sum.self ? 2.0 : 1.0);
    return 8.0 * (2.0 * (d + k) * static_cast<double>(sum.source_count()) + rows + 2.0 * (values + d) * m);
}

/// The arrays of a part.
class PartArrays {
public:
    PartArrays(const SigmaSum& sum, const SigmaPart& part, OutputSet outputs)
        : sum_(sum), part_(part), d_(static_cast<std::size_t>(sum.dimension)),
          vectors_(static_cast<std::size_t>(sum.vectors)),
          sources_(rows_at(sum.sources, d_, sum.groups[part.group].rows)),
          strengths_(rows_at(sum.strengths, vectors_, sum.groups[part.group].rows)) {
        if (!part.self && !part.all) targets_ = rows_at(sum.at(), d_, part.targets);
        const auto m = part.all ? static_cast<std::size_t>(sum.target_count()) : part.targets.size();
        if (outputs.has(Output::potential)) values_.potential.resize(m * vectors_);
        if (outputs.has(Output::gradient)) values_.gradient.resize(m * vectors_ * d_);
    }

    [[nodiscard]] SumPlan plan(const SumOptions& options) const {
        if (part_.self) return SumPlan(rows(sources_, d_), options);
        return {rows(sources_, d_), rows(part_.all ? sum_.at() : targets_, d_), options};
    }
    void execute(SumPlan& plan, const SumHooks& hooks) {
        SumOutputs outputs;
        if (!values_.potential.empty())
            outputs.potential = matrix_view(std::span<double>(values_.potential), sum_.vectors);
        if (!values_.gradient.empty())
            outputs.gradient =
                matrix_view(std::span<double>(values_.gradient), static_cast<std::int64_t>(vectors_ * d_));
        plan.execute(rows(strengths_, vectors_), outputs, hooks);
    }
    void add_to(SigmaTotals& totals) const {
        add(values_.potential, totals.potential, vectors_);
        add(values_.gradient, totals.gradient, vectors_ * d_);
    }

private:
    [[nodiscard]] static ConstArrayView rows(const std::vector<double>& values, std::size_t width) {
        return matrix_view(std::span<const double>(values), static_cast<std::int64_t>(width));
    }
    void add(const std::vector<double>& values, std::vector<double>& totals, std::size_t width) const {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto row = i / width;
            const auto to = part_.all ? row : static_cast<std::size_t>(part_.targets[row]);
            totals[to * width + i % width] += values[i];
        }
    }

    const SigmaSum& sum_;
    const SigmaPart& part_;
    std::size_t d_, vectors_;
    std::vector<double> sources_, strengths_, targets_;
    SigmaTotals values_;
};

double pairs_of(const SigmaSum& sum, const SigmaPart& part) {
    const auto m = part.all ? sum.target_count() : static_cast<std::int64_t>(part.targets.size());
    return static_cast<double>(sum.groups[part.group].rows.size()) * static_cast<double>(m);
}

/// Times of a part beside those of the others; the rest is that of the part with most pairs.
void add_report(SumReport& all, const SumReport& part, bool has_most_pairs) {
    auto out = has_most_pairs ? part : all;
    const auto& other = has_most_pairs ? all : part;
    out.prepare_seconds += other.prepare_seconds;
    out.compute_seconds += other.compute_seconds;
    out.finish_seconds += other.finish_seconds;
    out.predicted_bytes = std::max(out.predicted_bytes, other.predicted_bytes);
    out.direct.pairs += other.direct.pairs;
    out.fgt.near_pairs += other.fgt.near_pairs;
    for (const auto& pass : other.passes) {
        const auto same = std::find_if(out.passes.begin(), out.passes.end(),
                                       [&](const PassTime& one) { return one.name == pass.name; });
        if (same != out.passes.end())
            same->seconds += pass.seconds;
        else
            out.passes.push_back(pass);
    }
    all = std::move(out);
}

/// Sums all parts once.
void sum_parts(const SigmaSum& sum, const SumOptions& options, const SumHooks& hooks, SigmaTotals& totals,
               SigmasReport& report) {
    std::fill(totals.potential.begin(), totals.potential.end(), 0.0);
    std::fill(totals.gradient.begin(), totals.gradient.end(), 0.0);
    double all = 0.0, done = 0.0, most = 0.0;
    for (const auto& part : sum.parts) all += pairs_of(sum, part);
    std::vector<double> most_of_group(sum.groups.size(), -1.0);
    for (const auto& part : sum.parts) {
        auto of_part = options;
        of_part.sigma = sum.groups[part.group].sigma;
        if (!part.self) of_part.self_term = SelfTerm::include;
        const double pairs = pairs_of(sum, part);
        SumHooks shared{.progress = {}, .stop_requested = hooks.stop_requested};
        if (hooks.progress)
            shared.progress = [&](double share) {
                hooks.progress((done + share * pairs) / std::max(all, 1.0));
            };
        PartArrays arrays(sum, part, options.outputs);
        auto plan = arrays.plan(of_part);
        SumPlanAccess::leave_comparing_to_caller(plan); // the total is compared
        arrays.execute(plan, shared);
        arrays.add_to(totals);
        done += pairs;
        if (hooks.progress && all > 0.0) hooks.progress(done / all);
        add_report(report.sum, plan.report(), pairs >= most);
        most = std::max(most, pairs);
        if (pairs > most_of_group[part.group]) report.groups[part.group].method = plan.report().method;
        most_of_group[part.group] = std::max(most_of_group[part.group], pairs);
        if (hooks.stop_requested && hooks.stop_requested())
            throw Interrupted("the sum was given up before its end");
    }
}

/// How each group is summed.
SumOptions options_of_groups(const SigmasInput& given, const SigmaSum& sum, const SumOptions& options,
                             OutputSet outputs) {
    auto out = options;
    out.outputs = outputs;
    if (sum.groups.size() > 1) out.tolerance /= 2.0; // errors of groups add up
    out.relative_to = RelativeTo::largest;
    if (out.device.kind == DeviceKind::automatic && given.sources.device.type == DeviceType::cuda)
        out.device = {.kind = DeviceKind::cuda, .gpus = {given.sources.device.index}};
    return out;
}

void check_sigma_outputs(const SigmaSum& sum, const SumOutputs& outputs) {
    if (outputs.field || outputs.hessian)
        throw InvalidArgument(fmt::format("kernel 'gauss' has no output '{}'; it has potential,gradient",
                                          name_of(outputs.field ? Output::field : Output::hessian)));
    const auto check = [&](const ArrayView& view, std::int64_t columns, std::string_view what) {
        if (!view) return;
        check_output(view, sum.target_count(), columns, what);
        require_host(view, what);
    };
    check(outputs.potential, sum.vectors, "potential");
    check(outputs.gradient, sum.vectors * sum.dimension, "gradient");
}

std::string miss_of(const SigmaSum& sum, const SumOptions& asked, const SumOptions& groups,
                    const SumReport& report, double error) {
    const auto how =
        fmt::format("(method '{}', precision '{}')", name_of(report.method), name_of(report.precision));
    if (sum.groups.size() == 1)
        return fmt::format(
            "the relative error is {:.2g}, above the tolerance {:g} {}; use a larger tolerance", error,
            asked.tolerance, how);
    return fmt::format(
        "the relative error of the sum of {} widths is {:.2g}, above the tolerance {:g}, though "
        "each width is summed to {:.2g} {}: their sums cancel; use a larger tolerance, or {}",
        sum.groups.size(), error, asked.tolerance, groups.tolerance, how, spelled("relative_to", "sum"));
}

/// Sums until the total keeps the tolerance.
SigmaTotals total_of(const SigmaSum& sum, const SumOptions& asked, SumOptions groups, const SumHooks& hooks,
                     SigmasReport& report) {
    SigmaTotals totals;
    const auto m = static_cast<std::size_t>(sum.target_count() * sum.vectors);
    if (groups.outputs.has(Output::potential)) totals.potential.resize(m);
    if (groups.outputs.has(Output::gradient))
        totals.gradient.resize(m * static_cast<std::size_t>(sum.dimension));
    double verify_seconds = 0.0;
    std::string missed; // what is wrong with the totals so far
    for (;;) {
        report.sum = {};
        report.group_tolerance = groups.tolerance;
        ++report.rounds;
        try {
            sum_parts(sum, groups, hooks, totals, report);
        } catch (const InvalidArgument&) { // such as a way that has no smaller tolerance
            if (missed.empty()) throw;
            throw ToleranceNotReached(missed);
        }
        report.sum.verify_seconds = verify_seconds;
        if (asked.tolerance == 0.0) return totals;
        Stopwatch watch;
        report.sum.errors = sigma_errors(sum, asked, totals);
        report.sum.verify_seconds = verify_seconds += watch.lap();
        const double error = largest_error(report.sum.errors);
        if (keeps(asked, error)) return totals;
        missed = miss_of(sum, asked, groups, report.sum, error);
        if (tighten(groups, asked, report.sum, error)) continue;
        if (error <= asked.tolerance) return totals;
        throw ToleranceNotReached(missed);
    }
}

} // namespace

SigmasReport sum_sigmas(const SigmasInput& input, const SumOptions& options, const SumOutputs& outputs,
                        const SumHooks& hooks) {
    Stopwatch watch;
    check_sigma_options(input, options);
    const auto sum = read_sigma_sum(input, options);
    check_sigma_outputs(sum, outputs);
    const double bytes = sigma_bytes(sum, outputs.present());
    require_memory(bytes, "sum of several widths");
    SigmasReport report;
    for (const auto& group : sum.groups)
        report.groups.push_back({group.sigma, static_cast<std::int64_t>(group.rows.size())});
    const double before = watch.lap();
    const auto totals =
        total_of(sum, options, options_of_groups(input, sum, options, outputs.present()), hooks, report);
    watch.lap();
    const auto m = sum.target_count();
    if (outputs.potential) write_values(outputs.potential, totals.potential.data(), m, sum.vectors);
    if (outputs.gradient)
        write_values(outputs.gradient, totals.gradient.data(), m, sum.vectors * sum.dimension);
    report.sum.sources = sum.source_count();
    report.sum.targets = m;
    report.sum.energy.reset(); // of one width alone
    report.sum.prepare_seconds += before;
    report.sum.finish_seconds += watch.lap();
    report.sum.predicted_bytes += bytes;
    if (report.sum.compute_seconds > 0.0)
        report.sum.direct.pairs_per_second =
            static_cast<double>(report.sum.direct.pairs) / report.sum.compute_seconds;
    return report;
}

} // namespace farfield
