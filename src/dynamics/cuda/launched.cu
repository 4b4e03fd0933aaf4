// Steps made of launches: move, sum, choose the next frame; one by one or recorded into graphs.
#include "backend/cuda/devices.h"
#include "dynamics/cuda/method_engine.cuh"
#include "dynamics/cuda/move.cuh"
#include "dynamics/cuda/rung_engine.cuh"
#include "dynamics/cuda/stepper.cuh"
#include "sums/direct/cuda/several/engine.cuh"

#include <farfield/error.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace farfield::cuda {

StatePart::StatePart(const MotionInput& input, int the_device, int the_begin, int end,
                     cudaStream_t the_stream)
    : device(the_device), begin(the_begin), n(end - the_begin), stream(the_stream) {
    check(cudaSetDevice(device), "selecting a GPU");
    const auto count = static_cast<std::size_t>(n), first = static_cast<std::size_t>(begin);
    const auto filled = [&](const double* from, std::size_t size) {
        DeviceArray<double> array(size);
        copy(array.data(), from, size, stream);
        return array;
    };
    x = filled(input.bodies->position.data() + 3 * first, 3 * count);
    v = filled(input.bodies->velocity.data() + 3 * first, 3 * count);
    a = DeviceArray<double>(3 * count);
    if (n > 0) check(cudaMemsetAsync(a.data(), 0, a.bytes(), stream), "clearing the accelerations");
    factor = filled(input.factor.data() + first, count);
    Control start{};
    const bool is_float = input.setup->precision != Precision::float64;
    for (int axis = 0; axis < 3; ++axis) {
        start.origin[axis] = is_float ? input.setup->frame.origin[axis] : 0.0;
        start.low[axis] = ~0U;
    }
    start.failure = no_failure;
    control = DeviceArray<Control>(1);
    copy(control.data(), &start, 1, stream);
    check(cudaStreamSynchronize(stream), "bringing the bodies to the GPU");
}

namespace {

constexpr std::uint64_t long_graph_steps = 16;

/// `Engine` is SumEngine, RungEngine for the other rungs, or MethodEngine for sums that are no rung.
template <class PointType, class Engine>
class Launched final : public Stepper {
public:
    Launched(const MotionInput& input, StepPath path, Engine engine)
        : path_(path), substeps_(input.setup->substeps), unscale_(input.unscale),
          frame_scale_(input.frame_scale), n_(input.n()), engine_(std::move(engine)) {
        if (input.setup->sums) period_ = input.setup->sums->period;
        for (auto& part : engine_.parts()) {
            parts_.emplace_back(input, part.device, part.begin, part.end, part.stream);
            if constexpr (by_method) continue; // it has them already
            DeviceArray<double> strength(static_cast<std::size_t>(part.end - part.begin));
            copy(strength.data(), input.strength.data() + part.begin, strength.size(), part.stream);
            set_strengths(part.points + part.begin, strength.data(), part.end - part.begin, part.stream);
            check(cudaStreamSynchronize(part.stream), "setting the strengths of the bodies");
        }
        if (parts_.size() > 1) path_ = StepPath::launches; // only one part can be recorded
    }

    void evaluate() override {
        move_all({.packs = true});
        compute();
        finish_and_move_all({.from_sums = true, .keep = true});
    }

    void renew(const SumOptions& sums) override {
        if constexpr (by_method) engine_.renew(sums);
    }

    [[nodiscard]] std::string refusal() const override {
        if constexpr (by_method)
            return engine_.refusal();
        else
            return {};
    }

    double sum_milliseconds() override {
        if constexpr (std::is_same_v<Engine, RungEngine<PointType>>)
            return engine_.sum_milliseconds();
        else
            return 0.0;
    }

    void steps(std::uint64_t count, double dt) override {
        if (path_ == StepPath::launches || (graph_ && dt != recorded_dt_)) return queue(count, dt);
        if (!graph_) record(dt);
        for (; long_graph_ && count >= long_graph_steps; count -= long_graph_steps)
            long_graph_->launch(parts_.front().stream);
        for (; count > 0; --count) graph_->launch(parts_.front().stream);
    }

private:
    static constexpr bool by_method = std::is_same_v<Engine, MethodEngine>; ///< places are its points

    void compute() {
        if constexpr (by_method)
            engine_.compute(parts_.front().x.data());
        else
            engine_.compute();
    }

    void record(double dt) {
        check(cudaSetDevice(parts_.front().device), "selecting a GPU");
        graph_.emplace(parts_.front().stream, [&] { queue(1, dt); });
        if (path_ == StepPath::long_graph)
            long_graph_.emplace(parts_.front().stream, [&] { queue(long_graph_steps, dt); });
        recorded_dt_ = dt;
    }

