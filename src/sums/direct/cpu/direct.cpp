#include "sums/direct/cpu/direct.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/common/repair.h"
#include "sums/direct/cpu/variants.h"
#include "sums/kernels/kernel.h"
#include "sums/points/float_range.h"
#include "sums/points/rescale.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

bool is_scalar_rung(Variant variant) { return variant == Variant::naive || variant == Variant::soa; }

} // namespace

DirectSum::DirectSum(const SumOptions& options, bool self) : options_(options), self_(self) {
    if (is_for_gpus_only(options.variant))
        throw InvalidArgument(fmt::format(
            "{} is a rung for GPUs; use {}, or 'auto', 'naive', 'soa', 'simd' or 'symmetric' on the "
            "CPU",
            spelled("variant", name_of(options.variant)), spelled("device", "cuda")));
    if (options.variant == Variant::symmetric && !self)
        throw InvalidArgument(spelled("variant", "symmetric") +
                              " computes each pair once and needs targets = sources; use 'auto' or 'simd' "
                              "with separate targets");
    if (is_scalar_rung(options.variant)) {
        if (options.isa != Isa::automatic && options.isa != Isa::scalar)
            throw InvalidArgument(
                fmt::format("{} is scalar code and cannot use {}; use 'simd' or 'symmetric', or leave {} at "
                            "'auto'",
                            spelled("variant", name_of(options.variant)),
                            spelled("isa", name_of(options.isa)), spelled("isa")));
        options_.isa = Isa::scalar;
        options_.threads = 1;
    }
    options_.isa = resolve_isa(options_.isa);
}

void DirectSum::set_sources(std::vector<double> sources) {
    sources_ = std::move(sources);
    prepare();
}

void DirectSum::set_points(std::vector<double> sources, std::vector<double> targets) {
    sources_ = std::move(sources);
    targets_ = std::move(targets);
    prepare();
}

void DirectSum::prepare() {
    frame_ = choose_frame(sources_, targets_, options_.softening);
    require_float_range(sources_, self_ ? std::span<const double>{} : targets_, frame_, options_.softening,
                        options_.precision);
    const auto set = [&](auto& prepared, bool with_low) {
        prepared.sources.set(sources_, frame_, with_low);
        if (!self_) prepared.targets.set(targets_, frame_, with_low);
    };
    if (options_.precision == Precision::float64)
        set(as_double_, false);
    else
        set(as_float_, options_.precision == Precision::mixed);
}

const KernelInfo& DirectSum::kernel() const { return kernel_info(options_.kernel); }

void DirectSum::rescale(const DirectResults& results, std::int64_t m, int strength_exponent) const {
    const auto apply = [&](Output output, double* values, std::int64_t n) {
        if (values == nullptr) return;
        rescale_values(values, n, kernel().sign,
                       kernel().result_exponent(output, frame_.exponent, strength_exponent));
    };
    apply(Output::potential, results.potential, m);
    apply(Output::field, results.field, 3 * m);
    apply(Output::hessian, results.hessian, 6 * m);
}

template <class T>
std::int64_t DirectSum::repair(const Prepared<T>& prepared, const DirectResults& results,
                               int strength_exponent, int threads, const SumHooks& hooks) const {
    const auto& targets = targets_of(prepared);
    const auto source_points = prepared.sources.seen_points();
    const auto strengths = prepared.sources.seen_strengths();
    const auto dipoles = prepared.sources.seen_dipoles();
    const auto target_points = targets.seen_points();
    return repair_rows({.sources = prepared.sources.count(),
                        .targets = targets.count(),
                        .source_points = source_points.data(),
                        .strengths = strengths.data(),
                        .dipoles = dipoles.empty() ? nullptr : dipoles.data(),
                        .target_points = target_points.data(),
                        .self = self_,
                        .softening = std::ldexp(options_.softening, frame_.exponent),
                        .frame_exponent = frame_.exponent,
                        .strength_exponent = strength_exponent,
                        .sign = kernel().sign,
                        .precision = options_.precision,
                        .coincident = options_.coincident,
                        .threads = threads,
                        .stop_requested = hooks.stop_requested,
                        .potential = results.potential,
                        .field = results.field,
                        .hessian = results.hessian});
}

