#include "sums/direct/plane/plane_sum.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/work_watch.h"
#include "base/arrays.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/variants.h"
#include "sums/direct/plane/plane_results.h"
#include "sums/points/float_range.h"
#include "sums/points/plane.h"
#include "sums/points/read.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace farfield {
namespace {

class PlaneSum : public PreparedSum {
public:
    PlaneSum(const SumProblem& problem, const SumOptions& options) : problem_(problem), options_(options) {
        if (options.variant == Variant::symmetric && !problem.self)
            throw InvalidArgument(spelled("variant", "symmetric") +
                                  " computes each pair once and needs targets = sources; use 'auto' or "
                                  "'simd' with separate targets");
        options_.isa = resolve_isa(options.isa);
        if (options.variant == Variant::automatic)
            options_.variant = fastest_variant(problem.self, problem.sources);
        options_.threads = threads();
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const int threads = options_.threads;
        sources_ = read_points_on(threads, sources, "sources", 2);
        if (!problem_.self) targets_ = read_points_on(threads, targets, "targets", 2);
        auto source_points = lifted(sources_, threads);
        auto target_points = lifted(targets_, threads);
        frame_ = choose_plane_frame(source_points, target_points, problem_.sigma, threads);
        require_float_range(source_points, target_points, frame_, 0.0, options_.precision, threads);
        const auto set = [&](auto& of_sources, auto& of_targets) {
            const bool with_low = options_.precision == Precision::mixed;
            of_sources.set(source_points, frame_, with_low);
            if (!problem_.self) of_targets.set(target_points, frame_, with_low);
        };
        if (options_.precision == Precision::float64)
            set(double_sources_, double_targets_);
        else
            set(float_sources_, float_targets_);
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        LapWatch watch(problem_.times_its_parts());
        if (outputs.potential) require_host(outputs.potential, "potential");
        if (outputs.field) require_host(outputs.field, "field");
        const int threads = options_.threads;
        const int columns_of_strength = problem_.kernel->strength.columns;
        read_values_on(threads, strengths, problem_.sources, "strengths", strengths_, columns_of_strength);
        const int exponent = strength_exponent(strengths_, {}, 0, threads);
        const bool is_complex = are_complex(strengths_, columns_of_strength, threads);
        const auto columns =
            strength_columns(strengths_, columns_of_strength, is_complex, exponent, {}, threads);
        const auto m = static_cast<std::size_t>(problem_.targets);
        sums_.assign(4 * m, 0.0);
        PlaneSums sums{.frame_exponent = frame_.exponent,
                       .strength_exponent = exponent,
                       .total = {sum_of(columns[0], threads), sum_of(columns[1], threads)}};
        if (outputs.potential) sums.sums.potential = sums_.data();
        if (outputs.potential && is_complex) sums.sums.potential_imaginary = sums_.data() + m;
        for (std::size_t axis = 0; axis < 2 && outputs.field; ++axis)
            sums.sums.field[axis] = sums_.data() + (2 + axis) * m;
        report.isa = options_.isa;
        report.device = {.kind = DeviceKind::cpu};
        report.direct.variant = options_.variant;
        report.threads = threads;
        report.prepare_seconds = watch.lap();
        if (options_.precision == Precision::float64)
            run(double_sources_, double_targets_, columns, sums.sums, hooks);
        else
            run(float_sources_, float_targets_, columns, sums.sums, hooks);
        report.compute_seconds = watch.lap();
        write(sums, outputs, report);
        const double rest = watch.last_lap();
        (problem_.times_its_parts() ? report.finish_seconds : report.compute_seconds) += rest;
    }

private:
    [[nodiscard]] int threads() const {
        if (options_.threads > 0) return options_.threads;
        if (problem_.targets <= targets_of_a_task) return 1;
        const auto& table = cost_table_in_use().table;
        auto alone = options_;
        alone.threads = 1;
        return threads_for(0, direct_seconds(problem_, alone, {}, table), table);
    }

    template <class T>
    void run(PreparedPoints<T>& sources, const PreparedPoints<T>& targets,
             const std::array<RawVector<double>, 2>& columns, const TileSums& sums, const SumHooks& hooks) {
        sources.set_strengths(columns[0], 0, options_.threads);
        sources.set_imaginary_strengths(columns[1], 0, options_.threads);
        const int outputs =
            (sums.potential != nullptr ? potential_only : 0) | (sums.field[0] != nullptr ? field_only : 0);
        if (outputs == 0) return;
        run_watched({.variant = options_.variant,
                     .isa = options_.isa,
                     .loop = problem_.kernel->loop,
                     .precision = options_.precision,
                     .outputs = static_cast<LoopOutputs>(outputs),
                     .threads = options_.threads,
                     .self = problem_.self,
                     .sigma = std::ldexp(problem_.sigma, frame_.exponent),
                     .targets = problem_.self ? sources.view() : targets.view(),
                     .sources = sources.view(),
                     .sums = sums,
                     .ranks = CommunicatorAccess::transport(options_.communicator)},
                    hooks);
    }

    void write(const PlaneSums& sums, const SumOutputs& outputs, SumReport& report) {
        const int columns = problem_.kernel->strength.columns;
        const auto m = static_cast<std::size_t>(problem_.targets);
        potential_.resize(outputs.potential ? static_cast<std::size_t>(columns) * m : 0);
        field_.resize(outputs.field ? 2 * m : 0);
        report.direct.coincident_pairs_skipped =
            write_plane_results(problem_,
                                {.sources = sources_.data(),
                                 .strengths = strengths_.data(),
                                 .targets = problem_.self ? sources_.data() : targets_.data()},
                                sums,
                                {.potential = outputs.potential ? potential_.data() : nullptr,
                                 .field = outputs.field ? field_.data() : nullptr},
                                options_.threads);
        if (outputs.potential) write_values(outputs.potential, potential_.data(), problem_.targets, columns);
        if (outputs.field) write_values(outputs.field, field_.data(), problem_.targets, 2);
    }

    SumProblem problem_;
    SumOptions options_;                              ///< ISA, variant and threads resolved
    RawVector<double> sources_, targets_, strengths_; ///< the caller's, N×2 and M×2
    Frame frame_;
    PreparedPoints<float> float_sources_, float_targets_; ///< by the precision one of the two is used
    PreparedPoints<double> double_sources_, double_targets_;
    std::vector<double> sums_, potential_, field_; ///< of the execution; their memory serves the next
};

} // namespace

std::string why_no_plane_sum(const SumOptions& options, const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda)
        return fmt::format("method 'direct' has no sums in the plane on a GPU yet; use {} or {}",
                           spelled("method", "fmm"), spelled("device", "cpu"));
    if (options.variant != Variant::automatic && options.variant != Variant::simd &&
        options.variant != Variant::symmetric)
        return fmt::format("{} has no loop for sums in the plane; use 'auto', 'simd' or 'symmetric'",
                           spelled("variant", name_of(options.variant)));
    return {};
}

std::unique_ptr<PreparedSum> make_plane_sum(const SumProblem& problem, const SumOptions& options) {
    return std::make_unique<PlaneSum>(problem, options);
}

} // namespace farfield
