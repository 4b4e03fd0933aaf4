// SumPlan in eight calls: check, choose, make and prepare when it is built; execute, verify and report each
// time; what is computed is written into the caller's arrays by the method.
#include "backend/cuda/devices.h"
#include "backend/cuda/host_copy.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/machine.h"
#include "base/stopwatch.h"
#include "sums/asked.h"
#include "sums/costs/cost_file.h"
#include "sums/method/method.h"
#include "sums/method/vectors.h"
#include "sums/plan_access.h"
#include "sums/points/float_range.h"
#include "sums/select/device.h"
#include "sums/select/energy.h"
#include "sums/select/verify.h"

#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/sum.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace farfield {
namespace {

/// The caller's points, as they are needed to verify.
struct HostPoints {
    std::vector<double> sources, targets;
};

// The GPU of the first array that lies on one.
std::optional<int> gpu_of(const ConstArrayView& sources, const ConstArrayView* targets) {
    if (sources.device.type == DeviceType::cuda) return sources.device.index;
    if (targets != nullptr && targets->device.type == DeviceType::cuda) return targets->device.index;
    return std::nullopt;
}

/// 2. The method and the device, and why.
struct Choice {
    const MethodInfo* method;
    DeviceChoice device;
    std::string reason;
    std::string cost_table; ///< hash of the one that chose the device
};

Choice choose(const MethodInfo& method, const SumProblem& problem, const SumOptions& options,
              std::optional<int> array_gpu) {
    auto chosen = choose_device(method, problem, options, array_gpu);
    if (const auto reason = method.why_not(problem, options, chosen.device); !reason.empty())
        throw InvalidArgument(reason);
    return {&method, std::move(chosen.device), "asked for", std::move(chosen.cost_table)};
}

// Method::automatic: what ends first by the cost table.
Choice choose_fastest(const SumProblem& problem, const SumOptions& options, std::optional<int> array_gpu) {
    const auto candidates = candidate_methods(problem, options);
    auto usual = choose(*candidates.usual, problem, options, array_gpu);
    const bool stays = array_gpu || options.device.kind == DeviceKind::cuda;
    if (stays || candidates.fast == nullptr) {
        usual.reason = stays ? "no other method fits" : candidates.why_none;
        return usual;
    }
    const auto& fast = *candidates.fast;
    const auto& in_use = cost_table_in_use();
    const auto gpu = usual.device.kind == DeviceKind::cuda
                         ? cuda::devices()[static_cast<std::size_t>(usual.device.gpus.front())].name
                         : std::string();
    const double usual_seconds = usual.method->seconds(problem, options, gpu, in_use.table);
    const double fast_seconds = fast.seconds(problem, options, {}, in_use.table);
    const auto reason = fmt::format("by the cost table '{}' takes {:.2g} s, '{}' {:.2g} s",
                                    usual.method->name, usual_seconds, fast.name, fast_seconds);
    if (fast_seconds < usual_seconds)
        return {&fast, {.kind = DeviceKind::cpu, .gpus = {}}, reason, in_use.hash};
    usual.reason = reason;
    usual.cost_table = in_use.hash;
    return usual;
}

// 3. Memory is looked at before it is taken.
double checked_bytes(const SumProblem& problem, const SumOptions& options, const Choice& choice) {
    const double bytes = choice.method->bytes(problem, options, choice.device);
    const auto memory = static_cast<double>(physical_memory());
    if (choice.device.kind == DeviceKind::cpu && bytes > memory)
        throw InvalidArgument(
            fmt::format("the sum of {} sources and {} targets needs {:.1f} GiB of memory, and "
                        "this machine has {:.1f}; use fewer points",
                        problem.sources, problem.targets, bytes / 0x1p30, memory / 0x1p30));
    return bytes;
}

void check_count(const ConstArrayView& view, std::int64_t expected, std::string_view what) {
    if (view.shape[0] != expected)
        throw InvalidArgument(fmt::format("{}: {} rows, but the plan was made for {}; make a new plan", what,
                                          view.shape[0], expected));
}

} // namespace

