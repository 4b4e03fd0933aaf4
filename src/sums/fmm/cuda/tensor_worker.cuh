// What a thread block of TensorTranslation does: senders into shared memory, products on tensor cores, sums
// of its warps.
#pragma once

#include "sums/fmm/cuda/tensor_translate.cuh"

#include <cuda_fp16.h>

#include <cstdint>

namespace farfield::cuda {
namespace tensor_work {

using namespace tensor_block;

constexpr int tensor_warps = 12;
constexpr int tensor_threads = 32 * tensor_warps;
constexpr int halo_parents = halo * halo * halo;
constexpr int target_tiles = targets / 8;
constexpr int ancestor_levels = 2; ///< from a parent to the cell that its block is

struct TensorTask {
    TreeView tree;
    const float* from;
    float* to;
    int size;   ///< of an expansion
    int levels; ///< that have matrices of their own
    std::int32_t matrices_a_level;
    const std::uint16_t* fragments;
    const std::uint8_t* sizes; ///< of the matrices' leading blocks, beyond which they are zero
    const float* unscales;     ///< so that products are right
    const TensorSender* senders;
    const std::int32_t* first_sender;
    const TensorBlock* blocks;
    const std::uint8_t* tiles; ///< of targets, for each octant of each block
    const std::int32_t* block_count;
};

/// The cell of a block's level with this index, or none: from the block's ancestor cell, or from the
/// coarsest. In a periodic tree also the cell whose image has the index.
inline __device__ std::int32_t cell_at(const TreeView& tree, const TensorBlock& block,
                                       const int (&index)[3]) {
    const int levels = min(block.level, ancestor_levels);
    int above[3];
    for (int axis = 0; axis < 3; ++axis) {
        if (index[axis] < 0 && !tree.is_periodic()) return TreeView::none;
        above[axis] = index[axis] >> levels;
    }
    std::int32_t cell = TreeView::none;
    if (block.level < ancestor_levels)
        cell = tree.coarse_cell(above[0], above[1], above[2]);
    else
        cell = tree.neighbour(block.cell,
                              tree.neighbour_slot(above[0] - block.index[0], above[1] - block.index[1],
                                                  above[2] - block.index[2]));
    for (int level = levels - 1; level >= 0 && cell != TreeView::none; --level)
        cell = tree.child(cell, (index[0] >> level & 1) | (index[1] >> level & 1) << 1 |
                                    (index[2] >> level & 1) << 2);
    return cell;
}

/// How many of a block's parents along an axis lie in the grid, beyond which blocks of coarse levels reach:
/// there are images at most, which are no targets.
inline __device__ int parents_in_grid(const TreeView& tree, const TensorBlock& block, int axis) {
    return min(parents, (tree.coarse << block.level) - parents * block.index[axis]);
}

__device__ __forceinline__ float as_tf32(float x) {
    unsigned out;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
    return __uint_as_float(out);
}

__device__ __forceinline__ void multiply_add(float4& sum, const float4& a, const float2& b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)
        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)),
          "r"(__float_as_uint(a.w)), "r"(__float_as_uint(b.x)), "r"(__float_as_uint(b.y)));
}

/// Four numbers in half precision.
__device__ __forceinline__ float4 unpacked(unsigned low, unsigned high) {
    const auto two = [](unsigned bits) { return __half22float2(*reinterpret_cast<const __half2*>(&bits)); };
    const auto a = two(low);
    const auto b = two(high);
    return {a.x, a.y, b.x, b.y};
}

constexpr int most_columns = 32; ///< of expansions, in shared memory at a time; and rows of products

constexpr int least_shift = place(0, -1, -1, -1) - place(0, 0, 0, 0);
constexpr int most_listed = 192;
static_assert(most_listed >= 8 * 27 - 27);

/// A sender of an octant: the number of its matrix, how many 16 functions that has, and its shift.
struct ListedSender {
    std::uint32_t bits = 0;

    static __device__ ListedSender of(const TensorSender& sender, int size) {
        return {static_cast<std::uint32_t>(sender.matrix) | static_cast<std::uint32_t>(size / 16) << 10 |
                static_cast<std::uint32_t>(sender.shift - least_shift) << 16};
    }
    [[nodiscard]] __device__ int matrix() const { return static_cast<int>(bits & 1023); }
    [[nodiscard]] __device__ int size() const { return static_cast<int>(bits >> 10 & 63) * 16; }
    [[nodiscard]] __device__ int shift() const { return static_cast<int>(bits >> 16) + least_shift; }
};

