// A one-sided plan (plan.h) made on the GPU, for blocks that only the GPU knows.
#pragma once

#include "backend/cuda/stream.h"
#include "backend/cuda/workspace.h"
#include "sums/direct/cuda/blocks/block_sum.cuh"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace farfield::cuda {

class OneSidedDevicePlan {
public:
    /// Queues a plan for `count` target blocks that hold `points` points together.
    void queue(const BlockRange* targets, int count, std::int64_t points, const BlockShape& shape,
               cudaStream_t stream);
    /// A plan for blocks of no more than `largest` targets, made without waiting: each block has as many
    /// items as the largest one needs, some of them empty. For blocks of about one size.
    void queue_evenly(const BlockRange* targets, int count, int largest, const BlockShape& shape,
                      cudaStream_t stream);
    /// Each block is one item, whatever it holds: a plan for kernels that take items of all sizes.
    void use_blocks(int count, const BlockShape& shape);
    /// Waits for the number of items of the plan queued last, and queues the rest on the same stream.
    void finish(cudaStream_t stream);
    [[nodiscard]] BlockPlanView view() const;

private:
    void make_room_for_items(std::size_t most);
    void sort_items(cudaStream_t stream);

    DeviceArray<BlockItem> unsorted_, items_;
    DeviceArray<std::int32_t> counts_, begins_, keys_, sorted_keys_;
    Workspace workspace_;
    BlockShape shape_;
    PinnedArray<std::int32_t> seen_count_;
    Signal counted_;
    bool finished_ = true, blocks_are_items_ = false;
    int item_count_ = 0;
    int block_count_ = 0;
};

} // namespace farfield::cuda