namespace {

bool is_finite(const double* values, std::int64_t n) {
    bool finite = true;
    for (std::int64_t i = 0; values != nullptr && i < n; ++i) finite = finite && std::isfinite(values[i]);
    return finite;
}

LoopOutputs outputs_of(const DirectResults& results) {
    return static_cast<LoopOutputs>((results.potential != nullptr ? potential_only : 0) |
                                    (results.field != nullptr ? field_only : 0) |
                                    (results.hessian != nullptr ? hessian_too : 0));
}

/// From one component after the other to rows.
void to_rows(const double* components, std::int64_t m, std::int64_t width, double* rows) {
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t k = 0; k < width; ++k) rows[width * i + k] = components[k * m + i];
}

} // namespace

int DirectSum::threads(Variant variant, std::int64_t sources, std::int64_t targets) const {
    if (options_.threads > 0) return options_.threads;
    if (targets <= targets_of_a_task) return 1;
    const auto& table = cost_table_in_use().table;
    const auto rate =
        direct_cost::cpu_pairs_per_second(options_.isa, options_.precision, variant == Variant::symmetric);
    const double pairs = static_cast<double>(sources) * static_cast<double>(targets);
    return threads_for(0, pairs / cost_of(table, rate), table);
}

template <class T>
void DirectSum::compute_as(Prepared<T>& prepared, std::span<const double> strengths,
                           const DirectResults& results, SumReport& report, LapWatch& watch,
                           const SumHooks& hooks, std::span<const double> dipoles) {
    const int exponent = strength_exponent(strengths, dipoles, frame_.exponent);
    prepared.sources.set_strengths(strengths, exponent);
    prepared.sources.set_dipoles(dipoles, exponent + frame_.exponent);
    const bool rare = results.hessian != nullptr || !dipoles.empty();
    const auto& targets = targets_of(prepared);
    const auto m = targets.count();
    report.isa = options_.isa;
    report.device = {.kind = DeviceKind::cpu};
    report.direct.variant = options_.variant == Variant::automatic
                                ? rare ? Variant::simd : fastest_variant(self_, prepared.sources.count())
                                : options_.variant;
    report.threads = threads(report.direct.variant, prepared.sources.count(), m);
    const std::int64_t fields = results.field != nullptr ? 3 : 0;
    const std::int64_t hessians = results.hessian != nullptr ? 6 : 0;
    components_.assign(static_cast<std::size_t>((fields + hessians) * m), 0.0);
    TileSums sums{.potential = results.potential};
    if (results.potential != nullptr && rare) std::fill_n(results.potential, m, 0.0);
    for (std::int64_t k = 0; k < fields; ++k) sums.field[k] = components_.data() + k * m;
    for (std::int64_t k = 0; k < hessians; ++k) sums.hessian[k] = components_.data() + (fields + k) * m;
    report.prepare_seconds = watch.lap();
    run_watched({.variant = report.direct.variant,
                 .isa = options_.isa,
                 .precision = options_.precision,
                 .outputs = outputs_of(results),
                 .threads = report.threads,
                 .self = self_,
                 .softening = std::ldexp(options_.softening, frame_.exponent),
                 .targets = targets.view(),
                 .sources = prepared.sources.view(),
                 .sums = sums,
                 .ranks = CommunicatorAccess::transport(options_.communicator)},
                hooks);
    report.compute_seconds = watch.lap();
    if (fields > 0) to_rows(components_.data(), m, fields, results.field);
    if (hessians > 0) to_rows(components_.data() + fields * m, m, hessians, results.hessian);
    rescale(results, m, exponent);
    if (!is_finite(results.potential, m) || !is_finite(results.field, 3 * m) ||
        !is_finite(results.hessian, 6 * m))
        report.direct.coincident_pairs_skipped =
            repair(prepared, results, exponent, thread_count(options_.threads), hooks);
    report.finish_seconds = watch.lap();
}

void DirectSum::require_able(const DirectResults& results, bool dipoles) const {
    const bool any = options_.variant == Variant::automatic || options_.variant == Variant::simd;
    if (any || (results.hessian == nullptr && !dipoles)) return;
    throw InvalidArgument(fmt::format("{} has no {}; leave it out",
                                      spelled("variant", name_of(options_.variant)),
                                      dipoles ? "dipoles" : "output 'hessian'"));
}

void DirectSum::compute(std::span<const double> strengths, const DirectResults& results, SumReport& report,
                        LapWatch& watch, const SumHooks& hooks, std::span<const double> dipoles) {
    require_able(results, !dipoles.empty());
    if (options_.precision == Precision::float64)
        compute_as(as_double_, strengths, results, report, watch, hooks, dipoles);
    else
        compute_as(as_float_, strengths, results, report, watch, hooks, dipoles);
}

} // namespace farfield
