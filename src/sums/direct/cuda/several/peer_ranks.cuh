// The exchange of a step between ranks of one host, whose GPUs read each other's memory: processes open the
// memory of others by CUDA's handles for that.
#pragma once

#include "backend/comm/transport.h"
#include "backend/cuda/memory.h"
#include "sums/direct/cuda/several/exchange.cuh"

#include <cstddef>
#include <memory>
#include <vector>

namespace farfield::cuda {

/// Calls are made with the rank's GPU current, and wait for its stream and for the other ranks.
class PeerRanks : public StepExchange {
public:
    /// Null where the ranks are not processes of one host, or a GPU cannot read another's memory; then it is
    /// null on all ranks. `begins`: the first body of each rank, and at the end n; `subtrees`: of each.
    static std::unique_ptr<PeerRanks> open(comm::Transport& ranks, std::size_t point_bytes,
                                           const ExchangePart& own, const std::vector<int>& begins,
                                           const std::vector<int>& subtrees);
    ~PeerRanks() override;

    void offer_points(int p) override;
    void take_points(int p) override;
    void offer_subtrees(int p) override;
    void take_subtrees(int p) override;
    [[nodiscard]] std::vector<const Vec4<double>*> subtrees_for(int p) const override;

private:
    struct Memory {
        std::byte* points = nullptr;
        Vec4<double>* stack = nullptr;
    };
    PeerRanks(comm::Transport& ranks, std::size_t point_bytes, const ExchangePart& own,
              const std::vector<int>& begins, const std::vector<int>& subtrees)
        : ranks_(ranks), point_bytes_(point_bytes), own_(own), begins_(begins), subtrees_(subtrees),
          memory_(subtrees.size()) {}
    [[nodiscard]] bool open_all();
    void wait_for_all();

    comm::Transport& ranks_;
    std::size_t point_bytes_;
    ExchangePart own_;
    std::vector<int> begins_, subtrees_;
    std::vector<Memory> memory_;         ///< of the other ranks
    DeviceArray<Vec4<double>> gathered_; ///< the others' subtrees for this rank's bodies
};

} // namespace farfield::cuda
