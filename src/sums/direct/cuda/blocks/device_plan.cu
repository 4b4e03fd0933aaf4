#include "sums/direct/cuda/blocks/device_plan.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr unsigned plan_threads = 256;
constexpr int key_bits = 4; ///< a tile has fewer than 16 targets a lane

struct PlanTask {
    const BlockRange* targets;
    int count;
    BlockShape shape;
};

unsigned blocks_for(int count) { return (static_cast<unsigned>(count) + plan_threads - 1) / plan_threads; }

__global__ void count_pieces_kernel(const PlanTask task, std::int32_t* counts) {
    const int block = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (block <= task.count)
        counts[block] = block < task.count ? pieces_of(task.targets[block].size(), task.shape) : 0;
}

/// The tile's key, by which largest tiles come first and empty items last.
__device__ std::int32_t key_of(const PlanTask& task, int targets) {
    return (1 << key_bits) - 1 - per_lane(targets, task.shape.warps);
}

__global__ void make_items_kernel(const PlanTask task, const std::int32_t* begins, BlockItem* items,
                                  std::int32_t* keys) {
    const int block = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (block >= task.count) return;
    const auto range = task.targets[block];
    const int pieces = pieces_of(range.size(), task.shape);
    for (int piece = 0; piece < pieces; ++piece) {
        const int begin = piece_begin(range.size(), pieces, piece);
        const int end = piece_begin(range.size(), pieces, piece + 1);
        items[begins[block] + piece] = {block, range.begin + begin, end - begin, 0};
        keys[begins[block] + piece] = key_of(task, end - begin);
    }
}

/// Piece `piece` of each block, or an empty item.
__global__ void even_items_kernel(const PlanTask task, int pieces, BlockItem* items, std::int32_t* keys) {
    const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= pieces * task.count) return;
    const int block = number % task.count, piece = number / task.count;
    const auto range = task.targets[block];
    const int own = pieces_of(range.size(), task.shape);
    const int begin = piece < own ? piece_begin(range.size(), own, piece) : 0;
    const int end = piece < own ? piece_begin(range.size(), own, piece + 1) : 0;
    items[number] = {block, range.begin + begin, end - begin, 0};
    keys[number] = key_of(task, end - begin);
}

} // namespace

void OneSidedDevicePlan::queue(const BlockRange* targets, int count, std::int64_t points,
                               const BlockShape& shape, cudaStream_t stream) {
    block_count_ = count;
    blocks_are_items_ = false;
    item_count_ = 0;
    finished_ = count == 0;
    if (finished_) return;
    shape_ = shape;
    const PlanTask task{targets, count, shape_};
    const auto size = static_cast<std::size_t>(count) + 1;
    make_room(counts_, size, size / 4);
    make_room(begins_, size, size / 4);
    // pieces hold more than half of what a tile can, but for those of small blocks
    const auto most = size + static_cast<std::size_t>(2 * points / shape_.capacity());
    make_room_for_items(most);
    count_pieces_kernel<<<blocks_for(count + 1), plan_threads, 0, stream>>>(task, counts_.data());
    check_launch("planning a sum over blocks");
    std::size_t scan_bytes = 0;
    check(
        cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, counts_.data(), begins_.data(), count + 1, stream),
        "planning a sum over blocks");

    check(cub::DeviceScan::ExclusiveSum(workspace_.reserve(scan_bytes), scan_bytes, counts_.data(),
                                        begins_.data(), count + 1, stream),
          "planning a sum over blocks");
    make_items_kernel<<<blocks_for(count), plan_threads, 0, stream>>>(task, begins_.data(), unsorted_.data(),
                                                                      keys_.data());
    check_launch("planning a sum over blocks");
    if (seen_count_.size() == 0) seen_count_ = PinnedArray<std::int32_t>(1);
    copy(seen_count_.data(), static_cast<const std::int32_t*>(begins_.data() + count), 1, stream);
    counted_.record(stream);
}

void OneSidedDevicePlan::queue_evenly(const BlockRange* targets, int count, int largest,
                                      const BlockShape& shape, cudaStream_t stream) {
    const int pieces = pieces_of(largest, shape);
    block_count_ = count;
    blocks_are_items_ = false;
    item_count_ = pieces * count;
    finished_ = true;
    shape_ = shape;
    make_room_for_items(static_cast<std::size_t>(item_count_));
    if (item_count_ == 0) return;
    even_items_kernel<<<blocks_for(item_count_), plan_threads, 0, stream>>>({targets, count, shape}, pieces,
                                                                            unsorted_.data(), keys_.data());
    check_launch("planning a sum over blocks");
    sort_items(stream);
}

void OneSidedDevicePlan::use_blocks(int count, const BlockShape& shape) {
    block_count_ = item_count_ = count;
    shape_ = shape;
    finished_ = blocks_are_items_ = true;
}

void OneSidedDevicePlan::make_room_for_items(std::size_t most) {
    make_room(unsorted_, most, most / 4);
    make_room(items_, most, most / 4);
    make_room(keys_, most, most / 4);
    make_room(sorted_keys_, most, most / 4);
}

// Largest tiles first, each tile's items in the order of their blocks, as plan.cpp has them.
void OneSidedDevicePlan::sort_items(cudaStream_t stream) {
    std::size_t bytes = 0;
    const auto sort = [&](void* memory) {
        check(cub::DeviceRadixSort::SortPairs(memory, bytes, keys_.data(), sorted_keys_.data(),
                                              unsorted_.data(), items_.data(), item_count_, 0, key_bits,
                                              stream),
              "planning a sum over blocks");
    };
    sort(nullptr);
    sort(workspace_.reserve(bytes));
}

void OneSidedDevicePlan::finish(cudaStream_t stream) {
    if (finished_) return;
    counted_.synchronize();
    item_count_ = *seen_count_.data();
    if (item_count_ == 0) {
        finished_ = true;
        return;
    }
    sort_items(stream);
    finished_ = true;
}

BlockPlanView OneSidedDevicePlan::view() const {
    return {blocks_are_items_ ? nullptr : items_.data(),
            nullptr,
            nullptr,
            nullptr,
            item_count_,
            block_count_,
            shape_,
            false};
}

} // namespace farfield::cuda