struct SumPlan::Impl {
    SumOptions options;
    SumProblem problem; // 1. What is asked for is checked and put into words (asked.h).
    Choice choice;
    double predicted_bytes;
    std::unique_ptr<PreparedSum> sum;
    SumReport report;
    double prepare_seconds = 0.0;
    bool compares;                    ///< for itself, with a tolerance
    std::optional<HostPoints> points; ///< where it compares
    std::vector<OutputError> errors;  ///< of the outputs compared so far
    std::vector<double> no_charges;   ///< beside dipoles alone

    Impl(const SumOptions& wanted, const ConstArrayView& sources, const ConstArrayView* targets)
        : options(wanted), problem(problem_of(options, sources, targets)),
          choice(options.method == Method::automatic
                     ? choose_fastest(problem, options, gpu_of(sources, targets))
                     : choose(method_info(options.method), problem, options, gpu_of(sources, targets))),
          predicted_bytes(checked_bytes(problem, options, choice)),
          sum(choice.method->make(problem, options, choice.device)), compares(options.tolerance > 0.0) {}

    // 4. Points come in.
    void prepare(const ConstArrayView& sources, const ConstArrayView& targets) {
        std::optional<Stopwatch> watch;
        if (problem.times_its_parts()) watch.emplace();
        check_points(sources, "sources", problem.dimension);
        check_count(sources, problem.sources, "sources");
        if (!problem.self) {
            check_points(targets, "targets", problem.dimension);
            check_count(targets, problem.targets, "targets");
        }
        require_float_range(sources, targets);
        sum->set_points(sources, targets);
        prepare_seconds = watch ? watch->lap() : 0.0;
        if (!compares || all_compared()) return;
        points.emplace();
        points->sources = cuda::host_copy(sources, problem.sources, problem.dimension);
        if (!problem.self) points->targets = cuda::host_copy(targets, problem.targets, problem.dimension);
    }

    // Sums on the CPU look for themselves; for GPUs only what lies in the memory of the host is looked at.
    void require_float_range(const ConstArrayView& sources, const ConstArrayView& targets) const {
        const auto on_host = [](const ConstArrayView& view) { return view.device.type == DeviceType::cpu; };
        if (choice.device.kind == DeviceKind::cpu || options.precision == Precision::float64) return;
        if (problem.dimension != 3 || !on_host(sources) || (!problem.self && !on_host(targets))) return;
        const auto from = cuda::host_copy(sources, problem.sources, problem.dimension);
        const auto at = problem.self ? std::vector<double>{}
                                     : cuda::host_copy(targets, problem.targets, problem.dimension);
        const auto frame = choose_frame(from, at, options.softening);
        farfield::require_float_range(from, at, frame, options.softening, options.precision);
    }

    // Each output is compared once a plan.
    [[nodiscard]] bool is_compared(Output output) const {
        return std::any_of(errors.begin(), errors.end(),
                           [&](const OutputError& error) { return error.output == output; });
    }
    [[nodiscard]] bool all_compared() const { return errors.size() == problem.kernel->outputs.size(); }

    /// The outputs of one vector of strengths that are to be compared, as they were computed.
    [[nodiscard]] std::vector<OutputError> errors_of(const SumStrengths& strengths,
                                                     const SumOutputs& outputs) const {
        std::vector<std::vector<double>> values;
        std::vector<ComputedOutput> computed;
        values.reserve(problem.kernel->outputs.size());
        for (const auto& info : problem.kernel->outputs) {
            const auto& view = outputs.of(info.output);
            if (!view || is_compared(info.output)) continue;
            values.push_back(
                cuda::host_copy(view, problem.targets, problem.kernel->width(info, problem.dimension)));
            computed.push_back({info.output, values.back()});
        }
        if (computed.empty()) return {};
        const auto q = cuda::host_copy(strengths.charges, problem.sources, problem.kernel->strength.columns);
        std::vector<double> dipoles;
        if (strengths.dipoles)
            dipoles = cuda::host_copy(strengths.dipoles, problem.sources, problem.dimension);
        return verify({.problem = &problem,
                       .sources = points->sources,
                       .targets = points->targets,
                       .strengths = q,
                       .threads = thread_count(options.threads),
                       .dipoles = dipoles},
                      computed);
    }

