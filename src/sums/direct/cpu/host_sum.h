// A prepared sum on the CPU from a class that computes on contiguous doubles: reads the caller's arrays and
// writes the results.
#pragma once

#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "base/work_array.h"
#include "sums/direct/cpu/direct.h"
#include "sums/method/method.h"
#include "sums/points/read.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace farfield {

/// `Sum` has set_points(sources, targets), threads(), set_float_outputs(outputs), compute(strengths, dipoles,
/// results, report, hooks) and refine(error).
template <class Sum>
class HostSum : public PreparedSum {
public:
    HostSum(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), sum_(problem, options) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const int threads = sum_.threads();
        sources_ = sources.shape[0];
        targets_ = problem_.self ? sources_ : targets.shape[0];
        sum_.set_points(read_points_on(threads, sources, "sources"),
                        problem_.self ? RawVector<double>() : read_points_on(threads, targets, "targets"));
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        execute_with_dipoles(strengths, {}, outputs, hooks, report);
    }

    void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        Stopwatch watch;
        read_values_on(sum_.threads(), strengths, sources_, "strengths", strengths_);
        dipoles_.clear();
        if (dipoles) read_values_on(sum_.threads(), dipoles, sources_, "dipoles", dipoles_, 3);
        if (outputs.potential) require_host(outputs.potential, "potential");
        if (outputs.field) require_host(outputs.field, "field");
        if (outputs.hessian) require_host(outputs.hessian, "hessian");
        const DirectResults results{.potential = place_of(outputs.potential, 1, potential_),
                                    .field = place_of(outputs.field, 3, field_),
                                    .hessian = place_of(outputs.hessian, 6, hessian_)};
        sum_.set_float_outputs(float_outputs(outputs));
        const double read_seconds = watch.lap();
        sum_.compute(strengths_, dipoles_, results, report, hooks);
        report.prepare_seconds += read_seconds;
        watch.lap();
        const auto write = [&](const ArrayView& view, const double* values, std::int64_t columns) {
            if (values == nullptr || values == view.data) return;
            parallel_parts(
                report.threads, static_cast<std::size_t>(targets_), [&](std::size_t begin, std::size_t end) {
                    const auto first = static_cast<std::int64_t>(begin);
                    const auto rows = static_cast<std::int64_t>(end) - first;
                    write_values(rows_of(view, first, rows), values + first * columns, rows, columns);
                });
        };
        write(outputs.potential, results.potential, 1);
        write(outputs.field, results.field, 3);
        write(outputs.hessian, results.hessian, 6);
        report.finish_seconds += watch.lap();
    }

    bool refine(double error) override { return sum_.refine(error); }

    void number_sources(std::span<const std::int64_t> numbers) override {
        if constexpr (requires { sum_.number_sources(numbers); }) sum_.number_sources(numbers);
    }

    [[nodiscard]] Homes homes() const override {
        if constexpr (requires { sum_.homes(); })
            return sum_.homes();
        else
            return {};
    }

private:
    /// Where an output is computed: where the caller has it, if that is an array as `Sum` wants it. Null for
    /// none.
    double* place_of(const ArrayView& view, std::int64_t columns, WorkArray& ours) const {
        if (!view) return nullptr;
        if (view.dtype == DType::float64 && is_contiguous(view, targets_, columns))
            return static_cast<double*>(view.data);
        return ours.take(static_cast<std::size_t>(columns * targets_));
    }

    static OutputSet float_outputs(const SumOutputs& outputs) {
        OutputSet set;
        for (const auto output : {Output::potential, Output::field, Output::hessian})
            if (outputs.of(output) && outputs.of(output).dtype == DType::float32) set |= output;
        return set;
    }

    SumProblem problem_;
    std::int64_t sources_ = 0, targets_ = 0; ///< that were given, which are all or a rank's own
    Sum sum_;
    RawVector<double> strengths_, dipoles_; ///< of the execution; their memory serves the next
    WorkArray potential_, field_, hessian_; ///< of the execution, too
};

} // namespace farfield