    // Between two sums the half kicks of two leapfrogs and the drift go together, rounded one after the
    // other.
    void queue(std::uint64_t count, double dt) {
        const std::uint64_t in_step = substeps_.size(), evaluations = count * in_step;
        const auto length = [&](std::uint64_t evaluation) { return substeps_[evaluation % in_step] * dt; };
        if (count == 0) return;
        move_all({.begins = true, .packs = true, .kick = 0.5 * length(0), .drift = length(0)});
        for (std::uint64_t k = 0; k < evaluations; ++k) {
            compute();
            Move what{.from_sums = true, .ends = true, .end_kick = 0.5 * length(k)};
            what.wraps = (k + 1) % in_step == 0; // as HostPropagator::move
            if (k + 1 < evaluations) {
                what.begins = what.packs = true;
                what.kick = 0.5 * length(k + 1);
                what.drift = length(k + 1);
            } else {
                what.keep = true;
            }
            finish_and_move_all(what);
        }
    }

    void move_all(const Move& what) {
        engine_.for_each_part([&](const EnginePart<PointType>& part) { move_part(part, what); });
    }

    // Both in one go: with a CPU thread a GPU, waking the threads costs more than what they queue.
    void finish_and_move_all(const Move& what) {
        engine_.for_each_part([&](const EnginePart<PointType>& part) {
            auto* const control = parts_[static_cast<std::size_t>(part.index)].control.data();
            finish_evaluation(part.points, n_, control, 1.0 / frame_scale_, part.stream);
            move_part(part, what);
        });
    }

    void move_part(const EnginePart<PointType>& part, Move what) {
        using Real = typename PointType::real;
        auto& state = parts_[static_cast<std::size_t>(part.index)];
        Motion<PointType> motion{.x = state.x.data(),
                                 .v = state.v.data(),
                                 .a = state.a.data(),
                                 .factor = state.factor.data(),
                                 .control = state.control.data(),
                                 .n = state.n,
                                 .unscale = unscale_,
                                 .frame_scale = frame_scale_};
        if constexpr (by_method) {
            motion.sums = engine_.sums();
            motion.sum_columns = 3;
            std::copy(period_.begin(), period_.end(), motion.period);
            what.packs = false;
        } else {
            motion.sums = reinterpret_cast<const Real*>(part.sums);
            motion.points = part.points + part.begin;
        }
        move(motion, what, part.stream);
    }

    StepPath path_;
    std::vector<double> substeps_;
    Unscale unscale_;
    double frame_scale_;
    std::array<double, 3> period_{}; ///< of a box that bodies are kept in
    int n_;
    Engine engine_;
    std::optional<Graph> graph_, long_graph_;
    double recorded_dt_ = 0.0;
};

template <class PointType>
std::unique_ptr<Stepper> launched(const MotionInput& input, StepPath path, Rung rung) {
    const auto& setup = *input.setup;
    if (is_for_engine(rung) && !setup.times_sums)
        return std::make_unique<Launched<PointType, SumEngine<PointType>>>(
            input, path,
            SumEngine<PointType>({.devices = setup.devices,
                                  .multi_gpu = setup.multi_gpu,
                                  .exchange = setup.exchange,
                                  .outputs = field_only,
                                  .n = input.n(),
                                  .softening = input.frame_softening,
                                  .rung = rung,
                                  .ranks = setup.ranks,
                                  .mpi_gpu = setup.mpi_gpu}));
    if (setup.devices.size() > 1 || setup.ranks != nullptr)
        throw InvalidArgument("variant '" + std::string(info_of(rung).name) + "' computes on one GPU");
    return std::make_unique<Launched<PointType, RungEngine<PointType>>>(
        input, StepPath::launches,
        RungEngine<PointType>({.device = setup.devices.front(),
                               .rung = rung,
                               .precision = setup.precision,
                               .n = input.n(),
                               .softening = input.frame_softening,
                               .times_sums = setup.times_sums}));
}

} // namespace

std::unique_ptr<Stepper> make_launched(const MotionInput& input, StepPath path, Rung rung) {
    const auto& setup = *input.setup;
    if (setup.sums)
        return std::make_unique<Launched<Point<double>, MethodEngine>>(
            input, StepPath::launches,
            MethodEngine(*setup.sums, setup.devices, input.strength, Output::field));
    switch (setup.precision) {
    case Precision::float32:
        return launched<Point<float>>(input, path, rung);
    case Precision::mixed:
        return launched<MixedPoint>(input, path, rung);
    default:
        return launched<Point<double>>(input, path, rung);
    }
}

} // namespace farfield::cuda
