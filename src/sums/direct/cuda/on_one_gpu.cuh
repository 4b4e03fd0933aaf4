// What sums on one GPU have in common: whose arrays are where, and on which stream.
#pragma once

#include "backend/comm/communicator_access.h"
#include "backend/cuda/device_scope.h"
#include "backend/cuda/stream.h"
#include "base/arrays.h"
#include "sums/direct/cuda/one_gpu.cuh"
#include "sums/method/method.h"

#include <farfield/error.h>
#include <farfield/sum_options.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace farfield::cuda {

class OnOneGpu : public PreparedSum {
protected:
    OnOneGpu(const SumProblem& problem, const SumOptions& options, int device)
        : problem_(problem), options_(options), device_(device), transfers_(device) {
        const DeviceScope scope(device_);
        own_stream_.emplace();
        not_finite_ = DeviceArray<int>(1);
    }

    /// The caller's stream; without one the default stream where one of the arrays is the GPU's, because that
    /// is where its producer may still be at work, and otherwise our own.
    template <class... Views>
    [[nodiscard]] cudaStream_t stream_for(const Views&... views) const {
        if (options_.stream != nullptr) return static_cast<cudaStream_t>(options_.stream);
        const auto on_gpu = [](const auto& view) { return view && view.device.type != DeviceType::cpu; };
        return (on_gpu(views) || ...) ? cudaStreamLegacy : own_stream_->get();
    }

    /// Before an execution reads strengths.
    /// @throws InvalidArgument where an output lies on another GPU.
    template <class... Strengths>
    void begin_execution(const SumOutputs& outputs, const Strengths&... strengths) {
        for (int k = 0; k < output_count; ++k) {
            const auto output = static_cast<Output>(k);
            if (const auto& view = outputs.of(output)) transfers_.check_device(view, name_of(output));
        }
        const auto before = stream_;
        stream_ =
            stream_for(strengths..., outputs.potential, outputs.field, outputs.gradient, outputs.hessian);
        if (before == nullptr || before == stream_) return;
        if (!stream_changes_) stream_changes_.emplace(); // what points became may still be worked on there
        stream_changes_->record(before);
        stream_changes_->hold(stream_);
    }

    /// Ranks agree.
    void stop_if_asked(const SumHooks& hooks) const {
        if (comm::any_rank(CommunicatorAccess::transport(options_.communicator), is_asked(hooks))) stop();
    }
    /// The same of this rank, in what all do together.
    static void stop_alone_if_asked(const SumHooks& hooks) {
        if (is_asked(hooks)) stop();
    }

    /// Rows of `columns` coordinates. @throws InvalidArgument naming one that is not finite.
    std::array<Extent, 3> read_points(const ConstArrayView& view, int columns, DeviceArray<double>& out,
                                      std::string_view what) {
        const auto rows = view.shape[0];
        checked_count(static_cast<std::size_t>(rows));
        make_room(out, std::max<std::size_t>(1, static_cast<std::size_t>(columns * rows)));
        const auto result = transfers_.read(view, rows, columns, out.data(), what, stream_);
        if (result.bad >= 0) refuse_coordinate(what, result.bad, result.bad_value, columns);
        return result.ranges;
    }

    /// The ranges of both sets of points; the second is only read where targets are apart.
    std::array<Extent, 3> read_both(const ConstArrayView& sources, const ConstArrayView& targets, int columns,
                                    DeviceArray<double>& to_sources, DeviceArray<double>& to_targets) {
        auto ranges = read_points(sources, columns, to_sources, "sources");
        if (problem_.self) return ranges;
        const auto others = read_points(targets, columns, to_targets, "targets");
        for (std::size_t k = 0; k < 3; ++k)
            ranges[k] = {std::min(ranges[k].low, others[k].low), std::max(ranges[k].high, others[k].high)};
        return ranges;
    }

    /// Where results are written on the GPU: the caller's array where it can be, memory of our own otherwise.
    double* place_of(const ArrayView& view, DeviceArray<double>& own, int columns) const {
        return place_of(view, own, columns, problem_.targets);
    }
    /// The same of some rows.
    double* place_of(const ArrayView& view, DeviceArray<double>& own, int columns, std::int64_t rows) const {
        if (view.device.type != DeviceType::cpu && view.dtype == DType::float64 &&
            is_contiguous(view, rows, columns))
            return static_cast<double*>(view.data);
        make_room(own, std::max<std::size_t>(1, static_cast<std::size_t>(rows * columns)));
        return own.data();
    }

    /// The first row of M×columns results on the GPU, or null, with a number that is not finite; else M.
    std::size_t first_row_not_finite(const double* values, int columns) {
        const auto rows = static_cast<std::size_t>(problem_.targets);
        if (values == nullptr) return rows;
        std::vector<double> numbers(rows * static_cast<std::size_t>(columns));
        copy(numbers.data(), values, numbers.size(), stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        const auto bad =
            std::find_if(numbers.begin(), numbers.end(), [](double value) { return !std::isfinite(value); });
        return static_cast<std::size_t>(bad - numbers.begin()) / static_cast<std::size_t>(columns);
    }

    SumProblem problem_;
    SumOptions options_;
    int device_;
    Transfers transfers_;
    std::optional<Stream> own_stream_;
    cudaStream_t stream_ = nullptr; ///< of the call at hand
    std::optional<Signal> stream_changes_;
    DeviceArray<int> not_finite_; ///< 1 where a result is not

private:
    static bool is_asked(const SumHooks& hooks) { return hooks.stop_requested && hooks.stop_requested(); }
    [[noreturn]] static void stop() { throw Interrupted("the sum was given up before its end"); }
};

/// In the frame.
inline std::array<Extent, 3> framed(const std::array<Extent, 3>& ranges, const Frame& frame) {
    auto out = ranges;
    for (std::size_t k = 0; k < 3; ++k)
        out[k] = {std::ldexp(ranges[k].low - frame.origin[k], frame.exponent),
                  std::ldexp(ranges[k].high - frame.origin[k], frame.exponent)};
    return out;
}

} // namespace farfield::cuda
