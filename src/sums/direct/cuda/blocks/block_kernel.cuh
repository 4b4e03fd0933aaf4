// The kernels of sums over blocks: a thread block takes an item, streams the points of all partners of its
// target block through shared memory, densely, whatever their sizes, and meets them with the targets that it
// holds in registers.
#pragma once

#include "sums/direct/cuda/blocks/block_sum.cuh"
#include "sums/direct/cuda/blocks/pair_tile.cuh"

#include <cstdint>

namespace farfield::cuda {

constexpr int staged_sources = 128;
static_assert(staged_sources / source_lanes <= 32, "a bit for each step");
constexpr std::uint32_t no_slot = ~0U;

/// A partner's place in the stream of sources.
struct alignas(16) Run {
    int end;          ///< one past its last place
    int from;         ///< to be added to a place: index of the point
    std::uint32_t to; ///< likewise: its slot
    int unused;
};

template <class Real, int warps, Meeting meeting>
struct StagedSources {
    static constexpr bool mutual = meeting == Meeting::mutual;
    Vec4<Real> source[staged_sources];
    Vec4<Real> shift[32];
    Run run[32];
    std::uint32_t slot[mutual ? staged_sources : 1];
    std::int32_t index[mends(meeting) ? staged_sources : 1]; ///< of the points
    Real component[mutual && warps > 1 ? warps : 1][mutual && warps > 1 ? 4 * staged_sources : 1];
};

template <int warps>
__device__ __forceinline__ void meet_threads() {
    if constexpr (warps == 1)
        __syncwarp();
    else
        __syncthreads();
}

template <class Real, int outputs, int warps, Meeting meeting, int per_lane, class Formula>
class ItemWorker {
    static constexpr bool mutual = meeting == Meeting::mutual;
    static constexpr int threads = 32 * warps;
    static constexpr int loads = staged_sources / threads;
    using Staged = StagedSources<Real, warps, meeting>;

    const BlockTask<Real>& task_;
    const BlockPlanView& plan_;
    const BlockItem& item_;
    Vec4<Real>* slots_;
    Staged& staged_;
    const int thread_ = static_cast<int>(threadIdx.x);
    const int lane_source_ = thread_ % 32 / target_lanes;
    const int first_ =
        thread_ / 32 * per_lane * target_lanes + thread_ % target_lanes; ///< target of the lane
    PairTile<Real, outputs, per_lane, Formula> tile_;

    __device__ __forceinline__ static int padded(int count) {
        return (count + source_lanes - 1) / source_lanes * source_lanes;
    }

    // Partners e, e + 1, … of the block, as many as a warp has lanes, into the first warp's lanes.
    __device__ __forceinline__ void list_partners(int e, int end, int first) {
        if (thread_ >= 32) return;
        int size = 0, begin = 0;
        std::uint32_t slot = 0;
        Vec4<Real> shift{0, 0, 0, 0};
        if (e + thread_ < end) {
            const int partner = task_.partners[e + thread_];
            const BlockRange range = task_.source_blocks[partner];
            begin = range.begin;
            size = range.end - range.begin;
            if constexpr (mutual) slot = plan_.slots[item_.places + e + thread_ - first];
            if (task_.source_centres != nullptr) {
                const Vec4<double> to = task_.target_centres[item_.block];
                const auto from = nearest_to(to, task_.source_centres[partner], task_.period);
                shift = {static_cast<Real>(from.x - to.x), static_cast<Real>(from.y - to.y),
                         static_cast<Real>(from.z - to.z), Real(0)};
            }
        }
        int place = size;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const int before = __shfl_up_sync(~0U, place, step);
            if (thread_ >= step) place += before;
        }
        staged_.run[thread_] = {place, begin - (place - size),
                                slot - static_cast<std::uint32_t>(place - size), 0};
        staged_.shift[thread_] = shift;
    }

    // Places [begin, begin + staged_sources) of the stream, read before and written after the threads meet.
    // `run` is the run of the thread's last place: places rise.
    __device__ __forceinline__ void stage(int begin, int total, int& run) {
        Vec4<Real> point[loads];
        int run_of[loads];
#pragma unroll
        for (int u = 0; u < loads; ++u) {
            const int place = begin + u * threads + thread_;
            if (place < total) {
                while (place >= staged_.run[run].end) ++run;
                point[u] = task_.sources[place + staged_.run[run].from];
            }
            run_of[u] = run;
        }
        meet_threads<warps>();
#pragma unroll
        for (int u = 0; u < loads; ++u) {
            const int at = u * threads + thread_;
            if (begin + at < total) {
                const Vec4<Real> shift = staged_.shift[run_of[u]];
                staged_.source[at] = {point[u].x + shift.x, point[u].y + shift.y, point[u].z + shift.z,
                                      point[u].w};
                if constexpr (mutual)
                    staged_.slot[at] = static_cast<std::uint32_t>(begin + at) + staged_.run[run_of[u]].to;
                if constexpr (mends(meeting)) staged_.index[at] = begin + at + staged_.run[run_of[u]].from;
            } else {
                staged_.source[at] = Formula::template nothing<Real>(-1);
                if constexpr (mutual) staged_.slot[at] = no_slot;
            }
        }
        meet_threads<warps>();
    }

    __device__ __forceinline__ auto close() const {
        if constexpr (mends(meeting)) {
            const float distance = task_.close * static_cast<float>(task_.target_centres[item_.block].w);
            return ClosePairs<meeting == Meeting::mended_in_box>{task_.exact_targets + item_.first + first_,
                                                                 task_.exact_sources,
                                                                 staged_.index,
                                                                 distance * distance,
                                                                 Formula::length2(task_),
                                                                 task_.period};
        } else {
            return AsRounded{};
        }
    }