    // 6. Exact sums at sampled targets; of several vectors of strengths the worst counts. A method that can
    // do better computes again.
    void verify_once(const SumStrengths& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                     std::int64_t vectors) {
        if (!compares || all_compared()) return;
        Stopwatch watch;
        for (;;) {
            const auto worst = worst_errors(strengths, outputs, vectors);
            if (worst.empty()) return;
            report.errors = errors;
            report.errors.insert(report.errors.end(), worst.begin(), worst.end());
            report.verify_seconds += watch.lap();
            // A sample may miss the targets that are off most: who can do better must stay well below.
            constexpr double margin = 0.6;
            const double most = largest(worst);
            if (!(most <= margin * options.tolerance) && sum->refine(most)) {
                prepare_seconds += watch.lap();
                clear_report();
                compute(strengths, outputs, hooks, vectors);
                watch.lap();
                continue;
            }
            const auto first = std::find_if(worst.begin(), worst.end(), [&](const OutputError& error) {
                return !(error.relative <= options.tolerance);
            });
            if (first != worst.end()) refuse(*first);
            errors = report.errors;
            return;
        }
    }

    // Infinite where one is not a number.
    [[nodiscard]] static double largest(const std::vector<OutputError>& found) {
        double out = 0.0;
        for (const auto& error : found) out = error.relative <= out ? out : error.relative;
        return std::isnan(out) ? HUGE_VAL : out;
    }

    // The errors of the outputs that were not compared yet; of several vectors of strengths the worst counts.
    [[nodiscard]] std::vector<OutputError>
    worst_errors(const SumStrengths& strengths, const SumOutputs& outputs, std::int64_t vectors) const {
        std::vector<OutputError> worst;
        for (std::int64_t v = 0; v < vectors; ++v) {
            const auto found =
                errors_of(strengths_of_vector(problem, strengths, v), outputs_of_vector(problem, outputs, v));
            if (worst.empty()) worst = found;
            for (std::size_t k = 0; k < found.size(); ++k)
                if (!(found[k].relative <= worst[k].relative)) worst[k] = found[k];
        }
        return worst;
    }

    // What an execution has not filled yet.
    void clear_report() {
        const double verify_seconds = report.verify_seconds;
        auto passes = std::move(report.passes); // for their memory
        passes.clear();
        report = {};
        report.passes = std::move(passes);
        report.sources = problem.sources;
        report.targets = problem.targets;
        report.method = choice.method->value;
        report.reason = choice.reason;
        report.cost_table = choice.cost_table;
        report.predicted_bytes = predicted_bytes;
        report.precision = options.precision;
        report.verify_seconds = verify_seconds;
        report.errors = errors;
    }

    void compute_once(const SumStrengths& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                      SumReport& into) {
        if (strengths.dipoles)
            sum->execute_with_dipoles(strengths.charges, strengths.dipoles, outputs, hooks, into);
        else
            sum->execute(strengths.charges, outputs, hooks, into);
    }

    /// Dipoles alone stand beside charges of 0.
    SumStrengths with_charges(SumStrengths strengths, std::int64_t vectors) {
        if (strengths.charges || !strengths.dipoles) return strengths;
        no_charges.assign(static_cast<std::size_t>(problem.sources * vectors), 0.0);
        strengths.charges = matrix_view(std::span<const double>(no_charges), vectors);
        return strengths;
    }