struct TensorStage {
    float senders[cells * most_columns];
    union {
        std::int32_t cell_of[cells];        ///< while they are loaded
        float sums[targets * most_columns]; ///< afterwards
    };
    std::int32_t parent[halo_parents];
    int in_grid[3];                           ///< of the targets' parents, along each axis
    std::int32_t target[targets];             ///< those that there are, in the order of their places
    std::uint32_t target_lanes[targets / 32]; ///< which parents have them
    std::int16_t place_of[targets];           ///< of the targets' parents
    /// Bits by the shift of a sender, from least_shift on.
    std::uint32_t has_senders[8 * halo_parents / 32];
    ListedSender senders_of[most_listed];   ///< of the octant at hand, those that there are
    std::uint32_t listed[most_listed / 32]; ///< which of its senders these are
};
static_assert(8 * halo_parents % 32 == 0);

/// Steps of a sender's columns are exchanged so that the four senders that half a warp reads at a time lie in
/// different banks, where they lie side by side along x.
template <int columns>
__device__ __forceinline__ int exchange(int place) {
    return columns == 32 ? place & 3 : place >> 1 & 1;
}

/// What a thread block does for one block of parents: `rows` and `columns` (16 or 32) of the matrices at a
/// time, from `first_row` and `first_column` on.
class BlockWorker {
    const TensorTask& task_;
    TensorStage& stage_;
    const int thread_ = static_cast<int>(threadIdx.x);
    const int lane_ = thread_ % 32;
    const int warp_ = thread_ / 32;
    std::int32_t first_matrix_ = 0;
    int target_tiles_ = 0, sender_count_ = 0; ///< of the octant at hand
    float unscale_ = 1.0F;

public:
    __device__ BlockWorker(const TensorTask& task, TensorStage& stage) : task_(task), stage_(stage) {}

    __device__ void begin(const TensorBlock& block) {
        const int level = min(block.level + 1, task_.levels - 1);
        first_matrix_ = level * task_.matrices_a_level;
        unscale_ = task_.unscales[level];
        if (thread_ < 3) stage_.in_grid[thread_] = parents_in_grid(task_.tree, block, thread_);
        for (int i = thread_; i < halo_parents; i += tensor_threads) {
            const int index[3] = {parents * block.index[0] + i % halo - 1,
                                  parents * block.index[1] + i / halo % halo - 1,
                                  parents * block.index[2] + i / (halo * halo) - 1};
            stage_.parent[i] = cell_at(task_.tree, block, index);
        }
        __syncthreads();
    }

    template <int columns>
    __device__ void load_senders(int first_column) {
        for (int i = thread_; i < cells; i += tensor_threads) {
            const auto parent = stage_.parent[i % halo_parents];
            auto cell =
                parent == TreeView::none ? TreeView::none : task_.tree.child(parent, i / halo_parents);
            if (cell != TreeView::none && !task_.tree.self && task_.tree.sources[cell].size() == 0)
                cell = TreeView::none;
            stage_.cell_of[i] = cell;
        }
        __syncthreads();
        if (first_column == 0) find_senders();
        constexpr int packs = columns / 4;
#pragma unroll 4
        for (int i = thread_; i < cells * packs; i += tensor_threads) {
            const int place = i / packs;
            const int pack = i % packs;
            const auto cell = stage_.cell_of[place];
            float4 value{0, 0, 0, 0};
            if (cell != TreeView::none)
                value = *reinterpret_cast<const float4*>(
                    task_.from + static_cast<std::int64_t>(cell) * task_.size + first_column + 4 * pack);
            const auto rounded = [&](float x) { return as_tf32(unscale_ * x); };
            value = {rounded(value.x), rounded(value.y), rounded(value.z), rounded(value.w)};
            const int step = pack / 2 ^ exchange<columns>(place);
            *reinterpret_cast<float4*>(stage_.senders + place * columns + step * tensor_step + pack % 2 * 4) =
                value;
        }
        __syncthreads();
    }

