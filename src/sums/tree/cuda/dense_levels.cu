// The cells of a tree whose deepest level is coarse enough for tables of all its places, which evenly spread
// points need: all levels at once. A cell is there if it holds points and its parent is divided, and whether
// a cell is divided follows from the number of its points alone; so a scan over the places of all levels
// numbers the cells.
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/cuda/launch.cuh"

#include "sums/tree/morton.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr int most_bits = 18; ///< of a place on the deepest level
constexpr int scan_threads = 512, cell_threads = 256;

/// How many stand before a place: cells, leaves, and cells with targets in the order of octants.
struct Numbers {
    std::int32_t cell, leaf, grouped;
    __device__ friend Numbers operator+(const Numbers& a, const Numbers& b) {
        return {a.cell + b.cell, a.leaf + b.leaf, a.grouped + b.grouped};
    }
};

struct DenseTask {
    TreeView tree;
    int bits;     ///< of k
    int last;     ///< the deepest level that there are tables of
    int limit;    ///< the deepest level that cells may have
    int first;    ///< the first level that may have leaves
    int shift;    ///< of keys to places of the deepest level
    bool uniform; ///< all leaves lie on the last level
    std::int32_t most;
    int capacity;
    int source_count, target_count;
    SortedKeys source_keys, target_keys;
    std::int32_t *source_starts, *target_starts; ///< of places of the deepest level, and their end
    Numbers* numbers;                            ///< of all places, and one more
    Numbers* totals;                             ///< of the blocks that count them
    CellPlace* places;
    std::int32_t *parents, *children, *divided, *neighbours, *coarse_cells; ///< neighbours: null, not wanted
    BlockRange *sources, *targets;
    std::int32_t *leaves, *leaf_numbers, *by_octant;
    TreeCounts* counts;

    [[nodiscard]] FF_HD int places_of(int level) const { return 1 << (tree.dimension * (bits + level)); }
    /// Where a level begins among the places of all.
    [[nodiscard]] FF_HD int begin_of(int level) const {
        int begin = 0;
        for (int l = 0; l < level; ++l) begin += places_of(l);
        return begin;
    }
};

/// A cell's place on its level, in the order of keys.
struct Spot {
    int level, place;
};

__device__ Spot spot_of(const DenseTask& task, int number) {
    Spot out{0, number};
    while (out.place >= task.places_of(out.level)) out.place -= task.places_of(out.level++);
    return out;
}

__device__ BlockRange range_of(const DenseTask& task, const std::int32_t* starts, const Spot& at) {
    const int below = task.tree.dimension * (task.last - at.level);
    return {starts[at.place << below], starts[(at.place + 1) << below]};
}

struct Held {
    BlockRange sources, targets;
    [[nodiscard]] __device__ int most() const { return max(sources.size(), targets.size()); }
};

__device__ Held held_by(const DenseTask& task, const Spot& at) {
    const auto sources = range_of(task, task.source_starts, at);
    return {sources, task.tree.self ? sources : range_of(task, task.target_starts, at)};
}

__device__ bool holds_too_many(const DenseTask& task, const Spot& at, const Held& held) {
    return at.level < task.limit && (task.uniform || at.level < task.first || held.most() > task.most);
}

/// If it is there. Those of the last level wait for another tree.
__device__ bool is_divided(const DenseTask& task, const Spot& at, const Held& held) {
    return at.level < task.last && holds_too_many(task, at, held);
}

__device__ bool is_there(const DenseTask& task, const Spot& at, const Held& held) {
    if (held.most() == 0) return false;
    if (at.level == 0) return true;
    const Spot parent{at.level - 1, at.place >> task.tree.dimension};
    return is_divided(task, parent, held_by(task, parent));
}

/// The place that stands there in the order of octants; on the coarsest level all count as one.
__device__ Spot grouped_spot(const DenseTask& task, const Spot& at) {
    if (at.level == 0) return at;
    const int octants = task.tree.child_count();
    const int each = task.places_of(at.level) / octants;
    return {at.level, at.place % each * octants + at.place / each};
}

