// SumPlan: checks what the caller gives, settles where the sum runs, and runs it there.
#include "base/arrays.h"
#include "base/names.h"
#include "sums/direct/cuda/gpu_sum.h"
#include "sums/direct/direct.h"
#include "sums/select/device.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>

namespace farfield {
namespace {

class Stopwatch {
public:
    /// Seconds since construction or the last lap.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const double seconds = std::chrono::duration<double>(now - start_).count();
        start_ = now;
        return seconds;
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class Enum>
void check_enum(Enum value, std::string_view what) {
    if (static_cast<std::size_t>(value) >= names_of<Enum>().size())
        throw InvalidArgument(fmt::format("{}: {} is not one of its values", what, static_cast<int>(value)));
}

void check_options(const SumOptions& options) {
    check_enum(options.kernel, "kernel");
    check_enum(options.method, "method");
    check_enum(options.precision, "precision");
    check_enum(options.coincident, "coincident");
    check_enum(options.isa, "isa");
    check_enum(options.variant, "variant");
    check_enum(options.multi_gpu, "multi_gpu");
    check_enum(options.exchange, "exchange");
    if (!std::isfinite(options.softening) || options.softening < 0.0)
        throw InvalidArgument(fmt::format(
            "softening is {}; it must be finite and ≥ 0, in the length unit of the points (0 = none)",
            options.softening));
    if (options.threads < 0)
        throw InvalidArgument(fmt::format(
            "threads is {}; it must be ≥ 1, or 0 for as many as OpenMP would use", options.threads));
}

} // namespace

struct SumPlan::Impl {
    SumOptions options;
    SumReport report;
    bool self;
    std::int64_t sources = 0;
    std::int64_t targets = 0;
    double prepare_seconds = 0.0;
    std::string cost_table;       ///< hash of the one that chose the device
    std::optional<DirectSum> cpu; // one of the two
    std::optional<cuda::GpuSum> gpu;

    Impl(const SumOptions& wanted, const ConstArrayView& source_view, const ConstArrayView* target_view)
        : options(wanted), self(target_view == nullptr), sources(source_view.shape[0]),
          targets(self ? sources : target_view->shape[0]) {
        check_options(options);
        const auto chosen = choose_device(
            options, self, cost_of_sum(static_cast<double>(sources), static_cast<double>(targets), self),
            gpu_of(source_view, target_view));
        cost_table = chosen.cost_table;
        if (chosen.device.kind == DeviceKind::cpu)
            cpu.emplace(options, self);
        else
            gpu.emplace(options, chosen.device.gpus, self);
    }

