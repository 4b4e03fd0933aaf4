#include "sums/direct/cuda/gauss/gpu_gauss_sum.h"

#include "sums/direct/cuda/gauss/gauss_blocks.cuh"
#include "sums/direct/cuda/on_one_gpu.cuh"
#include "sums/direct/gauss/gauss_results.h"
#include "sums/method/vectors.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>

namespace farfield::cuda {
namespace {

/// Points and strengths in the type of the loop.
template <class Real>
struct GaussArrays {
    DeviceArray<Real> sources, targets, strengths;
};

class GaussSumOnGpu : public OnOneGpu {
public:
    GaussSumOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : OnOneGpu(problem, options, device) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        prepared_ = false;
        stream_ = stream_for(sources, targets);
        for (auto& low : extent_.low) low = HUGE_VAL;
        for (auto& high : extent_.high) high = -HUGE_VAL;
        const auto source_rows = read_rows(sources, source_rows_, "sources");
        const auto target_rows = problem_.self ? source_rows : read_rows(targets, target_rows_, "targets");
        for (std::size_t k = 0; k < most_dimensions; ++k)
            if (extent_.low[k] > extent_.high[k]) extent_.low[k] = extent_.high[k] = 0.0;
        frame_ = choose_gauss_frame(problem_, extent_);
        check_gpu_frame(problem_, frame_);
        if (is_wide(problem_.precision))
            set_arrays(doubles_, source_rows, target_rows);
        else
            set_arrays(floats_, source_rows, target_rows);
        prepared_ = true;
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        if (outputs.potential) transfers_.check_device(outputs.potential, "potential");
        if (outputs.gradient) transfers_.check_device(outputs.gradient, "gradient");
        stream_ = stream_for(strengths, outputs.potential, outputs.gradient);
        if (!prepared_)
            throw InvalidArgument("the sum has no points: the last ones could not be taken; give it some");
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        const auto vectors = gauss_vectors_of(strengths);
        for (std::int64_t v = 0; v < vectors; ++v) {
            if (hooks.stop_requested && hooks.stop_requested())
                throw Interrupted("the sum was given up before its end");
            const SumStrengths all{.charges = strengths, .dipoles = {}};
            execute_one(strengths_of_vector(problem_, all, v).charges,
                        outputs_of_vector(problem_, outputs, v), report);
            if (hooks.progress) hooks.progress(static_cast<double>(v + 1) / static_cast<double>(vectors));
        }
        report.finish_seconds =
            seconds_between(begin, Clock::now()) - report.compute_seconds - report.prepare_seconds;
    }

private:
    using Rows = DeviceArray<double>[2];

    /// Columns three at a time.
    GaussRows read_rows(const ConstArrayView& view, Rows& rows, std::string_view what) {
        const int d = problem_.dimension;
        const auto n = view.shape[0];
        checked_count(static_cast<std::size_t>(n));
        GaussRows out{.columns = {}, .count = static_cast<int>(n), .dimension = d};
        for (int part = 0; 3 * part < d; ++part) {
            const int width = std::min(3, d - 3 * part);
            auto& memory = rows[part];
            make_room(memory, std::max<std::size_t>(1, static_cast<std::size_t>(width * n)));
            const auto result =
                transfers_.read(columns_of(view, 3 * part, width), n, width, memory.data(), what, stream_);
            if (result.bad >= 0)
                refuse_coordinate(what, result.bad / width * d + 3 * part + result.bad % width,
                                  result.bad_value, d);
            for (int k = 0; k < width; ++k) {
                const auto axis = static_cast<std::size_t>(3 * part + k);
                const auto& range = result.ranges[static_cast<std::size_t>(k)];
                extent_.low[axis] = std::min(extent_.low[axis], range.low);
                extent_.high[axis] = std::max(extent_.high[axis], range.high);
            }
            out.columns[part] = memory.data();
        }
        return out;
    }

    template <class Real>
    void set_arrays(GaussArrays<Real>& arrays, const GaussRows& sources, const GaussRows& targets) {
        GaussFrameOnGpu frame{.centre = {},
                              .factor = std::ldexp(1.0, frame_.exponent),
                              .scale = std::sqrt(0.5 * log2_e) / frame_.sigma};
        std::copy(frame_.centre.begin(), frame_.centre.end(), frame.centre);
        const bool with_low = problem_.precision == Precision::mixed;
        const auto set = [&](const GaussRows& rows, DeviceArray<Real>& out) {
            make_room(out, static_cast<std::size_t>(rows.count) *
                               static_cast<std::size_t>((with_low ? 2 : 1) * rows.dimension));
            set_gauss_coordinates(rows, frame, with_low, out.data(), stream_);
        };
        set(sources, arrays.sources);
        if (!problem_.self) set(targets, arrays.targets);
        make_room(arrays.strengths, static_cast<std::size_t>(sources.count));
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
    }