__device__ Numbers count_place(const DenseTask& task, int number, int all) {
    if (number >= all) return {};
    const auto at = spot_of(task, number);
    const auto held = held_by(task, at);
    const bool there = is_there(task, at, held);
    const auto other = grouped_spot(task, at);
    const auto held_there = held_by(task, other);
    return {there ? 1 : 0, there && !is_divided(task, at, held) ? 1 : 0,
            held_there.targets.size() > 0 && is_there(task, other, held_there) ? 1 : 0};
}

/// Numbers places within each block.
__global__ void __launch_bounds__(scan_threads) count_places_kernel(const DenseTask task, int all) {
    using Scan = cub::BlockScan<Numbers, scan_threads>;
    __shared__ typename Scan::TempStorage shared;
    if (blockIdx.x == 0 && threadIdx.x == 0) *task.counts = {};
    const int number = static_cast<int>(blockIdx.x) * scan_threads + static_cast<int>(threadIdx.x);
    Numbers before{}, total{};
    Scan(shared).ExclusiveScan(
        count_place(task, number, all), before, Numbers{},
        [](const Numbers& a, const Numbers& b) { return a + b; }, total);
    if (number <= all) task.numbers[number] = before;
    if (threadIdx.x == 0) task.totals[blockIdx.x] = total;
}

/// Adds what stands in the blocks before.
__global__ void __launch_bounds__(scan_threads) number_places_kernel(const DenseTask task, int all) {
    using Reduce = cub::BlockReduce<Numbers, scan_threads>;
    __shared__ typename Reduce::TempStorage shared;
    __shared__ Numbers before;
    const int number = static_cast<int>(blockIdx.x) * scan_threads + static_cast<int>(threadIdx.x);
    Numbers own{}, sum{};
    if (number <= all) own = task.numbers[number];
    for (auto b = static_cast<int>(threadIdx.x); b < static_cast<int>(blockIdx.x); b += scan_threads)
        sum = sum + task.totals[b];
    sum = Reduce(shared).Reduce(sum, [](const Numbers& a, const Numbers& b) { return a + b; });
    if (threadIdx.x == 0) before = sum;
    __syncthreads();
    if (number <= all) task.numbers[number] = own + before;
}

__global__ void starts_kernel(const SortedKeys keys, int count, int shift, int places, std::int32_t* starts) {
    const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (place > places) return;
    int begin = 0, end = count; // of keys that may be the first of this place, or of a later one
    while (begin < end) {
        constexpr int probes = 3; // on their way together
        int at[probes];
        bool before[probes];
#pragma unroll
        for (int k = 0; k < probes; ++k) {
            at[k] = begin + static_cast<int>(static_cast<std::int64_t>(end - begin) * (k + 1) / (probes + 1));
            before[k] = keys[at[k]] >> shift < static_cast<std::uint64_t>(place);
        }
#pragma unroll
        for (int k = 0; k < probes; ++k)
            if (!before[k]) end = min(end, at[k]);
#pragma unroll
        for (int k = 0; k < probes; ++k)
            if (before[k]) begin = at[k] + 1;
    }
    starts[place] = begin;
}

__device__ int index_of(std::uint32_t place, int axis, int dimension) {
    int out = 0;
    for (int bit = 0; bit < most_bits / 2; ++bit)
        out |= static_cast<int>(place >> (dimension * bit + axis) & 1U) << bit;
    return out;
}

/// The number of the cell at a place, or none.
__device__ std::int32_t cell_at(const DenseTask& task, int level_begin, int place) {
    const auto own = task.numbers[level_begin + place].cell;
    return task.numbers[level_begin + place + 1].cell > own ? own : TreeView::none;
}

