// The sums of a simulation by any rung, on one GPU: SumEngine's interface over RungSum. Points are packed by
// the moves, and brought into the rung's own layout before each sum, as the slides' second kernel does for
// theirs.
#pragma once

#include "backend/cuda/check.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/rung_sum.cuh"
#include "sums/direct/cuda/several/engine.cuh"

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace farfield::cuda {

struct RungEngineOptions {
    int device = 0;
    Rung rung = Rung::naive;
    Precision precision = Precision::float32;
    int n = 0;
    double softening = 0.0; ///< in the unit of the points
    bool times_sums = false;
};

template <class PointType>
class RungEngine {
public:
    /// Takes all memory that `compute` needs, but for a workspace. @throws InvalidArgument for a rung without
    /// the precision; DeviceError where the GPU's memory is full.
    explicit RungEngine(const RungEngineOptions& options)
        : options_(options), sum_(make_rung_sum(options.rung, options.precision)) {
        check(cudaSetDevice(options.device), "selecting a GPU");
        stream_ = Stream();
        auto* const points = static_cast<PointType*>(sum_->reserve_packed(options.n));
        using Sums = const Vec4<typename PointType::real>*;
        parts_[0] = EnginePart<PointType>{.device = options.device,
                                          .end = options.n,
                                          .points = points,
                                          .sums = static_cast<Sums>(sum_->sums()),
                                          .stream = stream_.get()};
    }

    [[nodiscard]] std::span<EnginePart<PointType>> parts() { return parts_; }

    template <class Work>
    void for_each_part(Work&& work) {
        check(cudaSetDevice(options_.device), "selecting a GPU");
        work(parts_[0]);
    }

    /// Queues a sum of the field. @throws DeviceError.
    void compute() {
        check(cudaSetDevice(options_.device), "selecting a GPU");
        sum_->lay_out_packed(stream_.get());
        if (!options_.times_sums) return sum_->launch(options_.softening, field_only, stream_.get());
        auto& [start, end] = timed_.emplace_back();
        start.record(stream_);
        sum_->launch(options_.softening, field_only, stream_.get());
        end.record(stream_);
    }

    /// Of the sums since the last call; waits for them.
    double sum_milliseconds() {
        double all = 0.0;
        for (const auto& [start, end] : std::exchange(timed_, {})) all += Event::milliseconds(start, end);
        return all;
    }

private:
    RungEngineOptions options_;
    Stream stream_;
    std::unique_ptr<RungSum> sum_;
    std::array<EnginePart<PointType>, 1> parts_{};
    std::vector<std::pair<Event, Event>> timed_;
};

} // namespace farfield::cuda