    void execute_one(const ConstArrayView& strengths, const SumOutputs& outputs, SumReport& report) {
        const auto begin = Clock::now();
        make_room(strengths_, std::max<std::size_t>(1, static_cast<std::size_t>(problem_.sources)));
        const auto result =
            transfers_.read(strengths, problem_.sources, 1, strengths_.data(), "strengths", stream_);
        if (result.bad >= 0) refuse_strength("strengths", result.bad, result.bad_value);
        const int exponent = problem_.sources == 0
                                 ? 0
                                 : strength_exponent(std::max(-result.ranges[0].low, result.ranges[0].high));
        const int d = problem_.dimension;
        double* const phi = outputs.potential ? place_of(outputs.potential, potential_, 1) : nullptr;
        double* const g = outputs.gradient ? place_of(outputs.gradient, gradient_, d) : nullptr;
        report.prepare_seconds += seconds_between(begin, Clock::now());
        if ((phi == nullptr && g == nullptr) || problem_.targets == 0) return;
        if (is_wide(problem_.precision))
            compute(doubles_, exponent, phi, g, report);
        else
            compute(floats_, exponent, phi, g, report);
        if (phi != nullptr && phi == potential_.data())
            transfers_.write(phi, outputs.potential, problem_.targets, 1, stream_);
        if (g != nullptr && g == gradient_.data())
            transfers_.write(g, outputs.gradient, problem_.targets, d, stream_);
    }

    template <class Real>
    void compute(GaussArrays<Real>& arrays, int exponent, double* phi, double* g, SumReport& report) {
        const int n = static_cast<int>(problem_.sources), m = static_cast<int>(problem_.targets);
        const int d = problem_.dimension;
        check(cudaMemsetAsync(not_finite_.data(), 0, sizeof(int), stream_), "clearing a flag");
        Event start, end;
        start.record(stream_);
        set_gauss_strengths(strengths_.data(), n, exponent, arrays.strengths.data(), stream_);
        GaussBlockTask<Real> task;
        task.dimension = d;
        task.mixed = problem_.precision == Precision::mixed;
        task.with_gradient = g != nullptr;
        task.without_own = problem_.without_own();
        task.sources = {arrays.sources.data(), n};
        task.targets = {(problem_.self ? arrays.sources : arrays.targets).data(), m};
        task.strengths = arrays.strengths.data();
        task.parts = gauss_parts(m, n);
        const int columns = g != nullptr ? 1 + d : 1;
        make_room(sums_, static_cast<std::size_t>(task.parts) * static_cast<std::size_t>(columns) *
                             static_cast<std::size_t>(m));
        task.sums = sums_.data();
        add_gauss_blocks(task, stream_);
        finish_gauss_blocks({.dimension = d,
                             .targets = m,
                             .parts = task.parts,
                             .columns = columns,
                             .sums = sums_.data(),
                             .gradient_factor = -1.0 / (std::sqrt(0.5 * log2_e) * frame_.sigma),
                             .potential_exponent = -exponent,
                             .gradient_exponent = frame_.exponent - exponent,
                             .potential = phi,
                             .gradient = g,
                             .not_finite = not_finite_.data()},
                            stream_);
        end.record(stream_);
        int flag = 0;
        copy(&flag, not_finite_.data(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        report.compute_seconds += 1e-3 * Event::milliseconds(start, end);
        if (flag != 0) refuse_first_bad_row(phi, g);
    }

    [[noreturn]] void refuse_first_bad_row(const double* phi, const double* g) {
        refuse_gauss_row(std::min(first_row_not_finite(phi, 1), first_row_not_finite(g, problem_.dimension)));
    }

    static constexpr double log2_e = 1.4426950408889634;
    bool prepared_ = false;
    GaussExtent extent_;
    GaussFrame frame_;
    Rows source_rows_, target_rows_; ///< as the caller gave them, in double
    DeviceArray<double> strengths_, sums_;
    GaussArrays<float> floats_;
    GaussArrays<double> doubles_;              ///< by the precision one of the two is used
    DeviceArray<double> potential_, gradient_; ///< where the caller's arrays are elsewhere, or strided
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_gauss_sum(const SumProblem& problem, const SumOptions& options,
                                                int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<GaussSumOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
