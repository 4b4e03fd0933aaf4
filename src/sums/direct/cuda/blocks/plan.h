// What each thread block of a sum over blocks does on a GPU, planned on the host from the lists alone,
// without a CUDA header. A target block that is too large for the registers of a thread block is cut into
// pieces; a piece is an item. Items are sorted by their tile, the targets a lane holds, so that a
// multiprocessor runs one code variant at a time: with all of them at once its instruction cache overflows.
//
// A mutual sum computes a pair of blocks once. What a source block gets goes to slots, one for each point,
// item and partner; a second kernel adds the slots of each point in the order of `incoming`. So the bits
// depend on the plan alone.
#pragma once

#include "math/host_device.h"
#include "sums/points/block_lists.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// Four lanes of a warp hold different targets, eight hold the same ones for different sources.
constexpr int target_lanes = 4;
constexpr int source_lanes = 8;

/// How many warps share the targets of an item, and how many targets a lane holds at most.
struct BlockShape {
    int warps = 1; ///< 1, 2 or 4
    int most_per_lane = 12;
    FF_HD constexpr int row() const { return target_lanes * warps; } ///< targets for one a lane
    FF_HD constexpr int capacity() const { return row() * most_per_lane; }
};

/// The most targets a lane that the kernels have, as their registers allow.
FF_HD constexpr int largest_tile(std::size_t real_bytes, int warps) {
    return real_bytes == 8 ? 6 : (warps == 4 ? 10 : 12);
}

/// Targets a lane for an item of `count`.
FF_HD constexpr int per_lane(int count, int warps) {
    return (count + target_lanes * warps - 1) / (target_lanes * warps);
}

/// Pieces of a block of `size`, and the first target of each: sizes differ by one at most.
FF_HD constexpr int pieces_of(int size, const BlockShape& shape) {
    return (size + shape.capacity() - 1) / shape.capacity();
}
FF_HD constexpr int piece_begin(int size, int pieces, int piece) {
    return static_cast<int>(static_cast<std::int64_t>(size) * piece / pieces);
}

struct alignas(16) BlockItem {
    std::int32_t block = 0;
    std::int32_t first = 0;  ///< target, in the array of points
    std::int32_t count = 0;  ///< of targets
    std::int32_t places = 0; ///< mutual: partner e of the block has its slots from slots[places + e] on
};

struct BlockPlan {
    BlockShape shape;
    bool mutual = false;
    std::vector<BlockItem> items;
    std::vector<std::uint32_t> slots;
    /// Slots with sums of block b start at incoming[incoming_first[b]] … and hold a sum a point.
    std::vector<std::uint32_t> incoming;
    std::vector<std::int32_t> incoming_first;
    std::int64_t slot_count = 0;

    /// Of memory on the GPU for the plan itself, and for the slots of a sum in numbers of `real_bytes`.
    [[nodiscard]] std::size_t plan_bytes() const;
    [[nodiscard]] std::size_t slot_bytes(std::size_t real_bytes) const {
        return static_cast<std::size_t>(slot_count) * 4 * real_bytes;
    }
};

/// The shape that suits blocks of this mean size (points over blocks that are not empty).
BlockShape block_shape(double mean_size, std::size_t real_bytes);

/// Of the target blocks that are not empty.
double mean_size(const BlockLists& lists);

/// For lists that `check_lists` or, if mutual, `check_mutual_lists` accepts.
/// @throws InvalidArgument for 2³² slots or more.
BlockPlan plan_blocks(const BlockLists& lists, const BlockShape& shape, bool mutual);

} // namespace farfield::cuda
