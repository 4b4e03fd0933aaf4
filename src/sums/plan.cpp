// SumPlan in eight calls: check, choose, make and prepare when it is built; execute, verify and report each
// time; what is computed is written into the caller's arrays by the method.
#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/cuda/devices.h"
#include "backend/cuda/host_copy.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "sums/asked.h"
#include "sums/direct/cuda/several/own_rows.h"
#include "sums/method/method.h"
#include "sums/method/refining.h"
#include "sums/method/target_share.h"
#include "sums/method/vectors.h"
#include "sums/plan_access.h"
#include "sums/points/kept_points.h"
#include "sums/points/over_ranks.h"
#include "sums/points_of_ranks.h"
#include "sums/select/choice.h"
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
struct PlanPoints {
    KeptPoints sources, targets;
    bool kept = false;
};

// The GPU of the first array that lies on one.
std::optional<int> gpu_of(const ConstArrayView& sources, const ConstArrayView* targets) {
    if (sources.device.type == DeviceType::cuda) return sources.device.index;
    if (targets != nullptr && targets->device.type == DeviceType::cuda) return targets->device.index;
    return std::nullopt;
}

void check_count(const ConstArrayView& view, std::int64_t expected, std::string_view what) {
    if (view.shape[0] != expected)
        throw InvalidArgument(fmt::format("{}: {} rows, but the plan was made for {}; make a new plan", what,
                                          view.shape[0], expected));
}

} // namespace

struct SumPlan::Impl {
    SumOptions options;         // with its precision settled
    SumProblem problem;         // 1. What is asked for is checked and put into words (asked.h).
    bool may_go_double = false; ///< the precision was left to the plan, which did not begin in double
    Choice choice;              // 2. What computes it (choice.h).
    bool own_rows;              ///< each rank computes with points of its own
    double predicted_bytes;     // 3. Memory is looked at before it is taken.
    std::unique_ptr<PreparedSum> sum;
    SumReport report;
    bool has_points = false; ///< false after an update that failed: parts of the sum may be of new points
    double prepare_seconds = 0.0;
    double keep_seconds = 0.0;             ///< for `points`, until an execution has told them
    bool compares;                         ///< for itself, with a tolerance
    PlanPoints points;                     ///< where it compares
    std::vector<OutputError> errors;       ///< of the outputs compared so far
    std::vector<double> no_charges;        ///< beside dipoles alone
    std::optional<PointsOfRanks> of_ranks; ///< where each rank has points of its own

    /// @param array_gpu  where this process has its points, if on a GPU
    Impl(const SumOptions& wanted, const ConstArrayView& sources, const ConstArrayView* targets,
         std::optional<int> array_gpu)
        : options(wanted), problem(problem_of(options, sources, targets)),
          may_go_double(settle_precision(first_precision_alike(ranks(), problem, options))),
          choice(choose_alike(ranks(), problem, options, array_gpu)), own_rows(takes_own_rows()),
          predicted_bytes(bytes_alike()), sum(made()), compares(options.tolerance > 0.0) {}

    static std::unique_ptr<Impl> of(const SumOptions& options, const ConstArrayView& sources,
                                    const ConstArrayView* targets);
    void execute(const SumStrengths& given, const SumOutputs& outputs, const SumHooks& hooks);
    void update(const ConstArrayView& sources, const ConstArrayView* targets);
    void take(const PointsOfRanks& counted, const ConstArrayView& sources, const ConstArrayView* targets);

    [[nodiscard]] comm::Transport* ranks() const {
        return CommunicatorAccess::transport(options.communicator);
    }

    [[nodiscard]] bool takes_own_rows() const {
        return CommunicatorAccess::gives_own(options.communicator) &&
               choice.method->takes_own_points != nullptr &&
               choice.method->takes_own_points(problem, options, choice.device);
    }

    // Hosts may have less memory than others.
    [[nodiscard]] double bytes_alike() const {
        double bytes = 0.0;
        comm::together(ranks(), [&] { bytes = checked_bytes(problem, options, choice); });
        return bytes;
    }

    // Ranks that have come together give all points.
    [[nodiscard]] std::unique_ptr<PreparedSum> made() const {
        const auto& gpus = choice.device.gpus;
        comm::together(ranks(), [&] { // some would wait for one that has not its GPU
            if (on_gpu() && static_cast<std::size_t>(gpus.front()) >= cuda::devices().size())
                cuda::use_device(gpus.front()); // says why it cannot
        });
        auto with = options;
        if (!own_rows || on_gpu()) with.communicator = CommunicatorAccess::with_everything(with.communicator);
        if (ranks() != nullptr && !divides_itself(*choice.method, problem, choice.device))
            return make_target_share(*choice.method, problem, with, choice.device);
        auto made = choice.method->make(problem, with, choice.device);
        return own_rows && on_gpu() ? cuda::make_own_rows(std::move(made), problem, options, gpus.front())
                                    : std::move(made);
    }

