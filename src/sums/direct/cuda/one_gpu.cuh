// A sum on one GPU: reads the caller's arrays there, sums there, repairs what is not finite on the CPU. Also
// the part of one GPU where several share the targets.
#pragma once

#include "backend/cuda/device_scope.h"
#include "backend/cuda/stream.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "sums/direct/common/repair.h"
#include "sums/direct/cuda/rung_sum.cuh"
#include "sums/direct/cuda/transfers.cuh"
#include "sums/kernels/kernel.h"
#include "sums/method/method.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

namespace farfield::cuda {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
}

template <class T>
std::vector<T> downloaded(const T* array, std::size_t n, cudaStream_t stream) {
    std::vector<T> values(n);
    copy(values.data(), array, n, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    return values;
}
template <class T>
std::vector<T> downloaded(const DeviceArray<T>& array, std::size_t n, cudaStream_t stream) {
    return downloaded(array.data(), n, stream);
}

/// Points and strengths as a rung of type T sees them, for the repair.
template <class T>
struct Seen {
    Seen(const std::vector<double>& points, const std::vector<double>& q, const Frame& frame, int exponent,
         bool with_low) {
        PreparedPoints<T> prepared;
        prepared.set(points, frame, with_low);
        prepared.set_strengths(q, exponent);
        at = prepared.seen_points();
        if (!q.empty()) strengths = prepared.seen_strengths();
    }
    std::vector<double> at, strengths;
};

/// A sum on one GPU.
struct OneGpu : PreparedSum {
    OneGpu(const SumOptions& the_options, int the_device, bool is_self)
        : options(the_options), device(the_device), self(is_self),
          rung(rung_of(options.variant, self, options.precision)),
          sum(make_rung_sum(rung, options.precision)), transfers(device) {
        const DeviceScope scope(device);
        own_stream.emplace();
        not_finite = DeviceArray<int>(1);
    }

    /// The caller's stream; without one the default stream where memory of the GPU is used, because that is
    /// where its producer may still be at work, and otherwise our own.
    [[nodiscard]] cudaStream_t stream_for(bool device_memory) const {
        if (options.stream != nullptr) return static_cast<cudaStream_t>(options.stream);
        return device_memory ? cudaStreamLegacy : own_stream->get();
    }

    ReadResult read_points(const ConstArrayView& view, DeviceArray<double>& out, std::string_view what,
                           std::int64_t first_row = 0) {
        const auto rows = view.shape[0];
        checked_count(static_cast<std::size_t>(rows));
        make_room(out, std::max<std::size_t>(1, static_cast<std::size_t>(3 * rows)));
        const auto stream = stream_for(view.device.type != DeviceType::cpu);
        const auto result = transfers.read(view, rows, 3, out.data(), what, stream);
        if (result.bad >= 0) refuse_coordinate(what, result.bad + 3 * first_row, result.bad_value);
        return result;
    }

    void set_points(const ConstArrayView& source_view, const ConstArrayView& target_view) override {
        const DeviceScope scope(device);
        ranges = read_points(source_view, sources, "sources").ranges;
        n = static_cast<int>(source_view.shape[0]);
        m = n;
        if (!self) {
            const auto others = read_points(target_view, targets, "targets", first_target).ranges;
            m = static_cast<int>(target_view.shape[0]);
            for (std::size_t k = 0; k < 3; ++k)
                ranges[k] = {std::min(ranges[k].low, others[k].low),
                             std::max(ranges[k].high, others[k].high)};
        }
        frame = n + m > 0 ? choose_frame(ranges, options.softening) : Frame{};
    }

    /// Makes this the part of a sum whose targets other GPUs have as well. They take one frame, and cut the
    /// sources alike: then each target's sum has the bits of one GPU.
    void share(const std::array<Extent, 3>& ranges_of_all, int targets_of_all) {
        frame = choose_frame(ranges_of_all, options.softening);
        all_targets = targets_of_all;
    }

    int read_strengths(const ConstArrayView& view, cudaStream_t stream) {
        make_room(strengths, std::max<std::size_t>(1, static_cast<std::size_t>(n)));
        const auto result = transfers.read(view, n, 1, strengths.data(), "strengths", stream);
        if (result.bad >= 0) refuse_strength("strengths", result.bad, result.bad_value);
        return n == 0 ? 0 : strength_exponent(std::max(-result.ranges[0].low, result.ranges[0].high));
    }

    /// The sums, signed and scaled, in `potential` and `field`; returns the seconds of the pair loop.
    double launch(int outputs, int exponent, bool& finite, cudaStream_t stream) {
        make_room(potential, (outputs & potential_only) != 0 ? static_cast<std::size_t>(m) : 0);
        make_room(field, (outputs & field_only) != 0 ? static_cast<std::size_t>(m) * 3 : 0);
        const auto& kernel = kernel_info(options.kernel);
        const PackTask at_sources{sources.data(), strengths.data(), n, frame, exponent};
        const PackTask at_targets{self ? nullptr : targets.data(), nullptr, m, frame, 0};
        sum->pack({at_sources, at_targets, all_targets}, stream);
        check(cudaMemsetAsync(not_finite.data(), 0, sizeof(int), stream), "clearing a flag");
        Event start, end;
        start.record(stream);
        sum->launch(std::ldexp(options.softening, frame.exponent), outputs, stream);
        end.record(stream);
        sum->finish(
            {.potential = (outputs & potential_only) != 0 ? potential.data() : nullptr,
             .field = (outputs & field_only) != 0 ? field.data() : nullptr,
             .sign = kernel.sign,
             .potential_exponent = kernel.result_exponent(Output::potential, frame.exponent, exponent),
             .field_exponent = kernel.result_exponent(Output::field, frame.exponent, exponent),
             .not_finite = not_finite.data()},
            stream);
        int flag = 0;
        copy(&flag, not_finite.data(), 1, stream);
        check(cudaStreamSynchronize(stream), "waiting for the GPU");
        finite = flag == 0;
        return 1e-3 * Event::milliseconds(start, end);
    }

    template <class T>
    std::int64_t repair(int outputs, int exponent, cudaStream_t stream) {
        const bool with_low = options.precision == Precision::mixed;
        const auto q = downloaded(strengths, static_cast<std::size_t>(n), stream);
        const Seen<T> from(downloaded(sources, static_cast<std::size_t>(n) * 3, stream), q, frame, exponent,
                           with_low);
        const std::optional<Seen<T>> to =
            self ? std::nullopt
                 : std::optional<Seen<T>>(std::in_place,
                                          downloaded(targets, static_cast<std::size_t>(m) * 3, stream),
                                          std::vector<double>{}, frame, 0, with_low);
        const bool with_potential = (outputs & potential_only) != 0, with_field = (outputs & field_only) != 0;
        auto phi = downloaded(potential, with_potential ? static_cast<std::size_t>(m) : 0, stream);
        auto e = downloaded(field, with_field ? static_cast<std::size_t>(m) * 3 : 0, stream);
        const auto skipped = repair_rows({.sources = n,
                                          .targets = m,
                                          .source_points = from.at.data(),
                                          .strengths = from.strengths.data(),
                                          .target_points = self ? from.at.data() : to->at.data(),
                                          .self = self,
                                          .first_target = first_target,
                                          .softening = std::ldexp(options.softening, frame.exponent),
                                          .frame_exponent = frame.exponent,
                                          .strength_exponent = exponent,
                                          .sign = kernel_info(options.kernel).sign,
                                          .precision = options.precision,
                                          .coincident = options.coincident,
                                          .threads = thread_count(options.threads),
                                          .potential = with_potential ? phi.data() : nullptr,
                                          .field = with_field ? e.data() : nullptr});
        copy(potential.data(), phi.data(), phi.size(), stream);
        copy(field.data(), e.data(), e.size(), stream);
        check(cudaStreamSynchronize(stream), "waiting for the GPU");
        return skipped;
    }

    void execute(const ConstArrayView& strength_view, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device);
        if (outputs.potential) transfers.check_device(outputs.potential, "potential");
        if (outputs.field) transfers.check_device(outputs.field, "field");
        const auto on_device = [](const auto& view) { return view && view.device.type != DeviceType::cpu; };
        const auto stream =
            stream_for(on_device(strength_view) || on_device(outputs.potential) || on_device(outputs.field));
        report.direct.variant = variant_of(rung);
        report.device = {.kind = DeviceKind::cuda, .gpus = {device}};
        const int wanted = (outputs.potential ? potential_only : 0) | (outputs.field ? field_only : 0);
        const int exponent = read_strengths(strength_view, stream);
        const auto read_at = Clock::now();
        report.prepare_seconds = seconds_between(begin, read_at);
        if (wanted == 0) return;
        bool finite = true;
        report.compute_seconds = launch(wanted, exponent, finite, stream);
        if (!finite)
            report.direct.coincident_pairs_skipped = options.precision == Precision::float64
                                                         ? repair<double>(wanted, exponent, stream)
                                                         : repair<float>(wanted, exponent, stream);
        if (outputs.potential) transfers.write(potential.data(), outputs.potential, m, 1, stream);
        if (outputs.field) transfers.write(field.data(), outputs.field, m, 3, stream);
        report.finish_seconds = seconds_between(read_at, Clock::now()) - report.compute_seconds;
        if (hooks.progress) hooks.progress(1.0);
    }

    SumOptions options;
    int device;
    bool self;
    Rung rung;
    std::unique_ptr<RungSum> sum;
    Transfers transfers;
    std::optional<Stream> own_stream;
    int n = 0, m = 0;
    std::int64_t first_target = 0; ///< which row of all targets ours begin with
    int all_targets = 0;           ///< of all GPUs; 0: ours are all
    std::array<Extent, 3> ranges{};
    Frame frame;
    DeviceArray<double> sources, targets, strengths; ///< as the caller gave them, in double
    DeviceArray<double> potential, field;
    DeviceArray<int> not_finite;
};

} // namespace farfield::cuda
