// The cells of a tree, level by level, in one launch whose thread blocks wait for one another. A level takes
// three steps: all find their neighbours; a warp each decides whether its cell is divided and finds the
// children's points; and, once each block's cells are counted, cells, leaves and children get their numbers.
// A quadtree has octants 0 … 3.
#include "sums/tree/cuda/device_tree.cuh"

#include "sums/tree/morton.h"

#include <cooperative_groups.h>
#include <cub/block/block_scan.cuh>

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr int level_threads = 512;
constexpr int level_warps = level_threads / 32;
constexpr int probes = 4;         ///< lanes that search for one child's points
constexpr int cells_together = 8; ///< that a warp decides on side by side, at most

/// What is counted of cells: their children, the leaves among them, and those with targets by octant.
enum Counter : std::uint8_t { children_counter, leaf_counter, octant_counter, counters = octant_counter + 8 };

struct Tally {
    std::int32_t of[counters];
};

/// The counters of at most `level_threads` cells, 16 bits each, so that one scan serves them all.
struct PackedTally {
    static constexpr int words = (counters + 3) / 4;
    std::uint64_t word[words];

    __device__ void add(int counter, int count) {
        for (int w = 0; w < words; ++w) // no address of a register
            if (w == counter / 4) word[w] += static_cast<std::uint64_t>(count) << (16 * (counter % 4));
    }
    [[nodiscard]] __device__ std::int32_t of(int counter) const {
        std::uint64_t out = 0;
        for (int w = 0; w < words; ++w)
            if (w == counter / 4) out = word[w];
        return static_cast<std::int32_t>(out >> (16 * (counter % 4)) & 0xffff);
    }
    __device__ friend PackedTally operator+(const PackedTally& a, const PackedTally& b) {
        PackedTally out;
        for (int w = 0; w < words; ++w) out.word[w] = a.word[w] + b.word[w];
        return out;
    }
};
static_assert(8 * level_threads < 1 << 16);

struct LevelTask {
    TreeView tree;
    TreeShape shape;
    int finest; ///< the level that keys are sorted down to
    int limit;  ///< the deepest level that cells may have
    int first;  ///< the first level that may have leaves
    int capacity;
    int source_count, target_count;
    SortedKeys source_keys, target_keys;
    CellPlace* places;
    std::int32_t *parents, *children, *divided, *neighbours, *coarse_cells; ///< neighbours: null, not wanted
    BlockRange *sources, *targets;
    std::int32_t* masks; ///< of a level's cells: which children there are
    BlockRange *child_sources, *child_targets;
    std::int32_t *leaves, *leaf_numbers, *by_octant;
    Tally* tallies; ///< of the thread blocks
    TreeCounts* counts;
};

/// Cells [begin, end) of a level and what stands before them in each list.
struct Level {
    int number = 0;
    std::int32_t begin = 0, end = 0;
    std::int32_t leaves = 0, grouped = 0;
};

/// The first of keys [begin, end) that, without its lowest bits, is not less than `value`: `probes` lanes
/// that lie side by side search together, and all of a warp take part.
__device__ std::int32_t first_from(const SortedKeys& keys, BlockRange range, int shift, std::uint64_t value) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int probe = lane % probes;
    while (__any_sync(~0U, range.begin < range.end ? 1 : 0) != 0) {
        const auto at = [&](int k) { // of probe k; those beyond the range stand at its end
            return range.begin + static_cast<std::int32_t>(static_cast<std::int64_t>(range.size()) * (k + 1) /
                                                           (probes + 1));
        };
        const auto place = at(probe);
        const bool less = range.begin < range.end && keys[place] >> shift < value;
        const unsigned below = __ballot_sync(~0U, less ? 1 : 0) >> (lane - probe) & ((1U << probes) - 1);
        const int count = __popc(below); // keys rise: these come first
        if (range.begin >= range.end) continue;
        const auto end = count < probes ? at(count) : range.end;
        range.begin = count > 0 ? at(count - 1) + 1 : range.begin;
        range.end = end;
    }
    return range.begin;
}

__device__ bool holds_too_many(const LevelTask& task, std::int32_t cell) {
    if (task.places[cell].level >= task.limit) return false;
    return task.shape.depth >= 0 || task.places[cell].level < task.first ||
           max(task.sources[cell].size(), task.targets[cell].size()) > task.shape.most;
}

