#include "sums/direct/cuda/multi_sum.cuh"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"

#include <farfield/error.h>

#include <optional>
#include <vector>

namespace farfield::cuda {

namespace {

template <class PointType>
class MultiSum : public RungSum {
    using Real = typename PointType::real;

public:
    explicit MultiSum(const EngineOptions& options) : options_(options) { engine_.emplace(options_); }

    void pack(const RungInput& input, cudaStream_t stream) override {
        if (input.targets.points != nullptr)
            throw InvalidArgument("several GPUs need targets = sources; name one GPU with separate targets");
        const auto n = static_cast<std::size_t>(input.sources.n);
        if (points_.size() != n) {
            points_ = {}, sums_ = {}; // give the old blocks back first
            points_ = DeviceArray<PointType>(n);
            sums_ = DeviceArray<Vec4<Real>>(n);
        }
        if (n == 0) return;
        pack_kernel<<<layout_blocks(input.sources.n), layout_threads, 0, stream>>>(input.sources,
                                                                                   points_.data());
        check_launch("laying out points");
    }

    void launch(double softening, int outputs, cudaStream_t stream) override {
        if (points_.size() == 0) return;
        prepare(softening, outputs);
        packed_->record(stream);
        engine_->for_each_part([&](EnginePart<PointType>& part) {
            packed_->hold(part.stream);
            copy(part.points + part.begin, points_.data() + part.begin, bodies_of(part), part.stream);
        });
        engine_->compute();
        engine_->for_each_part([&](EnginePart<PointType>& part) {
            copy(sums_.data() + part.begin, part.sums, bodies_of(part), part.stream);
            done_[static_cast<std::size_t>(part.index)].record(part.stream);
        });
        for (const auto& done : done_) done.hold(stream);
    }

    void finish(FinishTask task, cudaStream_t stream) const override {
        task.n = static_cast<int>(sums_.size());
        if (task.n == 0) return;
        finish_kernel<<<layout_blocks(task.n), layout_threads, 0, stream>>>(task, sums_.data());
        check_launch("finishing a direct sum");
    }

private:
    static std::size_t bodies_of(const EnginePart<PointType>& part) {
        return static_cast<std::size_t>(part.end - part.begin);
    }

    // An engine for this sum; the last one where nothing has changed.
    void prepare(double softening, int outputs) {
        const int n = static_cast<int>(points_.size());
        if (packed_ && options_.n == n && options_.softening == softening && options_.outputs == outputs)
            return;
        engine_.reset();
        options_.n = n, options_.softening = softening, options_.outputs = outputs;
        engine_.emplace(options_);
        packed_.emplace(); // of the first GPU, which is current
        done_.clear();
        done_.resize(options_.devices.size());
        engine_->for_each_part(
            [&](EnginePart<PointType>& part) { done_[static_cast<std::size_t>(part.index)] = Signal(); });
    }

    EngineOptions options_;
    DeviceArray<PointType> points_;
    DeviceArray<Vec4<Real>> sums_;
    std::optional<SumEngine<PointType>> engine_;
    std::optional<Signal> packed_;
    std::vector<Signal> done_;
};

} // namespace

std::unique_ptr<RungSum> make_multi_sum(const EngineOptions& options, Precision precision) {
    switch (precision) {
    case Precision::float32:
        return std::make_unique<MultiSum<Point<float>>>(options);
    case Precision::mixed:
        return std::make_unique<MultiSum<MixedPoint>>(options);
    default:
        return std::make_unique<MultiSum<Point<double>>>(options);
    }
}

} // namespace farfield::cuda