    [[nodiscard]] bool on_gpu() const { return choice.device.kind == DeviceKind::cuda; }

    /// What this process gives and gets of the problem.
    [[nodiscard]] SumProblem here() const { return own_rows ? of_ranks->own(problem) : problem; }

    // True where it was open and is not double.
    bool settle_precision(Precision precision) {
        const bool open = options.precision == Precision::automatic && precision != Precision::float64;
        options.precision = problem.precision = precision;
        return open;
    }

    void go_double() {
        may_go_double = false;
        settle_precision(Precision::float64);
        predicted_bytes = bytes_alike();
        sum.reset();
        sum = made();
    }

    // 4. Points come in.
    void prepare(const ConstArrayView& sources, const ConstArrayView& targets) {
        std::optional<Stopwatch> watch;
        if (problem.times_its_parts()) watch.emplace();
        check_points(sources, "sources", problem.dimension);
        check_count(own_rows ? of_ranks->source_view() : sources, problem.sources, "sources");
        if (!problem.self) {
            check_points(targets, "targets", problem.dimension);
            check_count(own_rows ? of_ranks->target_view() : targets, problem.targets, "targets");
        }
        has_points = false;
        prepare_seconds = watch ? watch->lap() : 0.0;
        points.kept = compares && !all_compared();
        if (points.kept) keep_points(points, sources, targets);
        keep_seconds = watch ? watch->lap() : 0.0;
        look_at_float_range(sources, targets);
        sum->set_points(sources, targets);
        has_points = true;
        prepare_seconds += watch ? watch->lap() : 0.0;
    }

    void keep_points(PlanPoints& to, const ConstArrayView& sources, const ConstArrayView& targets) const {
        const int threads = thread_count(options.threads);
        to.sources.keep(threads, sources, sources.shape[0], problem.dimension, options.stream);
        if (!problem.self)
            to.targets.keep(threads, targets, targets.shape[0], problem.dimension, options.stream);
    }

    // Sums on the CPU look for themselves, unless there is a choice; for GPUs only what lies in the memory of
    // the host is looked at.
    void look_at_float_range(const ConstArrayView& sources, const ConstArrayView& targets) {
        const auto on_host = [](const ConstArrayView& view) { return view.device.type == DeviceType::cpu; };
        if (options.precision == Precision::float64 || !problem.kernel->singular) return;
        if (choice.device.kind == DeviceKind::cpu && !may_go_double) return;
        if (problem.dimension != 3) return;
        const bool elsewhere = !on_host(sources) || (!problem.self && !on_host(targets));
        if (own_rows ? comm::any_rank(*ranks(), elsewhere) : elsewhere) return;
        PlanPoints copies;
        if (!points.kept) keep_points(copies, sources, targets);
        auto& at = points.kept ? points : copies;
        const auto from = at.sources.on_host(), to = at.targets.on_host();
        const int threads = own_rows && on_gpu() ? thread_count(options.threads) : 1;
        if (need_double(own_rows ? ranks() : nullptr, from, to, options.softening, options.precision,
                        may_go_double, threads))
            go_double();
    }

    // Each output is compared once a plan.
    [[nodiscard]] bool is_compared(Output output) const {
        return std::any_of(errors.begin(), errors.end(),
                           [&](const OutputError& error) { return error.output == output; });
    }
    [[nodiscard]] bool all_compared() const { return errors.size() == problem.kernel->outputs.size(); }

