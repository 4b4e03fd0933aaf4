// What sums in space over a tree on one GPU have in common: the caller's arrays, the frame that points are
// put into, and what happens around the passes of a method.
#pragma once

#include "backend/comm/agree.h"
#include "sums/direct/cuda/leave.cuh"
#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/direct/cuda/whole_rows_sum.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace farfield::cuda {

class FramedSum : public WholeRowsSum {
public:
    void execute(const ConstArrayView& strength_view, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        execute_with_dipoles(strength_view, {}, outputs, hooks, report);
    }

    void execute_with_dipoles(const ConstArrayView& strength_view, const ConstArrayView& dipole_view,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        stop_if_asked(hooks);
        int exponent = 0;
        comm::together(CommunicatorAccess::transport(options_.communicator), [&] {
            begin_execution(outputs, strength_view, dipole_view);
            describe(report);
            exponent = read_strengths(strength_view, dipole_view);
            potentials_at_ = outputs.potential ? place_of(outputs.potential, potential_, 1, rows()) : nullptr;
            fields_at_ = outputs.field ? place_of(outputs.field, field_, 3, rows()) : nullptr;
            hessians_at_ = outputs.hessian ? place_of(outputs.hessian, hessian_, 6, rows()) : nullptr;
            check(cudaMemsetAsync(not_finite_.data(), 0, sizeof(int), stream_), "clearing a flag");
        });
        const auto read_at = Clock::now();
        report.prepare_seconds = seconds_between(begin, read_at);
        const int wanted = (outputs.potential ? potential_only : 0) | (outputs.field ? field_only : 0) |
                           (outputs.hessian ? hessian_too : 0);
        if (wanted == 0) return;
        const bool finite = compute(wanted, exponent, report);
        if (!finite) report.direct.coincident_pairs_skipped = repair(exponent);
        if (potentials_at_ != nullptr && potentials_at_ == potential_.data())
            transfers_.write(potentials_at_, outputs.potential, rows(), 1, stream_);
        if (fields_at_ != nullptr && fields_at_ == field_.data())
            transfers_.write(fields_at_, outputs.field, rows(), 3, stream_);
        if (hessians_at_ != nullptr && hessians_at_ == hessian_.data())
            transfers_.write(hessians_at_, outputs.hessian, rows(), 6, stream_);
        report.finish_seconds = seconds_between(read_at, Clock::now()) - report.compute_seconds;
        if (hooks.progress) hooks.progress(1.0);
    }

protected:
    using WholeRowsSum::WholeRowsSum;

    /// What is known of the report before strengths are.
    virtual void describe(SumReport& report) const = 0;
    /// The sums, signed and scaled, at `potentials_at_`, `fields_at_` and `hessians_at_`. False where one is
    /// not finite. @param exponent  by which strengths count, as a power of two
    virtual bool compute(int wanted, int exponent, SumReport& report) = 0;

    /// Reads them and chooses the frame; the ranges of all points in it, or nothing if there are none.
    /// @param box  not null: the frame is that of points there
    std::optional<std::array<Extent, 3>> take_points(const ConstArrayView& sources,
                                                     const ConstArrayView& targets,
                                                     const std::array<Extent, 3>* box = nullptr) {
        stream_ = stream_for(sources, targets);
        const auto ranges = take_rows(sources, targets);
        frame_ = Frame{};
        if (problem_.sources + problem_.targets == 0) return std::nullopt;
        frame_ = choose_frame(box != nullptr ? *box : ranges, options_.softening);
        return framed(ranges, frame_);
    }

    /// In the frame.
    [[nodiscard]] double softening() const { return std::ldexp(options_.softening, frame_.exponent); }

    /// How sums of the kernel leave the frame.
    [[nodiscard]] FinishTask finish_task(int exponent) {
        const auto& kernel = *problem_.kernel;
        return {.potential = potentials_at_,
                .field = fields_at_,
                .sign = kernel.sign,
                .potential_exponent = kernel.result_exponent(Output::potential, frame_.exponent, exponent),
                .field_exponent = kernel.result_exponent(Output::field, frame_.exponent, exponent),
                .n = static_cast<int>(rows()),
                .not_finite = not_finite_.data()};
    }