    // The GPU of the first array that lies on one.
    static std::optional<int> gpu_of(const ConstArrayView& source_view, const ConstArrayView* target_view) {
        if (source_view.device.type == DeviceType::cuda) return source_view.device.index;
        if (target_view != nullptr && target_view->device.type == DeviceType::cuda)
            return target_view->device.index;
        return std::nullopt;
    }
};

SumPlan::SumPlan(ConstArrayView sources, const SumOptions& options)
    : impl_(std::make_unique<Impl>(options, sources, nullptr)) {
    update(sources);
}

SumPlan::SumPlan(ConstArrayView sources, ConstArrayView targets, const SumOptions& options)
    : impl_(std::make_unique<Impl>(options, sources, &targets)) {
    update(sources, targets);
}

SumPlan::SumPlan(SumPlan&&) noexcept = default;
SumPlan& SumPlan::operator=(SumPlan&&) noexcept = default;
SumPlan::~SumPlan() = default;

namespace {

void check_count(const ConstArrayView& view, std::int64_t expected, std::string_view what) {
    if (view.shape[0] != expected)
        throw InvalidArgument(fmt::format("{}: {} rows, but the plan was made for {}; make a new plan", what,
                                          view.shape[0], expected));
}

} // namespace

void SumPlan::update(ConstArrayView sources) {
    Stopwatch watch;
    check_points(sources, "sources");
    check_count(sources, impl_->sources, "sources");
    if (impl_->gpu)
        impl_->gpu->set_points(sources, {});
    else
        impl_->cpu->set_sources(read_points(sources, "sources"));
    impl_->prepare_seconds = watch.lap();
}

void SumPlan::update(ConstArrayView sources, ConstArrayView targets) {
    if (impl_->self)
        throw InvalidArgument(
            "targets: the plan's targets are its sources; make a plan with separate targets");
    Stopwatch watch;
    check_points(sources, "sources");
    check_points(targets, "targets");
    check_count(sources, impl_->sources, "sources");
    check_count(targets, impl_->targets, "targets");
    if (impl_->gpu) {
        impl_->gpu->set_points(sources, targets);
    } else {
        auto source_points = read_points(sources, "sources");
        impl_->cpu->set_points(std::move(source_points), read_points(targets, "targets"));
    }
    impl_->prepare_seconds = watch.lap();
}

namespace {

// Host arrays in and out of the CPU's sum.
void execute_on_cpu(DirectSum& direct, ConstArrayView strengths, const SumOutputs& outputs,
                    SumReport& report) {
    Stopwatch watch;
    const auto m = report.targets;
    const auto q = read_values(strengths, report.sources, "strengths");
    if (outputs.potential) require_host(outputs.potential, "potential");
    if (outputs.field) require_host(outputs.field, "field");
    std::vector<double> potential(outputs.potential ? static_cast<std::size_t>(m) : 0);
    std::vector<double> field(outputs.field ? static_cast<std::size_t>(3 * m) : 0);
    const double copy_seconds = watch.lap();
    direct.compute(q, outputs.potential ? potential.data() : nullptr, outputs.field ? field.data() : nullptr,
                   report);
    watch.lap();
    if (outputs.potential) write_values(outputs.potential, potential.data(), m, 1);
    if (outputs.field) write_values(outputs.field, field.data(), m, 3);
    report.prepare_seconds += copy_seconds;
    report.finish_seconds += watch.lap();
}

} // namespace

void SumPlan::execute(ConstArrayView strengths, const SumOutputs& outputs) {
    const auto n = impl_->sources;
    const auto m = impl_->targets;
    check_values(strengths, n, "strengths");
    if (outputs.potential) check_output(outputs.potential, m, 1, "potential");
    if (outputs.field) check_output(outputs.field, m, 3, "field");
    SumReport report;
    report.sources = n;
    report.targets = m;
    report.pairs = impl_->self ? n * (n - 1) : n * m;
    report.precision = impl_->options.precision;
    report.cost_table = impl_->cost_table;
    if (impl_->gpu)
        impl_->gpu->compute(strengths, outputs, report);
    else
        execute_on_cpu(*impl_->cpu, strengths, outputs, report);
    report.prepare_seconds += impl_->prepare_seconds;
    if (report.compute_seconds > 0.0)
        report.pairs_per_second = static_cast<double>(report.pairs) / report.compute_seconds;
    impl_->report = report;
}

const SumReport& SumPlan::report() const { return impl_->report; }
const SumOptions& SumPlan::options() const { return impl_->options; }

namespace {

SumResult execute_once(SumPlan& plan, ConstArrayView strengths, std::int64_t targets, SumWanted wanted) {
    SumResult result;
    if (wanted.potential) result.potential.resize(static_cast<std::size_t>(targets));
    if (wanted.field) result.field.resize(static_cast<std::size_t>(3 * targets));
    plan.execute(strengths, {.potential = std::span<double>(result.potential),
                             .field = matrix_view(std::span<double>(result.field), 3)});
    result.report = plan.report();
    return result;
}

} // namespace

SumResult sum(ConstArrayView sources, ConstArrayView strengths, const SumOptions& options, SumWanted wanted) {
    SumPlan plan(sources, options);
    return execute_once(plan, strengths, sources.shape[0], wanted);
}

SumResult sum(ConstArrayView sources, ConstArrayView targets, ConstArrayView strengths,
              const SumOptions& options, SumWanted wanted) {
    SumPlan plan(sources, targets, options);
    return execute_once(plan, strengths, targets.shape[0], wanted);
}

} // namespace farfield