/// Asked by a warp; sums of whole numbers, which any order gives alike.
__device__ bool is_beside_many(const LevelTask& task, std::int32_t leaf) {
    if (task.shape.pairs_a_cell <= 0.0 || task.shape.depth >= 0 || task.places[leaf].level >= task.limit)
        return false;
    double pairs = 0.0;
    for (int slot = static_cast<int>(threadIdx.x) % 32; slot < task.tree.neighbour_count(); slot += 32) {
        const auto other = task.tree.neighbour(leaf, slot);
        if (other == TreeView::none || !holds_too_many(task, other)) continue;
        pairs += static_cast<double>(task.targets[leaf].size()) * task.sources[other].size() +
                 static_cast<double>(task.sources[leaf].size()) * task.targets[other].size();
    }
    for (int step = 16; step > 0; step /= 2) pairs += __shfl_xor_sync(~0U, pairs, step);
    const int children = min(8, max(task.sources[leaf].size(), task.targets[leaf].size()));
    return pairs > children * task.shape.pairs_a_cell;
}

__device__ std::uint64_t key_of(const TreeView& tree, const CellPlace& place) {
    const auto at = [&](int axis) { return static_cast<std::uint32_t>(place.index[axis]); };
    return tree.dimension == 3 ? morton_key(at(0), at(1), at(2)) : morton_key(at(0), at(1));
}

__device__ CellPlace place_of_key(std::uint64_t key, int dimension) { // of few bits
    CellPlace out{};
    for (int axis = 0; axis < dimension; ++axis)
        for (int bit = 0; bit < 3; ++bit)
            out.index[axis] |= static_cast<std::int32_t>(key >> (dimension * bit + axis) & 1) << bit;
    return out;
}

/// Level 0, by one thread block: keys of all its cells are looked up, `level_threads` at a time.
__device__ std::int32_t make_coarse_cells(const LevelTask& task) {
    using Scan = cub::BlockScan<std::int32_t, level_threads>;
    __shared__ typename Scan::TempStorage memory;
    const int k = task.shape.coarse;
    int bits = 0;
    while (1 << bits < k) ++bits;
    const int thread = static_cast<int>(threadIdx.x);
    const int dimension = task.tree.dimension;
    const int shift = dimension * task.finest;
    const int candidates = 1 << (dimension * bits);
    std::int32_t found = 0;
    for (int base = 0; base < candidates; base += level_threads / probes) {
        const int candidate = base + thread / probes;
        const auto key = static_cast<std::uint64_t>(candidate);
        const auto place = place_of_key(key, dimension);
        const bool inside = place.index[0] < k && place.index[1] < k && place.index[2] < k;
        const auto range = [&](const SortedKeys& keys, int count) {
            const auto begin = first_from(keys, {0, count}, shift, key);
            return BlockRange{begin, first_from(keys, {begin, count}, shift, key + 1)};
        };
        const auto sources = range(task.source_keys, task.source_count);
        const auto targets = task.tree.self ? sources : range(task.target_keys, task.target_count);
        const bool counts = thread % probes == 0 && inside && candidate < candidates;
        const bool there = counts && (sources.size() > 0 || targets.size() > 0);
        std::int32_t rank = 0, total = 0;
        Scan(memory).ExclusiveSum(there ? 1 : 0, rank, total);
        __syncthreads();
        const auto number = found + rank;
        if (counts)
            task.coarse_cells[place.index[0] + k * (place.index[1] + k * place.index[2])] =
                there ? number : TreeView::none;
        if (there) {
            task.places[number] = place;
            task.parents[number] = TreeView::none;
            task.sources[number] = sources;
            task.targets[number] = targets; // the same array where targets are the sources
        }
        found += total;
    }
    return found;
}

__device__ std::int32_t neighbour_of(const TreeView& tree, std::int32_t cell, int slot) {
    const int w = tree.separation;
    const int n = 2 * w + 1;
    const auto place = tree.places[cell];
    const int x = place.index[0] + slot % n - w;
    const int y = place.index[1] + slot / n % n - w;
    const int z = tree.dimension == 3 ? place.index[2] + slot / (n * n) - w : 0;
    if (place.level == 0) return tree.coarse_cell(x, y, z);
    const auto parent = tree.parents[cell];
    const auto& above = tree.places[parent];
    const auto near =
        tree.neighbour(parent, tree.neighbour_slot((x >> 1) - above.index[0], (y >> 1) - above.index[1],
                                                   (z >> 1) - above.index[2]));
    if (near == TreeView::none) return TreeView::none;
    return tree.child(near, (x & 1) | (y & 1) << 1 | (z & 1) << 2);
}