    /// Waits for the passes. True where all sums are finite.
    bool all_finite() {
        int flag = 0;
        copy(&flag, not_finite_.data(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        return flag == 0;
    }

    /// Results that are not finite anew, as points meet there; how many pairs that left out.
    virtual std::int64_t repair(int exponent) {
        const auto n = static_cast<std::size_t>(problem_.sources);
        const auto m = static_cast<std::size_t>(problem_.targets);
        const auto first = static_cast<std::size_t>(first_row());
        const auto q = downloaded(strengths_, n, stream_);
        const Seen<double> from(downloaded(source_points_, 3 * n, stream_), q, frame_, exponent, false);
        const std::optional<Seen<double>> to =
            problem_.self
                ? std::nullopt
                : std::optional<Seen<double>>(std::in_place, downloaded(target_points_, 3 * m, stream_),
                                              std::vector<double>{}, frame_, 0, false);
        const auto from_gpu = [&](const double* from, std::size_t count) {
            std::vector<double> out(from == nullptr ? 0 : count);
            copy(out.data(), from, out.size(), stream_);
            check(cudaStreamSynchronize(stream_), "waiting for the GPU");
            return out;
        };
        // Rows of other ranks are 0, and left alone.
        const auto rows_of_all = [&](const double* results, std::size_t columns) {
            const auto own = from_gpu(results, columns * static_cast<std::size_t>(rows()));
            std::vector<double> all(own.empty() ? 0 : columns * m);
            std::copy(own.begin(), own.end(),
                      all.begin() + static_cast<std::ptrdiff_t>(own.empty() ? 0 : columns * first));
            return all;
        };
        auto phi = rows_of_all(potentials_at_, 1);
        auto e = rows_of_all(fields_at_, 3);
        auto hessian = rows_of_all(hessians_at_, 6);
        auto p = from_gpu(has_dipoles_ ? dipoles_.data() : nullptr, 3 * n);
        for (auto& component : p) component = std::ldexp(component, exponent + frame_.exponent);
        const auto skipped = repair_rows({.sources = problem_.sources,
                                          .targets = problem_.targets,
                                          .source_points = from.at.data(),
                                          .strengths = from.strengths.data(),
                                          .dipoles = p.empty() ? nullptr : p.data(),
                                          .target_points = problem_.self ? from.at.data() : to->at.data(),
                                          .self = problem_.self,
                                          .softening = softening(),
                                          .frame_exponent = frame_.exponent,
                                          .strength_exponent = exponent,
                                          .sign = problem_.kernel->sign,
                                          .precision = options_.precision,
                                          .coincident = options_.coincident,
                                          .threads = thread_count(options_.threads),
                                          .potential = phi.empty() ? nullptr : phi.data(),
                                          .field = e.empty() ? nullptr : e.data(),
                                          .hessian = hessian.empty() ? nullptr : hessian.data()});
        const auto back = [&](double* to, const std::vector<double>& all, std::size_t columns) {
            if (!all.empty())
                copy(to, all.data() + columns * first, columns * static_cast<std::size_t>(rows()), stream_);
        };
        back(potentials_at_, phi, 1);
        back(fields_at_, e, 3);
        back(hessians_at_, hessian, 6);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        return skipped;
    }

    Frame frame_;
    DeviceArray<double> strengths_, dipoles_; ///< as they were given, in double
    bool has_dipoles_ = false;                ///< in the execution at hand
    bool both_signs_ = false;                 ///< among its strengths
    double *potentials_at_ = nullptr, *fields_at_ = nullptr, *hessians_at_ = nullptr;

private:
    /// By which they count, as powers of two; dipoles by that of lengths as well.
    int read_strengths(const ConstArrayView& view, const ConstArrayView& dipoles) {
        if (!problem_.keeps_strengths || dipoles || !kept_exponent_) {
            const int exponent = read_new_strengths(view, dipoles);
            kept_exponent_.reset();
            if (!dipoles) kept_exponent_ = exponent;
            return exponent;
        }
        has_dipoles_ = false;
        return *kept_exponent_;
    }

    int read_new_strengths(const ConstArrayView& view, const ConstArrayView& dipoles) {
        const auto n = static_cast<std::size_t>(problem_.sources);
        const auto read = [&](const ConstArrayView& from, int columns, DeviceArray<double>& to,
                              std::string_view what) {
            make_room(to, std::max<std::size_t>(1, static_cast<std::size_t>(columns) * n));
            const auto result = transfers_.read(from, problem_.sources, columns, to.data(), what, stream_);
            if (result.bad >= 0) refuse_strength(what, result.bad / columns, result.bad_value);
            Extent all{0.0, 0.0};
            for (std::size_t k = 0; k < static_cast<std::size_t>(columns) && n > 0; ++k)
                all = {std::min(all.low, result.ranges[k].low), std::max(all.high, result.ranges[k].high)};
            return all;
        };
        const auto largest = [](const Extent& range) { return std::max(-range.low, range.high); };
        const auto strengths = read(view, 1, strengths_, "strengths");
        both_signs_ = strengths.low < 0.0 && strengths.high > 0.0;
        has_dipoles_ = static_cast<bool>(dipoles);
        if (!has_dipoles_) return n == 0 ? 0 : strength_exponent(largest(strengths));
        const auto moments = read(dipoles, 3, dipoles_, "dipoles");
        return n == 0 ? 0 : strength_exponent(largest(strengths), largest(moments), frame_.exponent);
    }

    DeviceArray<double> potential_, field_, hessian_; ///< where the caller's arrays are elsewhere, or strided

    std::optional<int> kept_exponent_; ///< of strengths that every execution has
};

} // namespace farfield::cuda