__device__ void find_dense_neighbours(const DenseTask& task, const CellPlace& place, int begin,
                                      std::int32_t* neighbours) {
    const auto& tree = task.tree;
    const int w = tree.separation, n = 2 * w + 1;
    const int across = tree.coarse << place.level;
    const int slots = tree.neighbour_count();
#pragma unroll 3
    for (int slot = 0; slot < slots; ++slot) {
        const int x = tree.wrapped(place.index[0] + slot % n - w, place.level);
        const int y = tree.wrapped(place.index[1] + slot / n % n - w, place.level);
        const int z =
            tree.dimension == 3 ? tree.wrapped(place.index[2] + slot / (n * n) - w, place.level) : 0;
        std::int32_t found = TreeView::none;
        if (x >= 0 && y >= 0 && z >= 0 && x < across && y < across && z < across) {
            const auto at = [](int i) { return static_cast<std::uint32_t>(i); };
            const auto key = tree.dimension == 3 ? morton_key(at(x), at(y), at(z)) : morton_key(at(x), at(y));
            found = cell_at(task, begin, static_cast<int>(key));
        }
        neighbours[slot] = found;
    }
}

__device__ void make_cell(const DenseTask& task, const Spot& at, int begin, std::int32_t cell, bool leaf,
                          const Held& held) {
    const auto& tree = task.tree;
    CellPlace place{};
    for (int axis = 0; axis < tree.dimension; ++axis)
        place.index[axis] = index_of(static_cast<std::uint32_t>(at.place), axis, tree.dimension);
    place.level = at.level;
    task.places[cell] = place;
    task.sources[cell] = held.sources;
    task.targets[cell] = held.targets; // the same array where targets are the sources
    task.divided[cell] = leaf ? 0 : 1;
    const int above = at.level > 0 ? begin - task.places_of(at.level - 1) : 0;
    task.parents[cell] =
        at.level > 0 ? task.numbers[above + (at.place >> tree.dimension)].cell : TreeView::none;
    const int below = begin + task.places_of(at.level);
    for (int octant = 0; octant < tree.child_count(); ++octant)
        task.children[static_cast<std::int64_t>(tree.child_count()) * cell + octant] =
            leaf ? TreeView::none : cell_at(task, below, (at.place << tree.dimension) + octant);
    if (task.neighbours == nullptr) return;
    find_dense_neighbours(task, place, begin,
                          task.neighbours + static_cast<std::int64_t>(tree.neighbour_count()) * cell);
}

/// What is known of the whole tree: a lane a level.
__device__ void note_counts(const DenseTask& task) {
    auto& counts = *task.counts; // was cleared
    const int level = static_cast<int>(threadIdx.x);
    Numbers first{}, next{};
    const int begin = task.begin_of(min(level, task.last + 1));
    if (level <= task.last) {
        first = task.numbers[begin];
        next = task.numbers[begin + task.places_of(level)];
    }
    const bool there = next.cell > first.cell;
    const auto levels = __popc(__ballot_sync(~0U, there ? 1 : 0));
    const auto with_leaves = __ballot_sync(~0U, next.leaf > first.leaf ? 1 : 0);
    if (there) counts.level_begin[level + 1] = next.cell;
    const int groups = level == 0 ? 1 : task.tree.child_count();
    const int each = task.places_of(level) / groups;
    for (int octant = 0; octant < groups && there; ++octant)
        counts.octants[8 * level + octant] =
            task.numbers[begin + (octant + 1) * each].grouped - task.numbers[begin + octant * each].grouped;
    if (level != levels - 1) return;
    counts.levels = levels;
    counts.leaves = next.leaf;
    counts.first_leaf_level = __ffs(static_cast<int>(with_leaves)) - 1;
    if (next.cell > task.capacity) counts.missing_cells = next.cell;
}

