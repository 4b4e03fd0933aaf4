// A plan's sum through SumEngine: each GPU rounds its own bodies into the frame, and finishes their sums.
#include "backend/comm/communicator_access.h"
#include "backend/cuda/device_scope.h"
#include "backend/cuda/stream.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/spelling.h"
#include "sums/direct/common/repair.h"
#include "sums/direct/cuda/rung_sum.cuh"
#include "sums/direct/cuda/several/arguments.h"
#include "sums/direct/cuda/several/engine.cuh"
#include "sums/direct/cuda/several/several_gpus.h"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace farfield::cuda {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// What one GPU keeps of its bodies between calls.
struct Own {
    DeviceArray<double> points, strengths, potential, field;
    DeviceArray<int> not_finite;
    std::optional<Event> start, end;
    double milliseconds = 0.0; ///< from one to the other
};

template <class PointType>
class SeveralGpus : public PreparedSum {
public:
    SeveralGpus(const SumOptions& options, std::vector<int> devices, Rung rung)
        : options_(options), devices_(std::move(devices)), rung_(rung) {
        for (const int device : devices_) DeviceScope check_it(device);
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& /*targets*/) override {
        require_host_here(sources, "sources");
        points_ = read_points(sources, "sources");
        n_ = checked_count(points_.size() / 3);
        frame_ = choose_frame(points_, {}, options_.softening);
    }

    void execute(const ConstArrayView& strength_view, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        require_host_here(strength_view, "strengths");
        if (outputs.potential) require_host_here(outputs.potential, "potential");
        if (outputs.field) require_host_here(outputs.field, "field");
        const auto strengths = read_values(strength_view, n_, "strengths");
        report.direct.variant = variant_of(rung_);
        report.device = {.kind = DeviceKind::cuda, .gpus = devices_};
        const int wanted = (outputs.potential ? potential_only : 0) | (outputs.field ? field_only : 0);
        if (wanted == 0 || n_ == 0) return;
        const DeviceScope scope(devices_.front()); // the engine changes the current GPU
        prepare_engine(wanted);
        const int exponent = strength_exponent(strengths);
        std::vector<double> potential(outputs.potential ? static_cast<std::size_t>(n_) : 0);
        std::vector<double> field(outputs.field ? static_cast<std::size_t>(n_) * 3 : 0);
        report.compute_seconds = run(strengths, exponent, potential, field);
        if (ranks_ != nullptr) gather(potential, field);
        if (!is_finite(potential) || !is_finite(field))
            report.direct.coincident_pairs_skipped = repair(strengths, exponent, potential, field);
        if (outputs.potential) write_values(outputs.potential, potential.data(), n_, 1);
        if (outputs.field) write_values(outputs.field, field.data(), n_, 3);
        report.finish_seconds = seconds_since(begin) - report.compute_seconds;
        if (hooks.progress) hooks.progress(1.0);
    }

private:
    void prepare_engine(int outputs) {
        const double softening = std::ldexp(options_.softening, frame_.exponent);
        if (engine_ && engine_->options().outputs == outputs && engine_->options().n == n_ &&
            engine_->options().softening == softening)
            return;
        engine_.reset(); // its memory first
        own_.clear();
        engine_.emplace(EngineOptions{.devices = devices_,
                                      .multi_gpu = options_.multi_gpu,
                                      .exchange = options_.exchange,
                                      .outputs = outputs,
                                      .n = n_,
                                      .softening = softening,
                                      .rung = rung_,
                                      .ranks = ranks_,
                                      .mpi_gpu = options_.mpi_gpu});
        own_.resize(engine_->parts().size());
    }

    /// Host memory is only touched by copies that are done when they return or that `synchronize` waits for.
    double run(const std::vector<double>& strengths, int exponent, std::vector<double>& potential,
               std::vector<double>& field) {
        engine_->for_each_part([&](const EnginePart<PointType>& part) { load(part, strengths, exponent); });
        engine_->compute();
        engine_->for_each_part(
            [&](const EnginePart<PointType>& part) { unload(part, exponent, potential, field); });
        engine_->synchronize();
        double slowest = 0.0;
        engine_->for_each_part([&](const EnginePart<PointType>& part) {
            auto& own = own_[static_cast<std::size_t>(part.index)];
            own.milliseconds = Event::milliseconds(*own.start, *own.end);
        });
        for (const auto& own : own_) slowest = std::max(slowest, own.milliseconds);
        return 1e-3 * slowest;
    }