    /// False where there are none. Tiles of eight hold those that there are, wherever they lie: of a cluster
    /// many parents are missing.
    __device__ bool find_targets(int octant) {
        std::int32_t target = TreeView::none;
        int at = 0;
        if (thread_ < targets) {
            const int x = thread_ % parents, y = thread_ / parents % parents,
                      z = thread_ / (parents * parents);
            const bool in_grid = x < stage_.in_grid[0] && y < stage_.in_grid[1] && z < stage_.in_grid[2];
            at = place(0, x, y, z);
            const auto parent = in_grid ? stage_.parent[at] : TreeView::none;
            if (parent != TreeView::none) target = task_.tree.child(parent, octant);
            if (target != TreeView::none && task_.tree.targets[target].size() == 0) target = TreeView::none;
            const unsigned there = __ballot_sync(~0U, target != TreeView::none ? 1 : 0);
            if (lane_ == 0) stage_.target_lanes[warp_] = there;
        }
        // the senders that some parent's neighbour has
        ListedSender sender;
        bool listed = false;
        if (thread_ < most_listed) {
            if (const auto s = task_.first_sender[octant] + thread_; s < task_.first_sender[octant + 1]) {
                const auto of = task_.senders[s];
                const int bit = of.shift - least_shift;
                sender = ListedSender::of(of, task_.sizes[first_matrix_ + of.matrix]);
                listed = (stage_.has_senders[bit / 32] >> (bit % 32) & 1U) != 0;
            }
            const unsigned there = __ballot_sync(~0U, listed ? 1 : 0);
            if (lane_ == 0) stage_.listed[warp_] = there;
        }
        __syncthreads();
        static_assert(targets == 64);
        const unsigned before = (1U << lane_) - 1;
        const int first = __popc(stage_.target_lanes[0]);
        const int count = first + __popc(stage_.target_lanes[1]);
        target_tiles_ = (count + 7) / 8;
        if (target != TreeView::none) {
            const int rank = warp_ * first + __popc(stage_.target_lanes[warp_] & before);
            stage_.target[rank] = target;
            stage_.place_of[rank] = static_cast<std::int16_t>(at);
        }
        if (count + thread_ < targets) { // the rest of the last tiles compute nothing of use
            stage_.target[count + thread_] = TreeView::none;
            stage_.place_of[count + thread_] = static_cast<std::int16_t>(place(0, 0, 0, 0));
        }
        sender_count_ = 0;
        int rank = listed ? __popc(stage_.listed[warp_] & before) : 0;
        for (int w = 0; w < most_listed / 32; ++w) {
            const int of_warp = __popc(stage_.listed[w]);
            if (w < warp_) rank += of_warp;
            sender_count_ += of_warp;
        }
        if (listed) stage_.senders_of[rank] = sender;
        __syncthreads();
        return count > 0;
    }
    [[nodiscard]] __device__ int found_tiles() const { return target_tiles_; }