/// The points of a cell's children, a child to each `probes` lanes; those beyond its last one have none.
__device__ BlockRange child_range(const SortedKeys& keys, BlockRange range, int shift,
                                  std::uint64_t first_key) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int octant = lane / probes;
    BlockRange out;
    out.begin = first_from(keys, range, shift, first_key + static_cast<std::uint64_t>(octant));
    out.end = __shfl_down_sync(~0U, out.begin, probes);
    if (octant == 7) out.end = range.end;
    return out;
}

/// The points of the children of a cell, and which of them there are; asked by a warp.
__device__ unsigned find_children(const LevelTask& task, const Level& level, std::int32_t cell) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int dimension = task.tree.dimension;
    const int shift = dimension * (task.finest - level.number - 1);
    const auto key = key_of(task.tree, task.places[cell]) << dimension;
    const auto sources = child_range(task.source_keys, task.sources[cell], shift, key);
    const auto targets =
        task.tree.self ? sources : child_range(task.target_keys, task.targets[cell], shift, key);
    const auto slot = 8 * static_cast<std::int64_t>(cell - level.begin) + lane / probes;
    const bool there = sources.size() > 0 || targets.size() > 0;
    if (lane % probes == 0) {
        task.child_sources[slot] = sources;
        task.child_targets[slot] = targets;
    }
    const unsigned lanes = __ballot_sync(~0U, there ? 1 : 0);
    unsigned mask = 0;
    for (int octant = 0; octant < 8; ++octant) mask |= (lanes >> (probes * octant) & 1U) << octant;
    return mask;
}

/// Which of a warp's cells [base, end) are divided: a cell to each of the first lanes.
__device__ bool is_divided(const LevelTask& task, const Level& level, std::int32_t base, std::int32_t end) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool there = base + lane < end;
    bool wanted = there && holds_too_many(task, base + lane);
    if (task.shape.pairs_a_cell > 0.0)
        for (unsigned left = __ballot_sync(~0U, there && !wanted ? 1 : 0); left != 0; left &= left - 1) {
            const int k = __ffs(static_cast<int>(left)) - 1;
            if (is_beside_many(task, base + k) && lane == k) wanted = true;
        }
    const bool possible = level.number < task.finest;
    if (wanted && !possible) task.counts->deeper = 1; // whoever writes, writes the same
    return wanted && possible;
}

/// Decides on cells of a level that fall to this thread block, and counts them.
__device__ void divide(const LevelTask& task, const Level& level, std::int32_t first, std::int32_t last) {
    __shared__ Tally tally;
    if (threadIdx.x < counters) tally.of[threadIdx.x] = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto warp = static_cast<int>(threadIdx.x) / 32;
    // few cells of a narrow level wait for memory beside one another, each in a warp of its own
    const auto together = min(cells_together, (last - first + level_warps - 1) / level_warps);
    for (auto base = first + warp * together; base < last; base += level_warps * together) {
        const auto end = min(last, base + together);
        const bool divided = is_divided(task, level, base, end);
        const bool there = base + lane < end;
        unsigned mask = 0;
        for (unsigned left = __ballot_sync(~0U, divided ? 1 : 0); left != 0; left &= left - 1) {
            const int k = __ffs(static_cast<int>(left)) - 1;
            const unsigned found = find_children(task, level, base + k);
            if (lane == k) mask = found;
        }
        if (!there) continue;
        const auto cell = base + lane;
        task.divided[cell] = divided ? 1 : 0;
        task.masks[cell - level.begin] = static_cast<std::int32_t>(mask);
        // whole numbers: any order gives the same
        if (divided)
            atomicAdd(&tally.of[children_counter], __popc(mask));
        else
            atomicAdd(&tally.of[leaf_counter], 1);
        if (task.targets[cell].size() > 0)
            atomicAdd(&tally.of[octant_counter + (level.number > 0 ? task.places[cell].octant() : 0)], 1);
    }
    __syncthreads();
    if (threadIdx.x < counters) task.tallies[blockIdx.x].of[threadIdx.x] = tally.of[threadIdx.x];
}

/// What all blocks counted, and those before this one.
struct Totals {
    Tally before, all;
};

