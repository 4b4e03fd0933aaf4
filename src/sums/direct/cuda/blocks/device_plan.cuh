// A one-sided plan (plan.h) made on the GPU, for blocks that only the GPU knows.
#pragma once

#include "backend/cuda/workspace.h"
#include "sums/direct/cuda/blocks/block_sum.cuh"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace farfield::cuda {

class OneSidedDevicePlan {
public:
    /// Plans for `count` target blocks that hold `points` points together. Waits for the number of items.
    void make(const BlockRange* targets, int count, std::int64_t points, std::size_t real_bytes,
              cudaStream_t stream);
    [[nodiscard]] BlockPlanView view() const;

private:
    DeviceArray<BlockItem> unsorted_, items_;
    DeviceArray<std::int32_t> counts_, begins_, keys_, sorted_keys_;
    Workspace workspace_;
    BlockShape shape_;
    int item_count_ = 0;
    int block_count_ = 0;
};

} // namespace farfield::cuda
