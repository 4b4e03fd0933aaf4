// The exchange of a step between parts that are ranks, with a GPU each: by messages, which hold memory of
// GPUs where MPI knows them, or copies in pinned memory of each host.
#pragma once

#include "backend/comm/transport.h"
#include "backend/cuda/memory.h"
#include "sums/direct/cuda/several/exchange.cuh"

#include <cstddef>
#include <span>
#include <vector>

namespace farfield::cuda {

/// Calls are made with the rank's GPU current, and wait for its stream and for the other ranks.
class RanksExchange : public StepExchange {
public:
    /// `own`: this rank's part; `begins`: the first body of each rank, and at the end n; `subtrees`: of each.
    RanksExchange(comm::Transport& ranks, std::size_t point_bytes, const ExchangePart& own,
                  std::vector<int> begins, std::vector<int> subtrees, bool sends_gpu_memory);

    void offer_points(int p) override;
    void take_points(int p) override;
    void offer_subtrees(int p) override;
    void take_subtrees(int p) override;
    [[nodiscard]] std::vector<const Vec4<double>*> subtrees_for(int p) const override;

private:
    void send_points();
    /// Between these; in the order of `subtrees_for`.
    void send_subtrees(const Vec4<double>* own_stack, Vec4<double>* to);

    [[nodiscard]] std::size_t first_of(int rank) const {
        return static_cast<std::size_t>(begins_[static_cast<std::size_t>(rank)]);
    }
    [[nodiscard]] std::size_t count_of(int rank) const { return first_of(rank + 1) - first_of(rank); }
    [[nodiscard]] int subtrees_of(int rank) const { return subtrees_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] std::size_t all() const { return static_cast<std::size_t>(begins_.back()); }

    comm::Transport& ranks_;
    std::size_t point_bytes_;
    ExchangePart own_;
    std::vector<int> begins_, subtrees_;
    bool sends_gpu_memory_;
    // Of the host, where messages do not hold memory of GPUs.
    PinnedArray<std::byte> own_points_, all_points_;
    PinnedArray<Vec4<double>> own_stack_, received_; ///< rows of others; rows for this rank's bodies
    DeviceArray<Vec4<double>> gathered_;             ///< the same on the GPU
};

} // namespace farfield::cuda