    // 5. Methods that take one vector of strengths are called for each.
    void compute(const SumStrengths& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 std::int64_t vectors) {
        const auto calls = choice.method->many_vectors ? 1 : vectors;
        if (calls == 1) return compute_once(strengths, outputs, hooks, report);
        const auto fresh = report;
        for (std::int64_t v = 0; v < calls; ++v) {
            auto one = fresh;
            auto shared = hooks;
            if (hooks.progress)
                shared.progress = [&, v](double share) {
                    hooks.progress((static_cast<double>(v) + share) / static_cast<double>(calls));
                };
            compute_once(strengths_of_vector(problem, strengths, v), outputs_of_vector(problem, outputs, v),
                         shared, one);
            one.prepare_seconds += report.prepare_seconds;
            one.compute_seconds += report.compute_seconds;
            one.finish_seconds += report.finish_seconds;
            one.direct.coincident_pairs_skipped += report.direct.coincident_pairs_skipped;
            one.verify_seconds += report.verify_seconds - fresh.verify_seconds;
            keep_worse(one.bounds, report.bounds);
            report = one;
        }
    }

    static void keep_worse(std::vector<OutputBound>& bounds, const std::vector<OutputBound>& others) {
        for (std::size_t k = 0; k < others.size(); ++k)
            bounds[k].relative = std::max(bounds[k].relative, others[k].relative);
    }

    [[noreturn]] void refuse(const OutputError& error) {
        errors.clear(); // the next execution is looked at again
        throw ToleranceNotReached(fmt::format(
            "the relative error of the {} is {:.2g}, above the tolerance {:g}; method '{}' in precision '{}' "
            "does no better here: {} a larger tolerance",
            name_of(error.output), error.relative, options.tolerance, choice.method->name,
            name_of(report.precision), tolerance_remedy(options.order, options.precision)));
    }
};

SumPlan::SumPlan(ConstArrayView sources, const SumOptions& options)
    : impl_(std::make_unique<Impl>(options, sources, nullptr)) {
    impl_->prepare(sources, {});
}

SumPlan::SumPlan(ConstArrayView sources, ConstArrayView targets, const SumOptions& options)
    : impl_(std::make_unique<Impl>(options, sources, &targets)) {
    impl_->prepare(sources, targets);
}

void SumPlanAccess::leave_comparing_to_caller(SumPlan& plan) {
    plan.impl_->compares = false;
    plan.impl_->points.reset();
}

SumPlan::SumPlan(SumPlan&&) noexcept = default;
SumPlan& SumPlan::operator=(SumPlan&&) noexcept = default;
SumPlan::~SumPlan() = default;

void SumPlan::update(ConstArrayView sources) {
    if (!impl_->problem.self)
        throw InvalidArgument("targets: the plan has targets of its own; update them, too");
    impl_->prepare(sources, {});
}

void SumPlan::update(ConstArrayView sources, ConstArrayView targets) {
    if (impl_->problem.self)
        throw InvalidArgument(
            "targets: the plan's targets are its sources; make a plan with separate targets");
    impl_->prepare(sources, targets);
}

void SumPlan::execute(ConstArrayView strengths, const SumOutputs& outputs, const SumHooks& hooks) {
    execute(SumStrengths{.charges = strengths}, outputs, hooks);
}

void SumPlan::execute(const SumStrengths& given, const SumOutputs& outputs, const SumHooks& hooks) {
    auto& plan = *impl_;
    const auto vectors = check_arrays(plan.problem, given, outputs);
    check_device(plan.choice.device, outputs.present(), static_cast<bool>(given.dipoles));
    const auto strengths = plan.with_charges(given, vectors);
    auto& report = plan.report;
    report.verify_seconds = 0.0;
    plan.clear_report();
    plan.compute(strengths, outputs, hooks, vectors);
    plan.verify_once(strengths, outputs, hooks, vectors);
    if (vectors == 1) report.energy = energy_of(plan.problem, strengths, outputs);
    if (report.passes.empty()) report.passes.push_back({"pairs", report.compute_seconds}); // one pass
    report.prepare_seconds += plan.prepare_seconds;
    report.direct.pairs = vectors * plan.problem.pairs();
    if (report.compute_seconds > 0.0)
        report.direct.pairs_per_second = static_cast<double>(report.direct.pairs) / report.compute_seconds;
}

const SumReport& SumPlan::report() const { return impl_->report; }
const SumOptions& SumPlan::options() const { return impl_->options; }

} // namespace farfield
