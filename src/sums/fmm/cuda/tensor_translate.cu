#include "sums/fmm/cuda/tensor_translate.cuh"

#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/fmm/cuda/tensor_worker.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>

namespace farfield::cuda {
namespace {

using namespace tensor_block;
using namespace tensor_work;

/// The numbers of tiles that products are compiled for.
__device__ constexpr int compiled_tiles(int tiles) { return tiles <= 2 ? 2 : tiles <= 4 ? 4 : target_tiles; }

template <int columns, int most_tiles>
__device__ void translate_rows(BlockWorker& worker, int first_column, int size) {
    int row = 0;
    for (; row + 32 <= size; row += 32) worker.translate<32, columns, most_tiles>(row, first_column);
    if (row < size) worker.translate<16, columns, most_tiles>(row, first_column);
}

template <int columns>
__device__ void translate_columns(BlockWorker& worker, int first_column, int size, int octant,
                                  int end_octant) {
    worker.load_senders<columns>(first_column);
    for (; octant < end_octant; ++octant) {
        if (!worker.find_targets(octant)) continue;
        const int tiles = compiled_tiles(worker.found_tiles());
        if (tiles == 2)
            translate_rows<columns, 2>(worker, first_column, size);
        else if (tiles == 4)
            translate_rows<columns, 4>(worker, first_column, size);
        else
            translate_rows<columns, target_tiles>(worker, first_column, size);
    }
}

/// What an octant of a block takes, and a block, beside its tiles of targets, in these: warps' sums are
/// added, and senders loaded.
constexpr int octant_cost = 1, block_cost = 2;

/// Octants of blocks: octant i % 8 of block i / 8.
struct ItemRange {
    std::int32_t begin, end;
};

/// The share of a thread block: octants with targets are handed out in their order, so that all shares cost
/// about the same. The result is in shared memory.
__device__ const ItemRange& own_items(const TensorTask& task) {
    __shared__ std::int64_t of_warp[tensor_warps];
    __shared__ ItemRange out;
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, warp = thread / 32;
    const std::int64_t blocks = *task.block_count;
    const auto first = static_cast<std::int32_t>(blocks * thread / tensor_threads);
    const auto last = static_cast<std::int32_t>(blocks * (thread + 1) / tensor_threads);
    const auto each_cost = [&](const auto& visit) { // visit(item, cost)
        for (auto block = first; block < last; ++block) {
            int of_block = block_cost;
            for (int octant = 0; octant < 8; ++octant) {
                const int tiles = task.tiles[8 * block + octant];
                if (tiles == 0) continue;
                visit(8 * block + octant, compiled_tiles(tiles) + octant_cost + of_block);
                of_block = 0;
            }
        }
    };
    std::int64_t own = 0;
    each_cost([&](std::int32_t, int cost) { own += cost; });
    auto before = own;
    for (int step = 1; step < 32; step *= 2) {
        const auto lower = __shfl_up_sync(~0U, before, step);
        if (lane >= step) before += lower;
    }
    if (lane == 31) of_warp[warp] = before;
    if (thread == 0) out = {static_cast<std::int32_t>(8 * blocks), 0};
    __syncthreads();
    before -= own; // of the threads of this warp before this one
    std::int64_t total = 0;
    for (int w = 0; w < tensor_warps; ++w) {
        if (w < warp) before += of_warp[w];
        total += of_warp[w];
    }
    const auto from = total * blockIdx.x / gridDim.x, to = total * (blockIdx.x + 1) / gridDim.x;
    each_cost([&](std::int32_t item, int cost) {
        if (from <= before && before < to) {
            atomicMin(&out.begin, item);
            atomicMax(&out.end, item + 1);
        }
        before += cost;
    });
    __syncthreads();
    return out;
}

__global__ void __launch_bounds__(tensor_threads, 1) tensor_kernel(const TensorTask task) {
    extern __shared__ __align__(16) unsigned char tensor_memory[];
    BlockWorker worker(task, *reinterpret_cast<TensorStage*>(tensor_memory));
    const auto& items = own_items(task);
    for (auto item = items.begin; item < items.end;) {
        const auto block = item / 8;
        const auto next = min(items.end, 8 * block + 8);
        worker.begin(task.blocks[block]);
        int column = 0;
        for (; column + 32 <= task.size; column += 32)
            translate_columns<32>(worker, column, task.size, item % 8, next - 8 * block);
        if (column < task.size) translate_columns<16>(worker, column, task.size, item % 8, next - 8 * block);
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

/// The tiles of targets that each octant of each block has: a warp takes a block, a lane two of its parents.
__global__ void count_tiles_kernel(const TreeView tree, const TensorBlock* blocks, const std::int32_t* count,
                                   std::uint8_t* tiles) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto warps = static_cast<std::int32_t>(gridDim.x * blockDim.x / 32);
    for (auto b = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32); b < *count;
         b += warps) {
        const auto block = blocks[b];
        int found[8] = {};
        for (int n = lane; n < targets; n += 32) {
            const int at[3] = {n % parents, n / parents % parents, n / (parents * parents)};
            int index[3];
            bool in_grid = true;
            for (int axis = 0; axis < 3; ++axis) {
                index[axis] = parents * block.index[axis] + at[axis];
                in_grid = in_grid && at[axis] < parents_in_grid(tree, block, axis);
            }
            const auto parent = in_grid ? cell_at(tree, block, index) : TreeView::none;
            if (parent == TreeView::none) continue;
#pragma unroll
            for (int octant = 0; octant < 8; ++octant) {
                const auto cell = tree.child(parent, octant);
                found[octant] += cell != TreeView::none && tree.targets[cell].size() > 0 ? 1 : 0;
            }
        }
#pragma unroll
        for (int octant = 0; octant < 8; ++octant) {
            const auto all = __reduce_add_sync(~0U, found[octant]);
            if (lane == octant) tiles[8 * b + octant] = static_cast<std::uint8_t>((all + 7) / 8);
        }
    }
}

constexpr int most_coarse_blocks = 128;

} // namespace

bool TensorTranslation::fits_gpu() {
    int device = 0, most = 0;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking the GPU");
    constexpr std::size_t beside = 256; // of own_items
    return static_cast<std::size_t>(most) >= sizeof(TensorStage) + beside;
}

TensorTranslation::TensorTranslation(const PlainOperators<float>& of, cudaStream_t stream) {
    const TensorOperators made(of);
    size_ = made.size;
    levels_ = made.levels;
    matrices_a_level_ = made.matrices_a_level;
    fragments_ = uploaded(made.fragments, stream);
    sizes_ = uploaded(made.sizes, stream);
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
    make_room(tiles_, 8 * most, 2 * most);
    check(cudaMemsetAsync(block_count_.data(), 0, sizeof(std::int32_t), stream), "clearing a count");
    const FindTask task{tree,          cells,          std::max(first_level, 1) - 1,
                        end_level - 1, blocks_.data(), block_count_.data()};
    coarse_blocks_kernel<<<1, most_coarse_blocks, 0, stream>>>(task);
    check_launch("finding blocks of cells");
    launch_over(std::int64_t{8} * cells, stream, find_blocks_kernel, task);
    count_tiles_kernel<<<static_cast<unsigned>(multiprocessors_), 256, 0, stream>>>(
        tree, blocks_.data(), block_count_.data(), tiles_.data());
    check_launch("counting cells of blocks");
}

void TensorTranslation::run(const TreeView& tree, const float* from, float* to, cudaStream_t stream) const {
    const TensorTask task{tree,
                          from,
                          to,
                          size_,
                          levels_,
                          matrices_a_level_,
                          fragments_.data(),
                          sizes_.data(),
                          unscales_.data(),
                          senders_.data(),
                          first_sender_.data(),
                          blocks_.data(),
                          tiles_.data(),
                          block_count_.data()};
    tensor_kernel<<<static_cast<unsigned>(multiprocessors_), tensor_threads, sizeof(TensorStage), stream>>>(
        task);
    check_launch("translations on tensor cores");
}

} // namespace farfield::cuda