/// A warp adds up one counter. The result is in shared memory.
__device__ const Totals& totals(const LevelTask& task) {
    __shared__ Totals out;
    const int counter = static_cast<int>(threadIdx.x) / 32;
    if (counter < counters) {
        std::int32_t before = 0, all = 0;
        for (auto block = threadIdx.x % 32; block < gridDim.x; block += 32) {
            const auto count = task.tallies[block].of[counter];
            all += count;
            if (block < blockIdx.x) before += count;
        }
        all = __reduce_add_sync(~0U, all);
        before = __reduce_add_sync(~0U, before);
        if (threadIdx.x % 32 == 0) {
            out.before.of[counter] = before;
            out.all.of[counter] = all;
        }
    }
    __syncthreads();
    return out;
}
static_assert(counters <= level_warps);

/// A child of a cell.
__device__ void make_child(const LevelTask& task, const Level& level, std::int32_t cell,
                           const CellPlace& place, int octant, std::int32_t child) {
    const auto slot = 8 * static_cast<std::int64_t>(cell - level.begin) + octant;
    CellPlace below;
    for (int axis = 0; axis < 3; ++axis) below.index[axis] = 2 * place.index[axis] + (octant >> axis & 1);
    below.level = level.number + 1;
    task.places[child] = below;
    task.parents[child] = cell;
    task.sources[child] = task.child_sources[slot];
    task.targets[child] = task.child_targets[slot];
}

/// Numbers children, leaves and cells of each octant: `begin` holds where those of this thread block begin.
__device__ void number(const LevelTask& task, const Level& level, std::int32_t first, std::int32_t last,
                       Tally& begin) {
    using Scan = cub::BlockScan<PackedTally, level_threads>;
    __shared__ typename Scan::TempStorage memory;
    for (auto base = first; base < last; base += level_threads) {
        const auto cell = base + static_cast<int>(threadIdx.x);
        const bool there = cell < last;
        const unsigned mask = there ? static_cast<unsigned>(task.masks[cell - level.begin]) : 0U;
        const bool leaf = there && task.divided[cell] == 0;
        const bool wanted = there && task.targets[cell].size() > 0;
        const auto place = there ? task.places[cell] : CellPlace{};
        const int octant = level.number > 0 ? place.octant() : 0;
        PackedTally own{}, rank{}, chunk{};
        own.add(children_counter, __popc(mask));
        own.add(leaf_counter, leaf ? 1 : 0);
        own.add(octant_counter + octant, wanted ? 1 : 0);
        Scan(memory).ExclusiveScan(
            own, rank, PackedTally{}, [](const PackedTally& a, const PackedTally& b) { return a + b; },
            chunk);
        if (leaf) {
            const auto number = begin.of[leaf_counter] + rank.of(leaf_counter);
            task.leaves[number] = cell;
            task.leaf_numbers[cell] = number;
        }
        if (wanted)
            task.by_octant[begin.of[octant_counter + octant] + rank.of(octant_counter + octant)] = cell;
        if (there) {
            auto child = begin.of[children_counter] + rank.of(children_counter);
            const int all = task.tree.child_count();
            for (int o = 0; o < all; ++o) {
                const bool exists = (mask >> o & 1U) != 0;
                task.children[all * static_cast<std::int64_t>(cell) + o] = exists ? child : TreeView::none;
                if (exists) make_child(task, level, cell, place, o, child++);
            }
        }
        __syncthreads();
        if (threadIdx.x < counters) begin.of[threadIdx.x] += chunk.of(static_cast<int>(threadIdx.x));
        __syncthreads();
    }
}

/// Where this thread block's part of each list begins, in shared memory.
__device__ Tally& first_numbers(const Level& level, const Totals& counted) {
    __shared__ Tally begin;
    if (threadIdx.x == 0) {
        begin.of[children_counter] = level.end + counted.before.of[children_counter];
        begin.of[leaf_counter] = level.leaves + counted.before.of[leaf_counter];
        auto at = level.grouped;
        for (int c = octant_counter; c < counters; ++c) {
            begin.of[c] = at + counted.before.of[c];
            at += counted.all.of[c];
        }
    }
    __syncthreads();
    return begin;
}

/// Thread 0 of the first block writes what is known of a level.
__device__ void note(const LevelTask& task, const Level& level, const Tally& all) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    auto& counts = *task.counts;
    counts.level_begin[level.number + 1] = level.end;
    counts.levels = level.number + 1;
    const auto leaves = all.of[leaf_counter];
    if (level.leaves == 0 && leaves > 0) counts.first_leaf_level = level.number;
    counts.leaves = level.leaves + leaves;
    for (int octant = 0; octant < 8; ++octant)
        counts.octants[8 * level.number + octant] = all.of[octant_counter + octant];
    const auto end = level.end + all.of[children_counter];
    if (end > task.capacity) counts.missing_cells = end;
}