/// A thread a place, and a block for the counts; `deeper` becomes 1 where a cell of the last level would be
/// divided.
__global__ void __launch_bounds__(cell_threads) dense_cells_kernel(const DenseTask task, int all) {
    if (blockIdx.x == 0) {
        if (threadIdx.x < 32) note_counts(task);
        return;
    }
    const int number = static_cast<int>((blockIdx.x - 1) * cell_threads + threadIdx.x);
    if (number >= all || task.numbers[all].cell > task.capacity) return;
    const auto at = spot_of(task, number);
    const int begin = number - at.place;
    if (at.level == 0 && at.place < task.places_of(0)) {
        const int k = task.tree.coarse;
        int index[3] = {0, 0, 0};
        for (int axis = 0; axis < task.tree.dimension; ++axis)
            index[axis] = index_of(static_cast<std::uint32_t>(at.place), axis, task.tree.dimension);
        if (index[0] < k && index[1] < k && index[2] < k)
            task.coarse_cells[index[0] + k * (index[1] + k * index[2])] = cell_at(task, 0, at.place);
    }
    const auto own = task.numbers[number], next = task.numbers[number + 1];
    if (next.grouped > own.grouped)
        task.by_octant[own.grouped] = task.numbers[begin + grouped_spot(task, at).place].cell;
    if (next.cell == own.cell) return;
    const bool leaf = next.leaf > own.leaf;
    const auto held = held_by(task, at);
    if (leaf) {
        task.leaves[own.leaf] = own.cell;
        task.leaf_numbers[own.cell] = own.leaf;
        if (holds_too_many(task, at, held)) task.counts->deeper = 1; // whoever writes, writes the same
    }
    make_cell(task, at, begin, own.cell, leaf, held);
}

} // namespace

// None where cells are divided for other reasons than the points that they hold.
int DeviceTree::last_dense_level() const {
    int bits = 0;
    while (1 << bits < shape_.coarse) ++bits;
    return shape_.pairs_a_cell > 0.0 ? -1 : std::min({most_bits / dimension_ - bits, finest_, limit()});
}

void DeviceTree::make_levels_at_once(cudaStream_t stream) {
    int bits = 0;
    while (1 << bits < shape_.coarse) ++bits;
    const int last = last_dense_level();
    DenseTask task{.tree = view(),
                   .bits = bits,
                   .last = last,
                   .limit = limit(),
                   .first = first_leaf_level(),
                   .shift = dimension_ * (finest_ - last),
                   .uniform = shape_.depth >= 0,
                   .most = shape_.most,
                   .capacity = capacity_,
                   .source_count = sources_.count,
                   .target_count = targets().count,
                   .source_keys = sources_.sorted_keys(),
                   .target_keys = targets().sorted_keys(),
                   .source_starts = nullptr,
                   .target_starts = nullptr,
                   .numbers = nullptr,
                   .totals = nullptr,
                   .places = places_.data(),
                   .parents = parents_.data(),
                   .children = children_.data(),
                   .divided = divided_.data(),
                   .neighbours = neighbours_.data(),
                   .coarse_cells = coarse_cells_.data(),
                   .sources = source_ranges_.data(),
                   .targets = self_ ? source_ranges_.data() : target_ranges_.data(),
                   .leaves = leaves_.data(),
                   .leaf_numbers = leaf_numbers_.data(),
                   .by_octant = by_octant_.data(),
                   .counts = counts_.data()};
    const int all = task.begin_of(last + 1), deepest = task.places_of(last);
    make_room(dense_starts_, 2 * static_cast<std::size_t>(deepest + 1));
    task.source_starts = dense_starts_.data();
    task.target_starts = dense_starts_.data() + deepest + 1;
    const auto scan_blocks = static_cast<unsigned>(all / scan_threads + 1);
    task.numbers = static_cast<Numbers*>(
        dense_numbers_.reserve((static_cast<std::size_t>(all) + 1 + scan_blocks) * sizeof(Numbers)));
    task.totals = task.numbers + all + 1;
    launch_over(deepest + 1, stream, starts_kernel, task.source_keys, task.source_count, task.shift, deepest,
                task.source_starts);
    if (!self_)
        launch_over(deepest + 1, stream, starts_kernel, task.target_keys, task.target_count, task.shift,
                    deepest, task.target_starts);
    count_places_kernel<<<scan_blocks, scan_threads, 0, stream>>>(task, all);
    check_launch("counting cells");
    number_places_kernel<<<scan_blocks, scan_threads, 0, stream>>>(task, all);
    check_launch("numbering cells");
    const auto cell_blocks = static_cast<unsigned>((all + cell_threads - 1) / cell_threads);
    dense_cells_kernel<<<1 + cell_blocks, cell_threads, 0, stream>>>(task, all);
    check_launch("making cells");
}

} // namespace farfield::cuda