    /// Products of the targets of one octant, which are at most `most_tiles`: the first columns replace what
    /// they had. The inner loops have no branches by tile, so that reading one tile's senders hides behind
    /// the products of another.
    template <int rows, int columns, int most_tiles>
    __device__ void translate(int first_row, int first_column) {
        constexpr int pairs = columns / 16; // of steps
        constexpr int tiles = rows / 16;
        constexpr int bytes = columns * static_cast<int>(sizeof(float)); // of a sender
        constexpr int step_bytes = tensor_step * static_cast<int>(sizeof(float));
        float4 sum[tiles][most_tiles] = {};
        const int tiles_a_row = task_.size / 16;
        const auto* const fragments = reinterpret_cast<const uint4*>(task_.fragments) + lane_ +
                                      32 * (first_row / 16 * tiles_a_row + first_column / 16);
        int own[most_tiles]; // places of the parents that the lane reads for
#pragma unroll
        for (int to = 0; to < most_tiles; ++to) own[to] = stage_.place_of[8 * to + lane_ / 4];
        ListedSender sender;
        uint4 next[tiles][pairs];
        int s = warp_;
        const auto has_rows = [&](const ListedSender& of, int tile) {
            return first_row + 16 * tile < of.size();
        };
        const auto has_columns = [&](const ListedSender& of, int pair) {
            return first_column + 16 * pair < of.size();
        };
        const auto find = [&] { // the next one whose matrix has such rows and columns
            for (; s < sender_count_; s += tensor_warps) {
                sender = stage_.senders_of[s];
                if (!has_rows(sender, 0) || !has_columns(sender, 0)) continue;
                const auto* from = fragments + static_cast<std::int64_t>(first_matrix_ + sender.matrix()) *
                                                   (32 * tiles_a_row * tiles_a_row);
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
                    for (int pair = 0; pair < pairs; ++pair)
                        next[tile][pair] =
                            __ldg(from + 32 * (tile * tiles_a_row + pair)); // zero beyond its size
                return;
            }
        };
        find();
        while (s < sender_count_) {
            uint4 matrix[tiles][pairs];
#pragma unroll
            for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
                for (int pair = 0; pair < pairs; ++pair) matrix[tile][pair] = next[tile][pair];
            const auto now = sender;
            int at[most_tiles]; // bytes
#pragma unroll
            for (int to = 0; to < most_tiles; ++to) {
                const int from = own[to] + now.shift();
                at[to] = from * bytes + exchange<columns>(from) * step_bytes + lane_ % 4 * 8;
            }
            s += tensor_warps;
            find();
#pragma unroll
            for (int pair = 0; pair < pairs; ++pair) {
                if (!has_columns(now, pair)) break;
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    float2 b[most_tiles];
#pragma unroll
                    for (int to = 0; to < most_tiles; ++to)
                        b[to] =
                            *reinterpret_cast<const float2*>(reinterpret_cast<const char*>(stage_.senders) +
                                                             (at[to] ^ (2 * pair + half) * step_bytes));
#pragma unroll
                    for (int tile = 0; tile < tiles; ++tile) {
                        const auto& pack = matrix[tile][pair];
                        const auto a = half == 0 ? unpacked(pack.x, pack.y) : unpacked(pack.z, pack.w);
#pragma unroll
                        for (int to = 0; to < most_tiles; ++to) multiply_add(sum[tile][to], a, b[to]);
                    }
                }
            }
        }
        add_up(sum);
        store<rows>(first_row, first_column > 0);
    }

private:
    __device__ void find_senders() {
        for (int i = thread_; i < 8 * halo_parents / 32; i += tensor_threads) stage_.has_senders[i] = 0;
        __syncthreads();
        for (int i = thread_; i < 8 * 27; i += tensor_threads) {
            const int octant = i / 27;
            const int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 % 3 - 1;
            bool any = false;
            for (int n = 0; n < targets; ++n)
                any = any || stage_.cell_of[place(octant, n % parents + x, n / parents % parents + y,
                                                  n / (parents * parents) + z)] != TreeView::none;
            const int bit = place(octant, x, y, z) - place(0, -1, -1, -1);
            if (any) atomicOr(&stage_.has_senders[bit / 32], 1U << (bit % 32));
        }
        __syncthreads();
    }

    // One warp after the other: the order of additions is always the same.
    template <int tiles, int most_tiles>
    __device__ void add_up(const float4 (&sum)[tiles][most_tiles]) {
        auto* const sums = reinterpret_cast<float4*>(stage_.sums);
        for (int warp = 0; warp < tensor_warps; ++warp) {
            if (warp == warp_)
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
                    for (int to = 0; to < most_tiles; ++to) {
                        auto& total = sums[(tile * target_tiles + to) * 32 + lane_];
                        const auto& own = sum[tile][to];
                        const float4 before = warp == 0 ? float4{0, 0, 0, 0} : total;
                        total = {before.x + own.x, before.y + own.y, before.z + own.z, before.w + own.w};
                    }
            __syncthreads();
        }
    }

    template <int rows>
    __device__ void store(int first_row, bool adds) const {
        for (int i = thread_; i < 8 * target_tiles_ * rows; i += tensor_threads) {
            const int n = i / rows;
            const int row = i % rows;
            const auto cell = stage_.target[n];
            if (cell == TreeView::none) continue;
            const int lane = 4 * (row % 8) + n % 8 / 2;
            const int pack = (row / 16 * target_tiles + n / 8) * 32 + lane;
            const float value = stage_.sums[4 * pack + row % 16 / 8 * 2 + n % 2];
            float& to = task_.to[static_cast<std::int64_t>(cell) * task_.size + first_row + row];
            to = adds ? to + value : value;
        }
        __syncthreads();
    }
};

} // namespace tensor_work
} // namespace farfield::cuda