/// Of all cells of a level; a thread looks for some at a time.
__device__ void find_neighbours(const LevelTask& task, const Level& level) {
    constexpr int together = 4;
    const auto slots = static_cast<std::uint32_t>(task.tree.neighbour_count());
    const auto threads = static_cast<std::int64_t>(gridDim.x) * level_threads;
    const auto first = static_cast<std::int64_t>(blockIdx.x) * level_threads + threadIdx.x;
    const auto all = static_cast<std::int64_t>(slots) * (level.end - level.begin);
    const auto place = [&](std::int64_t i) { return slots * static_cast<std::int64_t>(level.begin) + i; };
    for (auto base = first; base < all; base += together * threads) {
        std::int32_t found[together];
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const auto i = base + k * threads;
            if (i >= all) continue;
            const auto within =
                all < std::int64_t{1} << 32 ? static_cast<std::uint32_t>(i) / slots : i / slots;
            found[k] = neighbour_of(task.tree, level.begin + static_cast<std::int32_t>(within),
                                    static_cast<int>(i - slots * static_cast<std::int64_t>(within)));
        }
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (const auto i = base + k * threads; i < all) task.neighbours[place(i)] = found[k];
    }
}

__global__ void __launch_bounds__(level_threads) levels_kernel(const LevelTask task) {
    const auto grid = cooperative_groups::this_grid();
    const auto blocks = static_cast<std::int32_t>(gridDim.x);
    const auto block = static_cast<std::int32_t>(blockIdx.x);
    Level level;
    if (block == 0) {
        const auto found = make_coarse_cells(task);
        if (threadIdx.x == 0) {
            *task.counts = {};
            task.tallies[0].of[children_counter] = found;
        }
    }
    grid.sync();
    level.end = task.tallies[0].of[children_counter];
    while (level.begin < level.end) {
        if (task.neighbours != nullptr) find_neighbours(task, level);
        if (task.shape.pairs_a_cell > 0.0) grid.sync(); // only then cells look at their neighbours now
        const auto share = (level.end - level.begin + blocks - 1) / blocks;
        const auto first = min(level.end, level.begin + block * share);
        const auto last = min(level.end, first + share);
        divide(task, level, first, last);
        grid.sync();
        const auto& counted = totals(task);
        note(task, level, counted.all);
        const auto children = counted.all.of[children_counter];
        if (level.end + children > task.capacity) return; // all blocks
        number(task, level, first, last, first_numbers(level, counted));
        for (int octant = 0; octant < 8; ++octant) level.grouped += counted.all.of[octant_counter + octant];
        level.leaves += counted.all.of[leaf_counter];
        ++level.number;
        level.begin = level.end;
        level.end += children;
        grid.sync();
    }
}

} // namespace

void DeviceTree::make_levels(cudaStream_t stream) {
    LevelTask task{.tree = view(),
                   .shape = shape_,
                   .finest = finest_,
                   .limit = limit(),
                   .first = first_leaf_level(),
                   .capacity = capacity_,
                   .source_count = sources_.count,
                   .target_count = targets().count,
                   .source_keys = sources_.sorted_keys(),
                   .target_keys = targets().sorted_keys(),
                   .places = places_.data(),
                   .parents = parents_.data(),
                   .children = children_.data(),
                   .divided = divided_.data(),
                   .neighbours = neighbours_.data(),
                   .coarse_cells = coarse_cells_.data(),
                   .sources = source_ranges_.data(),
                   .targets = self_ ? source_ranges_.data() : target_ranges_.data(),
                   .masks = masks_.data(),
                   .child_sources = child_sources_.data(),
                   .child_targets = child_targets_.data(),
                   .leaves = leaves_.data(),
                   .leaf_numbers = leaf_numbers_.data(),
                   .by_octant = by_octant_.data(),
                   .tallies = nullptr,
                   .counts = counts_.data()};
    if (blocks_ == 0) {
        int device = 0;
        check(cudaGetDevice(&device), "asking the GPU");
        check(cudaDeviceGetAttribute(&blocks_, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
    }
    task.tallies = static_cast<Tally*>(tallies_.reserve(static_cast<std::size_t>(blocks_) * sizeof(Tally)));
    void* parameters[] = {&task};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&levels_kernel),
                                      static_cast<unsigned>(blocks_), level_threads, parameters, 0, stream),
          "dividing the cells of a tree");
}

} // namespace farfield::cuda