    void load(const EnginePart<PointType>& part, const std::vector<double>& strengths, int exponent) {
        auto& own = own_[static_cast<std::size_t>(part.index)];
        const auto begin = static_cast<std::size_t>(part.begin),
                   count = static_cast<std::size_t>(part.end) - begin;
        if (!own.start) {
            own.points = DeviceArray<double>(3 * count);
            own.strengths = DeviceArray<double>(count);
            own.start.emplace();
            own.end.emplace();
        }
        copy(own.points.data(), points_.data() + 3 * begin, 3 * count, part.stream);
        copy(own.strengths.data(), strengths.data() + begin, count, part.stream);
        const PackTask task{own.points.data(), own.strengths.data(), static_cast<int>(count), frame_,
                            exponent};
        if (count > 0) {
            pack_kernel<<<layout_blocks(task.n), layout_threads, 0, part.stream>>>(task,
                                                                                   part.points + part.begin);
            check_launch("laying out points");
        }
        own.start->record(part.stream);
    }

    void unload(const EnginePart<PointType>& part, int exponent, std::vector<double>& potential,
                std::vector<double>& field) {
        const auto& kernel = kernel_info(options_.kernel);
        auto& own = own_[static_cast<std::size_t>(part.index)];
        own.end->record(part.stream);
        const auto begin = static_cast<std::size_t>(part.begin),
                   count = static_cast<std::size_t>(part.end) - begin;
        if (count == 0) return;
        if (own.not_finite.size() == 0) own.not_finite = DeviceArray<int>(1);
        if (!potential.empty() && own.potential.size() == 0) own.potential = DeviceArray<double>(count);
        if (!field.empty() && own.field.size() == 0) own.field = DeviceArray<double>(3 * count);
        const FinishTask task{
            .potential = potential.empty() ? nullptr : own.potential.data(),
            .field = field.empty() ? nullptr : own.field.data(),
            .sign = kernel.sign,
            .potential_exponent = kernel.result_exponent(Output::potential, frame_.exponent, exponent),
            .field_exponent = kernel.result_exponent(Output::field, frame_.exponent, exponent),
            .n = static_cast<int>(count),
            .not_finite = own.not_finite.data()};
        finish_kernel<<<layout_blocks(task.n), layout_threads, 0, part.stream>>>(task, part.sums);
        check_launch("finishing a direct sum");
        if (!potential.empty()) copy(potential.data() + begin, own.potential.data(), count, part.stream);
        if (!field.empty()) copy(field.data() + 3 * begin, own.field.data(), 3 * count, part.stream);
    }

    // All ranks get all rows.
    void gather(std::vector<double>& potential, std::vector<double>& field) {
        std::vector<std::int64_t> begins;
        for (int rank = 0; rank < ranks_->size(); ++rank)
            begins.push_back(interval_of_part(n_, rank, ranks_->size()).begin);
        begins.push_back(n_);
        if (!potential.empty()) comm::share_rows(*ranks_, potential, 1, begins);
        if (!field.empty()) comm::share_rows(*ranks_, field, 3, begins);
    }

    std::int64_t repair(const std::vector<double>& strengths, int exponent, std::vector<double>& potential,
                        std::vector<double>& field) {
        using Seen = std::conditional_t<std::is_same_v<PointType, Point<double>>, double, float>;
        PreparedPoints<Seen> seen;
        seen.set(points_, frame_, options_.precision == Precision::mixed);
        seen.set_strengths(strengths, exponent);
        const auto at = seen.seen_points(), q = seen.seen_strengths();
        return repair_rows({.sources = n_,
                            .targets = n_,
                            .source_points = at.data(),
                            .strengths = q.data(),
                            .target_points = at.data(),
                            .self = true,
                            .softening = std::ldexp(options_.softening, frame_.exponent),
                            .frame_exponent = frame_.exponent,
                            .strength_exponent = exponent,
                            .sign = kernel_info(options_.kernel).sign,
                            .precision = options_.precision,
                            .coincident = options_.coincident,
                            .threads = thread_count(options_.threads),
                            .potential = potential.empty() ? nullptr : potential.data(),
                            .field = field.empty() ? nullptr : field.data()});
    }

    SumOptions options_;
    comm::Transport* ranks_ =
        CommunicatorAccess::transport(options_.communicator); ///< null: GPUs of one process
    std::vector<int> devices_;
    Rung rung_;
    int n_ = 0;
    std::vector<double> points_;
    Frame frame_;
    std::optional<SumEngine<PointType>> engine_;
    std::vector<Own> own_;
};

} // namespace

std::unique_ptr<PreparedSum> make_several_gpus(const SumOptions& options, const std::vector<int>& devices) {
    const auto rung = rung_of(options.variant, true, options.precision);
    if (rung != Rung::symmetric && rung != Rung::register_tile)
        throw InvalidArgument(
            spelled("variant", info_of(rung).name) +
            " cannot be divided among GPUs; use 'symmetric' or 'register-tile', or name one GPU");
    require_own_streams(options);
    if (options.precision == Precision::float32)
        return std::make_unique<SeveralGpus<Point<float>>>(options, devices, rung);
    if (options.precision == Precision::float64)
        return std::make_unique<SeveralGpus<Point<double>>>(options, devices, rung);
    return std::make_unique<SeveralGpus<MixedPoint>>(options, devices, rung);
}

} // namespace farfield::cuda
