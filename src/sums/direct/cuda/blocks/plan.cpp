#include "sums/direct/cuda/blocks/plan.h"

#include <farfield/error.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace farfield::cuda {
namespace {

// Largest tiles first: the last thread blocks to finish are then the shortest. Items of one tile stay in the
// order of their blocks, neighbours close together in time, so that sources are found in the caches.
void sort_by_tile(std::vector<BlockItem>& items, int warps) {
    std::stable_sort(items.begin(), items.end(), [&](const BlockItem& a, const BlockItem& b) {
        return per_lane(a.count, warps) > per_lane(b.count, warps);
    });
}

struct Incoming {
    std::int32_t block;
    std::uint32_t slot;
};

void add_slots(const BlockLists& lists, BlockItem& item, BlockPlan& plan, std::vector<Incoming>& incoming) {
    item.places = static_cast<std::int32_t>(plan.slots.size());
    for (const auto partner : lists.of(static_cast<std::size_t>(item.block))) {
        if (plan.slot_count > std::numeric_limits<std::uint32_t>::max())
            throw InvalidArgument("a mutual sum over " + std::to_string(lists.targets.size()) +
                                  " blocks needs more than 2^32 partial sums; sum it one-sided");
        const auto slot = static_cast<std::uint32_t>(plan.slot_count);
        plan.slots.push_back(slot);
        incoming.push_back({partner, slot});
        plan.slot_count += lists.sources[static_cast<std::size_t>(partner)].size();
    }
}

} // namespace

std::size_t BlockPlan::plan_bytes() const {
    return items.size() * sizeof(BlockItem) + slots.size() * sizeof(std::uint32_t) +
           incoming.size() * sizeof(std::uint32_t) + incoming_first.size() * sizeof(std::int32_t);
}

double mean_size(const BlockLists& lists) {
    std::int64_t points = 0;
    std::int64_t blocks = 0;
    for (const auto& range : lists.targets) {
        points += range.size();
        blocks += range.size() > 0 ? 1 : 0;
    }
    return blocks == 0 ? 0.0 : static_cast<double>(points) / static_cast<double>(blocks);
}

BlockShape block_shape(double mean_size, std::size_t real_bytes) {
    // measured on an H200 (bench/results/h200/blocks.json); all shapes are right
    const double small = real_bytes == 8 ? 24 : 40;
    const double large = real_bytes == 8 ? 64 : 96;
    const int warps = mean_size < small ? 1 : (mean_size < large ? 2 : 4);
    return {warps, largest_tile(real_bytes, warps)};
}

BlockPlan plan_blocks(const BlockLists& lists, const BlockShape& shape, bool mutual) {
    BlockPlan plan;
    plan.shape = shape;
    plan.mutual = mutual;
    std::vector<Incoming> incoming;
    for (std::size_t b = 0; b < lists.targets.size(); ++b) {
        const auto range = lists.targets[b];
        const int pieces = pieces_of(range.size(), shape);
        for (int piece = 0; piece < pieces; ++piece) {
            const int begin = piece_begin(range.size(), pieces, piece);
            const int end = piece_begin(range.size(), pieces, piece + 1);
            BlockItem item{static_cast<std::int32_t>(b), range.begin + begin, end - begin, 0};
            if (mutual) add_slots(lists, item, plan, incoming);
            plan.items.push_back(item);
        }
    }
    sort_by_tile(plan.items, shape.warps);
    if (!mutual) return plan;
    std::stable_sort(incoming.begin(), incoming.end(),
                     [](const Incoming& a, const Incoming& b) { return a.block < b.block; });
    plan.incoming_first.assign(lists.targets.size() + 1, 0);
    for (const auto& one : incoming) {
        ++plan.incoming_first[static_cast<std::size_t>(one.block) + 1];
        plan.incoming.push_back(one.slot);
    }
    for (std::size_t b = 0; b < lists.targets.size(); ++b)
        plan.incoming_first[b + 1] += plan.incoming_first[b];
    return plan;
}

} // namespace farfield::cuda