    /// The outputs of one vector of strengths that are to be compared, as they were computed.
    [[nodiscard]] std::vector<OutputError> errors_of(const SumStrengths& strengths,
                                                     const SumOutputs& outputs) {
        const auto own = here();
        std::vector<std::vector<double>> values;
        std::vector<ComputedOutput> computed;
        values.reserve(problem.kernel->outputs.size());
        for (const auto& info : problem.kernel->outputs) {
            const auto& view = outputs.of(info.output);
            if (!view || is_compared(info.output)) continue;
            values.push_back(
                cuda::host_copy(view, own.targets, problem.kernel->width(info, problem.dimension)));
            computed.push_back({info.output, values.back()});
        }
        if (computed.empty()) return {};
        const auto q = cuda::host_copy(strengths.charges, own.sources, problem.kernel->strength.columns);
        std::vector<double> dipoles;
        if (strengths.dipoles) dipoles = cuda::host_copy(strengths.dipoles, own.sources, problem.dimension);
        return verify({.problem = &problem,
                       .sources = points.sources.on_host(),
                       .targets = points.targets.on_host(),
                       .strengths = q,
                       .threads = thread_count(options.threads),
                       .dipoles = dipoles,
                       .ranks = own_rows ? ranks() : nullptr,
                       .sharing = own_rows ? nullptr : ranks()},
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
            if (improve(largest(worst))) {
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

    bool improve(double error) {
        has_points = false; // while it is prepared again
        const bool refined = !(error <= kept_share * options.tolerance) && sum->refine(error);
        const bool in_double = !refined && may_go_double && error > options.tolerance;
        if (in_double) {
            go_double();
            sum->set_points(points_view(points.sources.on_host()),
                            problem.self ? ConstArrayView{} : points_view(points.targets.on_host()));
        }
        has_points = true;
        return refined || in_double;
    }
    [[nodiscard]] ConstArrayView points_view(std::span<const double> of) const {
        return matrix_view(of, problem.dimension); // of no points, too
    }

    // Infinite where one is not a number.
    [[nodiscard]] static double largest(const std::vector<OutputError>& found) {
        double out = 0.0;
        for (const auto& error : found) out = error.relative <= out ? out : error.relative;
        return std::isnan(out) ? HUGE_VAL : out;
    }

    // The errors of the outputs that were not compared yet; of several vectors of strengths the worst counts.
    [[nodiscard]] std::vector<OutputError> worst_errors(const SumStrengths& strengths,
                                                        const SumOutputs& outputs, std::int64_t vectors) {
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
        const auto rows = here().sources; // of none there is a view, too
        no_charges.assign(static_cast<std::size_t>(std::max<std::int64_t>(rows, 1) * vectors), 0.0);
        strengths.charges = matrix_view(std::span<const double>(no_charges), vectors);
        strengths.charges.shape[0] = rows;
        return strengths;
    }

    // 5. Methods that take one vector of strengths are called for each.
    void compute(const SumStrengths& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 std::int64_t vectors) {
        const bool at_once =
            choice.method->many_vectors != nullptr && choice.method->many_vectors(*problem.kernel);
        const auto calls = at_once ? 1 : vectors;
        if (calls == 1) return compute_once(strengths, outputs, hooks, report);
        const auto fresh = report;
        for (std::int64_t v = 0; v < calls; ++v) {
            auto one = fresh;
            auto shared = hooks;
            if (hooks.progress)
                shared.progress = [&, v](double share) {
                    hooks.progress((static_cast<double>(v) + share) / static_cast<double>(calls));
                };
            // rows that are computed again ask for a stop by themselves, and more sums follow
            comm::together(ranks(), [&] {
                compute_once(strengths_of_vector(problem, strengths, v),
                             outputs_of_vector(problem, outputs, v), shared, one);
            });
            one.prepare_seconds += report.prepare_seconds;
            one.compute_seconds += report.compute_seconds;
            one.finish_seconds += report.finish_seconds;
            one.direct.coincident_pairs_skipped += report.direct.coincident_pairs_skipped;
            one.verify_seconds += report.verify_seconds - fresh.verify_seconds;
            keep_worse(one.bounds, report.bounds);
            report = one;
        }
    }

    [[nodiscard]] std::optional<double> energy(const SumStrengths& strengths,
                                               const SumOutputs& outputs) const {
        const auto own = here();
        const auto mine = energy_of(own, strengths, outputs);
        if (!own_rows) return mine;
        const bool missing = own.sources > 0 && !mine; // arrays on a GPU
        if (comm::any_rank(*ranks(), missing) || !comm::any_rank(*ranks(), mine.has_value()))
            return std::nullopt;
        return comm::sum_of_ranks(*ranks(), mine.value_or(0.0));
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

// Ranks with points of their own come together first, unless the method takes each rank's.
std::unique_ptr<SumPlan::Impl> SumPlan::Impl::of(const SumOptions& options, const ConstArrayView& sources,
                                                 const ConstArrayView* targets) {
    auto* ranks = CommunicatorAccess::transport(options.communicator);
    if (!CommunicatorAccess::gives_own(options.communicator)) {
        auto plan = std::make_unique<Impl>(options, sources, targets, gpu_of(sources, targets));
        plan->prepare(sources, targets != nullptr ? *targets : ConstArrayView{});
        return plan;
    }
    check_options(options);
    const PointsOfRanks all(*ranks, sources, targets);
    const auto all_targets = all.target_view();
    auto array_gpu = gpu_of(sources, targets);
    if (comm::any_rank(*ranks, array_gpu.has_value()) && !array_gpu)
        array_gpu = gpu_of_rank(options.communicator).gpus.front();
    auto plan = std::make_unique<Impl>(options, all.source_view(),
                                       targets != nullptr ? &all_targets : nullptr, array_gpu);
    plan->take(all, sources, targets);
    return plan;
}

SumPlan::SumPlan(ConstArrayView sources, const SumOptions& options)
    : impl_(Impl::of(options, sources, nullptr)) {}

SumPlan::SumPlan(ConstArrayView sources, ConstArrayView targets, const SumOptions& options)
    : impl_(Impl::of(options, sources, &targets)) {}

void SumPlanAccess::leave_comparing_to_caller(SumPlan& plan) {
    plan.impl_->compares = false;
    plan.impl_->points = {};
}

void SumPlanAccess::number_sources(SumPlan& plan, std::span<const std::int64_t> numbers) {
    plan.impl_->sum->number_sources(numbers);
}

Homes SumPlanAccess::homes(const SumPlan& plan) { return plan.impl_->sum->homes(); }

SumPlan::SumPlan(SumPlan&&) noexcept = default;
SumPlan& SumPlan::operator=(SumPlan&&) noexcept = default;
SumPlan::~SumPlan() = default;

void SumPlan::Impl::take(const PointsOfRanks& counted, const ConstArrayView& sources,
                         const ConstArrayView* targets) {
    has_points = false; // until all has gone well
    of_ranks = counted;
    if (own_rows && on_gpu()) return prepare(sources, targets != nullptr ? *targets : ConstArrayView{});
    comm::together(ranks(), [&] { cuda::wait_for_stream(options.stream); }); // the host reads
    if (own_rows) {
        std::vector<double> copies[2];
        const int threads = thread_count(options.threads);
        const auto own = of_ranks->own_sources(*ranks(), sources, threads, copies[0]);
        return prepare(own, targets != nullptr ? of_ranks->own_targets(*ranks(), *targets, threads, copies[1])
                                               : ConstArrayView{});
    }
    of_ranks->gather(*ranks(), sources, targets);
    prepare(of_ranks->source_view(), targets != nullptr ? of_ranks->target_view() : ConstArrayView{});
}

void SumPlan::Impl::update(const ConstArrayView& sources, const ConstArrayView* targets) {
    if (!of_ranks) return prepare(sources, targets != nullptr ? *targets : ConstArrayView{});
    take({*ranks(), sources, targets}, sources, targets);
}

void SumPlan::update(ConstArrayView sources) {
    if (!impl_->problem.self)
        throw InvalidArgument("targets: the plan has targets of its own; update them, too");
    impl_->update(sources, nullptr);
}

void SumPlan::update(ConstArrayView sources, ConstArrayView targets) {
    if (impl_->problem.self)
        throw InvalidArgument(
            "targets: the plan's targets are its sources; make a plan with separate targets");
    impl_->update(sources, &targets);
}

void SumPlan::execute(ConstArrayView strengths, const SumOutputs& outputs, const SumHooks& hooks) {
    execute(SumStrengths{.charges = strengths}, outputs, hooks);
}

void SumPlan::execute(const SumStrengths& given, const SumOutputs& outputs, const SumHooks& hooks) {
    auto& plan = *impl_;
    if (!plan.has_points)
        throw InvalidArgument("the plan has no points: its last update failed; update it again");
    if (!plan.of_ranks) return plan.execute(given, outputs, hooks);
    if (!(plan.own_rows && plan.on_gpu()))
        comm::together(plan.ranks(), [&] { cuda::wait_for_stream(plan.options.stream); }); // the host reads
    if (plan.own_rows) {
        const OwnExecution own(*plan.ranks(), *plan.of_ranks, plan.problem,
                               thread_count(plan.options.threads), given, outputs, plan.on_gpu());
        return plan.execute(own.strengths(), own.outputs(), hooks);
    }
    const ExecutionOfRanks all(*plan.ranks(), *plan.of_ranks, plan.problem, given, outputs);
    plan.execute(all.strengths(), all.outputs(), hooks);
    all.keep_own();
}

void SumPlan::Impl::execute(const SumStrengths& given, const SumOutputs& outputs, const SumHooks& hooks) {
    const auto vectors = check_arrays(here(), given, outputs);
    check_device(*choice.method, choice.device, outputs.present(), static_cast<bool>(given.dipoles));
    const auto strengths = with_charges(given, vectors);
    report.verify_seconds = std::exchange(keep_seconds, 0.0);
    clear_report();
    compute(strengths, outputs, hooks, vectors);
    verify_once(strengths, outputs, hooks, vectors);
    if (vectors == 1) report.energy = energy(strengths, outputs);
    if (report.passes.empty()) report.passes.push_back({"pairs", report.compute_seconds}); // one pass
    report.prepare_seconds += prepare_seconds;
    report.direct.pairs = vectors * problem.pairs();
    if (report.compute_seconds > 0.0)
        report.direct.pairs_per_second = static_cast<double>(report.direct.pairs) / report.compute_seconds;
}

const SumReport& SumPlan::report() const { return impl_->report; }
const SumOptions& SumPlan::options() const { return impl_->options; }

} // namespace farfield
