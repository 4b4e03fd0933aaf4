// Copies of the state of a simulation: one on its way to the host, one to go back to.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "dynamics/cuda/stepper.cuh"
#include "sums/direct/cuda/several/rank_rows.cuh"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield::cuda {

/// The first evaluation of which a part has noted that it was not finite, of all ranks.
inline std::optional<std::uint64_t> first_failure(std::span<const Control> parts, comm::Transport* ranks) {
    auto first = no_failure;
    for (const auto& part : parts) first = std::min(first, part.failure);
    if (ranks != nullptr)
        for (const auto of_rank : comm::all_values(*ranks, first)) first = std::min(first, of_rank);
    if (first == no_failure) return std::nullopt;
    return first;
}

/// The state of all bodies on the first GPU, or on that of each rank, on its way to the host.
class Courier {
public:
    Courier(const MotionInput& input, std::span<StatePart> parts)
        : ranks_(input.setup->ranks), device_(parts.front().device), third_(3 * input.bodies->mass.size()),
          host_(3 * third_), controls_(parts.size()), exponent_(input.setup->frame.exponent) {
        for (auto& staged : staged_) staged = DeviceArray<double>(third_);
        if (ranks_ != nullptr) {
            rank_rows_.emplace(*ranks_, input.setup->exchange, input.setup->mpi_gpu);
            rank_rows_->set_count(parts.front().n);
        }
        for (const auto& part : parts) {
            check(cudaSetDevice(part.device), "selecting a GPU");
            ready_.emplace_back();
        }
        check(cudaSetDevice(device_), "selecting a GPU");
    }

    Courier(const Courier&) = delete;
    Courier& operator=(const Courier&) = delete;
    ~Courier() { cudaStreamSynchronize(stream_.get()); } // a copy on its way needs the buffers

    /// The copy in GPU memory is queued on the streams of the parts, that to the host on a stream of its own.
    /// Ranks wait for each other.
    void send(std::span<StatePart> parts) {
        for (std::size_t k = 0; k < parts.size(); ++k) {
            auto& part = parts[k];
            check(cudaSetDevice(part.device), "selecting a GPU");
            const auto first = 3 * static_cast<std::size_t>(part.begin);
            copy(staged_[0].data() + first, part.x.data(), part.x.size(), part.stream);
            copy(staged_[1].data() + first, part.v.data(), part.v.size(), part.stream);
            copy(staged_[2].data() + first, part.a.data(), part.a.size(), part.stream);
            copy(controls_.data() + k, part.control.data(), 1, part.stream);
            if (ranks_ != nullptr) gather_from_ranks(part.stream);
            ready_[k].record(part.stream);
        }
        check(cudaSetDevice(device_), "selecting a GPU");
        for (const auto& ready : ready_) ready.hold(stream_.get());
        staged_all_.record(stream_);
        for (std::size_t k = 0; k < staged_.size(); ++k)
            copy(host_.data() + k * third_, staged_[k].data(), third_, stream_.get());
    }

    void wait(CapturedState& captured) {
        stream_.synchronize();
        captured.position = {host_.data(), third_};
        captured.velocity = {host_.data() + third_, third_};
        captured.acceleration = {host_.data() + 2 * third_, third_};
        captured.failure =
            first_failure(std::span<const Control>(controls_.data(), controls_.size()), ranks_);
        std::copy_n(controls_.data()->used, 3, captured.frame.origin);
        captured.frame.exponent = exponent_;
    }

    [[nodiscard]] const double* position() const { return staged_[0].data(); }
    [[nodiscard]] const double* velocity() const { return staged_[1].data(); }
    [[nodiscard]] const Event& staged() const { return staged_all_; }

private:
    void gather_from_ranks(cudaStream_t stream) {
        std::vector<RowArray> arrays;
        for (auto& staged : staged_)
            arrays.push_back({reinterpret_cast<std::byte*>(staged.data()), 3 * sizeof(double)});
        rank_rows_->gather(arrays, stream);
    }

    comm::Transport* ranks_; ///< null: all bodies are those of this process
    std::optional<RankRows> rank_rows_;
    int device_;
    std::size_t third_;
    std::array<DeviceArray<double>, 3> staged_; ///< positions, velocities, accelerations
    PinnedArray<double> host_;                  ///< the same, one behind the other
    PinnedArray<Control> controls_;
    int exponent_;
    Stream stream_;
    Event staged_all_;
    std::vector<Event> ready_;
};

/// The state before the last step, on one GPU.
class KeptState {
public:
    explicit KeptState(const StatePart& part)
        : x_(part.x.size()), v_(x_.size()), a_(x_.size()), control_(1) {}

    /// `length`: of the step to come; none: the first evaluation is.
    void keep(const StatePart& part, std::optional<double> length) {
        length_ = length;
        copy(x_.data(), part.x.data(), x_.size(), part.stream);
        copy(v_.data(), part.v.data(), v_.size(), part.stream);
        copy(a_.data(), part.a.data(), a_.size(), part.stream);
        copy(control_.data(), part.control.data(), 1, part.stream);
    }

    std::optional<double> bring_back(StatePart& part) const {
        copy(part.x.data(), x_.data(), x_.size(), part.stream);
        copy(part.v.data(), v_.data(), v_.size(), part.stream);
        copy(part.a.data(), a_.data(), a_.size(), part.stream);
        copy(part.control.data(), control_.data(), 1, part.stream);
        return length_;
    }

private:
    DeviceArray<double> x_, v_, a_;
    DeviceArray<Control> control_;
    std::optional<double> length_;
};

} // namespace farfield::cuda
