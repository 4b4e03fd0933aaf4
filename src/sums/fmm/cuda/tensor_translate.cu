#include "sums/fmm/cuda/tensor_translate.cuh"

#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <cuda_fp16.h>

#include <algorithm>

namespace farfield::cuda {
namespace {

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
    const float* unscales; ///< so that products are right
    const TensorSender* senders;
    const std::int32_t* first_sender;
    const TensorBlock* blocks;
    const std::int32_t* block_count;
};

/// The cell of a block's level with this index, or none: from the block's ancestor cell, or from the
/// coarsest.
__device__ std::int32_t cell_at(const TreeView& tree, const TensorBlock& block, const int (&index)[3]) {
    const int levels = min(block.level, ancestor_levels);
    int above[3];
    for (int axis = 0; axis < 3; ++axis) {
        if (index[axis] < 0) return TreeView::none;
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

struct TensorStage {
    float senders[cells * most_columns];
    union {
        std::int32_t cell_of[cells];        ///< while they are loaded
        float sums[targets * most_columns]; ///< afterwards
    };
    std::int32_t parent[halo_parents];
    std::int32_t target[targets];
    std::uint32_t target_lanes[targets / 32]; ///< which targets there are
    bool has_senders[8 * halo_parents];       ///< by the shift of a sender, from least_shift on
};
constexpr int least_shift = place(0, -1, -1, -1) - place(0, 0, 0, 0);

/// Steps of a sender's columns are exchanged so that the four senders that half a warp reads at a time lie in
/// different banks.
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
    float unscale_ = 1.0F;

public:
    __device__ BlockWorker(const TensorTask& task, TensorStage& stage) : task_(task), stage_(stage) {}

    __device__ void begin(const TensorBlock& block) {
        const int level = min(block.level + 1, task_.levels - 1);
        first_matrix_ = level * task_.matrices_a_level;
        unscale_ = task_.unscales[level];
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

    /// False where there are none.
    __device__ bool find_targets(int octant) {
        std::int32_t target = TreeView::none;
        if (thread_ < targets) {
            const auto parent = stage_.parent[place(0, thread_ % parents, thread_ / parents % parents,
                                                    thread_ / (parents * parents))];
            if (parent != TreeView::none) target = task_.tree.child(parent, octant);
            if (target != TreeView::none && task_.tree.targets[target].size() == 0) target = TreeView::none;
            stage_.target[thread_] = target;
            const unsigned there = __ballot_sync(~0U, target != TreeView::none ? 1 : 0);
            if (lane_ == 0) stage_.target_lanes[warp_] = there;
        }
        return __syncthreads_or(target != TreeView::none ? 1 : 0) != 0;
    }

    /// Products of the targets of one octant: the first columns replace what they had.
    template <int rows, int columns>
    __device__ void translate(int octant, int first_row, int first_column) {
        constexpr int steps = columns / tensor_step;
        constexpr int tiles = rows / 16;
        constexpr int packs = tiles * steps / 2; // of two steps of 16 rows
        float4 sum[tiles][target_tiles] = {};
        const auto end = task_.first_sender[octant + 1];
        auto s = task_.first_sender[octant] + warp_;
        const int tiles_a_row = task_.size / 16;
        const auto* const fragments = reinterpret_cast<const uint4*>(task_.fragments) + lane_ +
                                      32 * (first_row / 16 * tiles_a_row + first_column / 16);
        uint4 next[packs];
        const auto load = [&](const TensorSender& sender) {
            const auto* from = fragments + static_cast<std::int64_t>(first_matrix_ + sender.matrix) *
                                               (32 * tiles_a_row * tiles_a_row);
#pragma unroll
            for (int i = 0; i < packs; ++i)
                next[i] = __ldg(from + 32 * (i / (steps / 2) * tiles_a_row + i % (steps / 2)));
        };
        // the target's place that the lane reads for, of the first tile of eight: 4 along x, 2 along y
        const int own = place(0, lane_ / 4 % parents, lane_ / 16, 0);
        const auto has_targets = [&](int tile) {
            return (stage_.target_lanes[tile / 4] >> (8 * (tile % 4)) & 0xff) != 0;
        };
        TensorSender sender{};
        const auto find = [&] { // the next one that some parent's neighbour has
            for (; s < end; s += tensor_warps) {
                sender = task_.senders[s];
                if (!stage_.has_senders[sender.shift - least_shift]) continue;
                load(sender);
                return;
            }
        };
        find();
        while (s < end) {
            uint4 matrix[packs];
#pragma unroll
            for (int i = 0; i < packs; ++i) matrix[i] = next[i];
            const int from = own + sender.shift;
            s += tensor_warps;
            find();
            const float* const column = stage_.senders + from * columns + 2 * (lane_ % 4);
#pragma unroll
            for (int step = 0; step < steps; ++step) {
                const float* const at = column + (step ^ exchange<columns>(from)) * tensor_step;
                float4 a[tiles];
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile) {
                    const auto& pack = matrix[tile * (steps / 2) + step / 2];
                    a[tile] = step % 2 == 0 ? unpacked(pack.x, pack.y) : unpacked(pack.z, pack.w);
                }
#pragma unroll
                for (int to = 0; to < target_tiles; ++to) { // tiles lie whole exchanges apart
                    if (!has_targets(to)) continue;
                    constexpr int along_y = 2 * halo, along_z = halo * halo;
                    const auto b = *reinterpret_cast<const float2*>(
                        at + (to % 2 * along_y + to / 2 * along_z) * columns);
#pragma unroll
                    for (int tile = 0; tile < tiles; ++tile) multiply_add(sum[tile][to], a[tile], b);
                }
            }
        }
        add_up(sum);
        store<rows>(first_row, first_column > 0);
    }

private:
    __device__ void find_senders() {
        for (int i = thread_; i < 8 * 27; i += tensor_threads) {
            const int octant = i / 27;
            const int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 % 3 - 1;
            bool any = false;
            for (int n = 0; n < targets; ++n)
                any = any || stage_.cell_of[place(octant, n % parents + x, n / parents % parents + y,
                                                  n / (parents * parents) + z)] != TreeView::none;
            stage_.has_senders[place(octant, x, y, z) - place(0, -1, -1, -1)] = any;
        }
        __syncthreads();
    }

    // One warp after the other: the order of additions is always the same.
    template <int tiles>
    __device__ void add_up(const float4 (&sum)[tiles][target_tiles]) {
        auto* const sums = reinterpret_cast<float4*>(stage_.sums);
        for (int warp = 0; warp < tensor_warps; ++warp) {
            if (warp == warp_)
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
                    for (int to = 0; to < target_tiles; ++to) {
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
        for (int i = thread_; i < targets * rows; i += tensor_threads) {
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
static_assert(2 * halo % 4 == 0 && halo * halo % 4 == 0);

template <int columns>
__device__ void translate_columns(BlockWorker& worker, int first_column, int size, int octant,
                                  int end_octant) {
    worker.load_senders<columns>(first_column);
    for (; octant < end_octant; ++octant) {
        if (!worker.find_targets(octant)) continue;
        int row = 0;
        for (; row + 32 <= size; row += 32) worker.translate<32, columns>(octant, row, first_column);
        if (row < size) worker.translate<16, columns>(octant, row, first_column);
    }
}

/// Octants of blocks are cut into as many runs as there are thread blocks.
__global__ void __launch_bounds__(tensor_threads, 1) tensor_kernel(const TensorTask task) {
    extern __shared__ __align__(16) unsigned char tensor_memory[];
    BlockWorker worker(task, *reinterpret_cast<TensorStage*>(tensor_memory));
    const auto items = std::int64_t{8} * *task.block_count;
    const auto end = items * (blockIdx.x + 1) / gridDim.x;
    for (auto item = items * blockIdx.x / gridDim.x; item < end;) {
        const auto block = item / 8;
        const auto next = min(end, 8 * block + 8);
        const auto octant = static_cast<int>(item - 8 * block);
        const auto end_octant = static_cast<int>(next - 8 * block);
        worker.begin(task.blocks[block]);
        int column = 0;
        for (; column + 32 <= task.size; column += 32)
            translate_columns<32>(worker, column, task.size, octant, end_octant);
        if (column < task.size) translate_columns<16>(worker, column, task.size, octant, end_octant);
        item = next;
        __syncthreads();
    }
}

struct FindTask {
    TreeView tree;
    int cells;
    int first_level, end_level; ///< of the parents
    TensorBlock* blocks;
    std::int32_t* count;
};

/// Blocks of parents with targets beneath cells, in any order: each target is in one block.
__global__ void find_blocks_kernel(const FindTask task) {
    const auto thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); // one for each child
    const int cell = thread / 8;
    bool any = false;
    const int level = cell < task.cells ? task.tree.places[cell].level + ancestor_levels : -1;
    if (level >= task.first_level && level < task.end_level) {
        const auto child = task.tree.child(cell, thread % 8);
        if (child != TreeView::none)
            for (int octant = 0; octant < 8; ++octant) {
                const auto parent = task.tree.child(child, octant);
                any = any || (parent != TreeView::none && !task.tree.is_leaf(parent) &&
                              task.tree.targets[parent].size() > 0);
            }
    }
    const unsigned found = __ballot_sync(~0U, any ? 1 : 0) >> (thread % 32 & ~7) & 0xff;
    if (found == 0 || thread % 8 != 0) return;
    const auto& place = task.tree.places[cell];
    task.blocks[atomicAdd(task.count, 1)] = {
        place.level + ancestor_levels, cell, {place.index[0], place.index[1], place.index[2]}, {}};
}

/// Blocks of the levels that have no cells two levels above.
__global__ void coarse_blocks_kernel(const FindTask task) {
    for (int level = task.first_level; level < min(ancestor_levels, task.end_level); ++level) {
        const int n = ((task.tree.coarse << level) + parents - 1) / parents;
        for (int i = static_cast<int>(threadIdx.x); i < n * n * n; i += static_cast<int>(blockDim.x))
            task.blocks[atomicAdd(task.count, 1)] = {
                level, TreeView::none, {i % n, i / n % n, i / (n * n)}, {}};
    }
}

constexpr int most_coarse_blocks = 128;

} // namespace

bool TensorTranslation::fits_gpu() {
    int device = 0, most = 0;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking the GPU");
    return static_cast<std::size_t>(most) >= sizeof(TensorStage);
}

TensorTranslation::TensorTranslation(const PlainOperators<float>& of, cudaStream_t stream) {
    const TensorOperators made(of);
    size_ = made.size;
    levels_ = made.levels;
    matrices_a_level_ = made.matrices_a_level;
    fragments_ = uploaded(made.fragments, stream);
    std::vector<float> unscales;
    for (const float scale : made.scales) unscales.push_back(1.0F / scale);
    unscales_ = uploaded(unscales, stream);
    senders_ = uploaded(made.senders, stream);
    first_sender_ = uploaded(std::vector<std::int32_t>(made.first_sender, made.first_sender + 9), stream);
    block_count_ = DeviceArray<std::int32_t>(1);
    int device = 0;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
          "asking the GPU");
    check(cudaFuncSetAttribute(tensor_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(sizeof(TensorStage))),
          "asking for shared memory");
    check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the host's arrays end here
}

void TensorTranslation::prepare(const TreeView& tree, int first_level, int end_level, int cells,
                                cudaStream_t stream) {
    const auto most = static_cast<std::size_t>(cells) + most_coarse_blocks;
    make_room(blocks_, most, most / 4);
    check(cudaMemsetAsync(block_count_.data(), 0, sizeof(std::int32_t), stream), "clearing a count");
    const FindTask task{tree,          cells,          std::max(first_level, 1) - 1,
                        end_level - 1, blocks_.data(), block_count_.data()};
    coarse_blocks_kernel<<<1, most_coarse_blocks, 0, stream>>>(task);
    check_launch("finding blocks of cells");
    launch_over(std::int64_t{8} * cells, stream, find_blocks_kernel, task);
}

void TensorTranslation::run(const TreeView& tree, const float* from, float* to, cudaStream_t stream) const {
    const TensorTask task{tree,
                          from,
                          to,
                          size_,
                          levels_,
                          matrices_a_level_,
                          fragments_.data(),
                          unscales_.data(),
                          senders_.data(),
                          first_sender_.data(),
                          blocks_.data(),
                          block_count_.data()};
    tensor_kernel<<<static_cast<unsigned>(multiprocessors_), tensor_threads, sizeof(TensorStage), stream>>>(
        task);
    check_launch("translations on tensor cores");
}

} // namespace farfield::cuda
