// What sums of Gaussians on one GPU have in common: vectors of strengths one after the other, and results in
// the caller's arrays.
#pragma once

#include "sums/direct/cuda/on_one_gpu.cuh"
#include "sums/direct/gauss/gauss_points.h"
#include "sums/direct/gauss/gauss_results.h"
#include "sums/method/vectors.h"

#include <algorithm>
#include <cmath>

namespace farfield::cuda {

class GaussOnGpu : public OnOneGpu {
public:
    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        begin_execution(outputs, strengths);
        const auto vectors = gauss_vectors_of(strengths);
        for (std::int64_t v = 0; v < vectors; ++v) {
            stop_if_asked(hooks);
            const SumStrengths all{.charges = strengths, .dipoles = {}};
            execute_one(strengths_of_vector(problem_, all, v).charges,
                        outputs_of_vector(problem_, outputs, v), report);
            if (hooks.progress) hooks.progress(static_cast<double>(v + 1) / static_cast<double>(vectors));
        }
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        describe(report);
        report.finish_seconds =
            seconds_between(begin, Clock::now()) - report.compute_seconds - report.prepare_seconds;
    }

protected:
    using OnOneGpu::OnOneGpu;

    /// Writes the sums of `strengths_` to `potential_at_` and `gradient_at_`, of which one is not null. Sets
    /// `not_finite_`, which is 0, where a number is not finite. @pre there are targets
    virtual void compute(SumReport& report) = 0;
    virtual void describe(SumReport& report) const = 0;

    /// Points of any dimension, with their extent and frame. @throws InvalidArgument naming a row that is not
    /// finite, or for points that no frame holds.
    void read_sets(const ConstArrayView& sources, const ConstArrayView& targets) {
        for (auto& low : extent_.low) low = HUGE_VAL;
        for (auto& high : extent_.high) high = -HUGE_VAL;
        read_rows(sources, source_rows_, "sources");
        if (!problem_.self) read_rows(targets, target_rows_, "targets");
        for (std::size_t k = 0; k < most_dimensions; ++k)
            if (extent_.low[k] > extent_.high[k]) extent_.low[k] = extent_.high[k] = 0.0;
        frame_ = choose_gauss_frame(problem_, extent_);
        check_gpu_frame(problem_, frame_);
    }

    GaussExtent extent_;
    GaussFrame frame_;
    DeviceArray<double> source_rows_, target_rows_; ///< N×d and M×d as the caller gave them, in double
    DeviceArray<double> strengths_;                 ///< the same
    int exponent_ = 0;                              ///< of the strengths, as a power of two
    double *potential_at_ = nullptr, *gradient_at_ = nullptr;

private:
    /// Columns three at a time.
    void read_rows(const ConstArrayView& view, DeviceArray<double>& rows, std::string_view what) {
        const int d = problem_.dimension;
        const auto n = view.shape[0];
        checked_count(static_cast<std::size_t>(n));
        make_room(rows, std::max<std::size_t>(1, static_cast<std::size_t>(d * n)));
        for (int first = 0; first < d; first += 3) {
            const int width = std::min(3, d - first);
            const auto result = transfers_.read(columns_of(view, first, width), n, width, rows.data() + first,
                                                what, stream_, d);
            if (result.bad >= 0) refuse_coordinate(what, result.bad + first, result.bad_value, d);
            for (int k = 0; k < width; ++k) {
                const auto axis = static_cast<std::size_t>(first + k);
                const auto& range = result.ranges[static_cast<std::size_t>(k)];
                extent_.low[axis] = std::min(extent_.low[axis], range.low);
                extent_.high[axis] = std::max(extent_.high[axis], range.high);
            }
        }
    }

    void execute_one(const ConstArrayView& strengths, const SumOutputs& outputs, SumReport& report) {
        const auto begin = Clock::now();
        read_strengths(strengths);
        const int d = problem_.dimension;
        potential_at_ = outputs.potential ? place_of(outputs.potential, potential_, 1) : nullptr;
        gradient_at_ = outputs.gradient ? place_of(outputs.gradient, gradient_, d) : nullptr;
        report.prepare_seconds += seconds_between(begin, Clock::now());
        if ((potential_at_ == nullptr && gradient_at_ == nullptr) || problem_.targets == 0) return;
        check(cudaMemsetAsync(not_finite_.data(), 0, sizeof(int), stream_), "clearing a flag");
        compute(report);
        int flag = 0;
        copy(&flag, not_finite_.data(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        if (flag != 0)
            refuse_gauss_row(
                std::min(first_row_not_finite(potential_at_, 1), first_row_not_finite(gradient_at_, d)));
        if (potential_at_ != nullptr && potential_at_ == potential_.data())
            transfers_.write(potential_at_, outputs.potential, problem_.targets, 1, stream_);
        if (gradient_at_ != nullptr && gradient_at_ == gradient_.data())
            transfers_.write(gradient_at_, outputs.gradient, problem_.targets, d, stream_);
    }

    void read_strengths(const ConstArrayView& view) {
        make_room(strengths_, std::max<std::size_t>(1, static_cast<std::size_t>(problem_.sources)));
        const auto result =
            transfers_.read(view, problem_.sources, 1, strengths_.data(), "strengths", stream_);
        if (result.bad >= 0) refuse_strength("strengths", result.bad, result.bad_value);
        const auto& range = result.ranges[0];
        exponent_ = problem_.sources == 0 ? 0 : strength_exponent(std::max(-range.low, range.high));
    }

    DeviceArray<double> potential_, gradient_; ///< where the caller's arrays are elsewhere, or strided
};

} // namespace farfield::cuda
