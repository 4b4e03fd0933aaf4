#include "sums/direct/cuda/gauss/gpu_gauss_sum.h"

#include "sums/direct/cuda/gauss/gauss_blocks.cuh"
#include "sums/direct/cuda/gauss/gauss_on_gpu.cuh"

#include <algorithm>
#include <cmath>

namespace farfield::cuda {
namespace {

/// Points and strengths in the type of the loop.
template <class Real>
struct GaussArrays {
    DeviceArray<Real> sources, targets, strengths;
};

class GaussSumOnGpu : public GaussOnGpu {
public:
    GaussSumOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : GaussOnGpu(problem, options, device) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        stream_ = stream_for(sources, targets);
        read_sets(sources, targets);
        const GaussRows source_rows{source_rows_.data(), static_cast<int>(problem_.sources),
                                    problem_.dimension};
        const GaussRows target_rows{target_rows_.data(), static_cast<int>(problem_.targets),
                                    problem_.dimension};
        if (is_wide(problem_.precision))
            set_arrays(doubles_, source_rows, target_rows);
        else
            set_arrays(floats_, source_rows, target_rows);
    }

private:
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

    void compute(SumReport& report) override {
        Event start, end;
        start.record(stream_);
        if (is_wide(problem_.precision))
            compute_in(doubles_);
        else
            compute_in(floats_);
        end.record(stream_);
        report.compute_seconds += 1e-3 * Event::milliseconds(start, end);
    }
    void describe(SumReport& /*report*/) const override {}

    template <class Real>
    void compute_in(GaussArrays<Real>& arrays) {
        const int n = static_cast<int>(problem_.sources), m = static_cast<int>(problem_.targets);
        const int d = problem_.dimension;
        const bool with_gradient = gradient_at_ != nullptr;
        set_gauss_strengths(strengths_.data(), n, exponent_, arrays.strengths.data(), stream_);
        GaussBlockTask<Real> task;
        task.dimension = d;
        task.mixed = problem_.precision == Precision::mixed;
        task.with_gradient = with_gradient;
        task.without_own = problem_.without_own();
        task.sources = {arrays.sources.data(), n};
        task.targets = {(problem_.self ? arrays.sources : arrays.targets).data(), m};
        task.strengths = arrays.strengths.data();
        task.parts = gauss_parts(m, n);
        const int columns = with_gradient ? 1 + d : 1;
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
                             .potential_exponent = -exponent_,
                             .gradient_exponent = frame_.exponent - exponent_,
                             .potential = potential_at_,
                             .gradient = gradient_at_,
                             .not_finite = not_finite_.data()},
                            stream_);
    }

    static constexpr double log2_e = 1.4426950408889634;
    DeviceArray<double> sums_;
    GaussArrays<float> floats_;
    GaussArrays<double> doubles_; ///< by the precision one of the two is used
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_gauss_sum(const SumProblem& problem, const SumOptions& options,
                                                int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<GaussSumOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