    __device__ __forceinline__ void meet_own_block() {
        const BlockRange range = task_.target_blocks[item_.block];
        for (int begin = range.begin; begin < range.end; begin += staged_sources) {
            const int count = min(staged_sources, range.end - begin);
            meet_threads<warps>();
#pragma unroll
            for (int u = 0; u < loads; ++u) {
                const int at = u * threads + thread_;
                staged_.source[at] =
                    at < count ? task_.sources[begin + at] : Formula::template nothing<Real>(-1);
                if constexpr (mends(meeting)) staged_.index[at] = begin + at;
            }
            meet_threads<warps>();
            tile_.template one_sided<true>(staged_.source, padded(count), lane_source_,
                                           begin + lane_source_ - item_.first - first_, close());
        }
    }

    __device__ __forceinline__ void meet_mutually(int count) {
        auto* slots = reinterpret_cast<Real*>(slots_);
        const int component = thread_ % target_lanes;
#pragma unroll 1
        for (int k = lane_source_; k < count; k += source_lanes) {
            const Real sum = component_of_four(tile_.mutual(staged_.source[k]).value());
            if constexpr (warps == 1) {
                const std::uint32_t slot = staged_.slot[k];
                if (slot != no_slot) slots[4 * static_cast<std::size_t>(slot) + component] = sum;
            } else {
                staged_.component[thread_ / 32][4 * k + component] = sum;
            }
        }
        if constexpr (warps > 1) {
            __syncthreads();
            for (int k = thread_; k < 4 * count; k += threads) {
                const std::uint32_t slot = staged_.slot[k / 4];
                Real sum = staged_.component[0][k];
#pragma unroll
                for (int w = 1; w < warps; ++w) sum += staged_.component[w][k];
                if (slot != no_slot) slots[4 * static_cast<std::size_t>(slot) + k % 4] = sum;
            }
        }
    }

public:
    __device__ __forceinline__ ItemWorker(const BlockTask<Real>& task, const BlockPlanView& plan,
                                          const BlockItem& item, Vec4<Real>* slots, Staged& staged)
        : task_(task), plan_(plan), item_(item), slots_(slots), staged_(staged),
          tile_(task.targets + item.first, first_, item.count,
                mends(meeting) ? Formula::length2_of_floats(task, item.block) : Formula::length2(task)) {}

    __device__ __forceinline__ void run() {
        if (task_.own) meet_own_block();
        const int first = task_.first[item_.block], end = task_.last[item_.block];
        for (int e = first; e < end; e += 32) {
            meet_threads<warps>();
            list_partners(e, end, first);
            meet_threads<warps>();
            const int total = staged_.run[31].end;
            int run = 0;
            for (int begin = 0; begin < total; begin += staged_sources) {
                stage(begin, total, run);
                const int count = padded(min(staged_sources, total - begin));
                if constexpr (mutual)
                    meet_mutually(count);
                else
                    tile_.template one_sided<false>(staged_.source, count, lane_source_, 0, close());
            }
        }
        tile_.store(task_.sums + item_.first, first_, item_.count, lane_source_);
    }
};

template <class Real, int outputs, int warps, Meeting meeting, int per_lane_now, class Formula>
__device__ __forceinline__ void run_item(int tile, const BlockTask<Real>& task, const BlockPlanView& plan,
                                         const BlockItem& item, Vec4<Real>* slots,
                                         StagedSources<Real, warps, meeting>& staged) {
    if (tile == per_lane_now)
        ItemWorker<Real, outputs, warps, meeting, per_lane_now, Formula>(task, plan, item, slots, staged)
            .run();
    else if constexpr (per_lane_now < Formula::largest_tile(sizeof(Real), warps))
        run_item<Real, outputs, warps, meeting, per_lane_now + 1, Formula>(tile, task, plan, item, slots,
                                                                           staged);
}

template <class Real, int outputs, int warps, Meeting meeting, class Formula>
__global__ void __launch_bounds__(32 * warps, Formula::resident_warps(sizeof(Real), meeting) / warps)
    block_kernel(const BlockTask<Real> task, const BlockPlanView plan, Vec4<Real>* slots) {
    __shared__ StagedSources<Real, warps, meeting> staged;
    const BlockItem item = plan.items[blockIdx.x];
    if (item.count == 0) return;
    run_item<Real, outputs, warps, meeting, 1, Formula>(per_lane(item.count, warps), task, plan, item, slots,
                                                        staged);
}

constexpr int gather_threads = 256;

/// Adds to the sums of each block what its slots hold, in their order: a warp a block.
template <class Real>
__global__ void gather_kernel(const BlockTask<Real> task, const BlockPlanView plan, const Vec4<Real>* slots) {
    const int block = static_cast<int>((blockIdx.x * gather_threads + threadIdx.x) / 32);
    if (block >= plan.block_count) return;
    const BlockRange range = task.target_blocks[block];
    const int first = plan.incoming_first[block], end = plan.incoming_first[block + 1];
    for (int i = static_cast<int>(threadIdx.x % 32); i < range.end - range.begin; i += 32) {
        Vec4<Real> sum = task.sums[range.begin + i];
#pragma unroll 8
        for (int e = first; e < end; ++e) {
            const Vec4<Real> part = slots[plan.incoming[e] + static_cast<std::size_t>(i)];
            sum.x += part.x;
            sum.y += part.y;
            sum.z += part.z;
            sum.w += part.w;
        }
        task.sums[range.begin + i] = sum;
    }
}

} // namespace farfield::cuda
