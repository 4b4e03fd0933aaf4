// What cells act on: a warp each, in the plane half of one, counts, then fills, the rows of a cell, by the
// same walk. Rows of all three lists stand in one array: those of leaves, twice, and those of cells, each
// with room for all cells. Short rows of leaves are filled while they are counted; where there are no others,
// that is all. Where all points within a neighbour act one by one, nothing is walked through: its leaves
// follow one another in the order of their points.
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/cuda/launch.cuh"
#include "sums/tree/near_walk.h"

#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr int row_threads = 256;
constexpr int slots_together = 9; ///< of neighbours that are looked at before any is used

struct NearTask {
    TreeView tree;
    const std::int32_t *leaves, *leaf_numbers;
    std::int32_t few;
    int capacity;
    std::int32_t* row_counts;
    const std::int32_t* row_first;
    std::int32_t* partners;
    std::int64_t partner_room;
    std::int32_t* short_partners;
    std::int32_t* short_last;
    int short_row; ///< entries
    /// Leaves with sources in the order of these, and for each source how many of them begin before it; null
    /// unless all points of neighbours act one by one.
    const std::int32_t *in_order, *before;
    const std::uint8_t* beside_leaf; ///< 1 for cells that have a neighbour without cells below; or null
    TreeCounts* counts;
};

/// Lanes that share a cell.
template <int width>
struct Lanes {
    static __device__ int own() { return static_cast<int>(threadIdx.x) % width; }
    static __device__ unsigned all() {
        return width == 32 ? ~0U : ((1U << (width % 32)) - 1) << (threadIdx.x % 32 / width * width);
    }
    static __device__ std::int32_t before(std::int32_t count, std::int32_t& total) {
        auto sum = count;
        for (int step = 1; step < width; step *= 2) {
            const auto lower = __shfl_up_sync(all(), sum, step, width);
            if (own() >= step) sum += lower;
        }
        total = __shfl_sync(all(), sum, width - 1, width);
        return sum - count;
    }
    /// How many of them say yes, and how many of those stand before this one.
    static __device__ std::int32_t count(bool yes, std::int32_t& before) {
        const unsigned lanes = __ballot_sync(all(), yes ? 1 : 0) & all();
        before = __popc(lanes & ((1U << (threadIdx.x % 32)) - 1));
        return __popc(lanes);
    }
};

/// A row that the lanes of a cell write together, as far as there is room.
struct Row {
    std::int32_t* partners = nullptr;
    std::int64_t begin = 0, room = 0;
    std::int32_t count = 0;

    __device__ void put(std::int32_t at, std::int32_t number) const {
        if (begin + at < room) partners[begin + at] = number;
    }
};

template <bool fill, int width>
class CellRows {
    using Cell = Lanes<width>;

public:
    __device__ CellRows(const NearTask& task, std::int32_t cell)
        : task_(task), cell_(cell), leaf_(task.tree.is_leaf(cell)),
          number_(leaf_ ? task.leaf_numbers[cell] : 0) {
        if constexpr (fill) {
            for (const auto& [row, place] :
                 {Of{&direct_, direct_place()}, Of{&multipoles_, multipole_place()},
                  Of{&points_, point_place()}}) {
                row->partners = task.partners;
                row->begin = task.row_first[place];
                row->room = task.partner_room;
            }
        } else if (leaf_) {
            direct_.partners = task.short_partners;
            direct_.begin = static_cast<std::int64_t>(number_) * task.short_row;
            direct_.room = direct_.begin + task.short_row;
        }
    }

    /// @param on_one_level  all leaves are: they have their neighbours alone
    __device__ void walk(bool on_one_level) {
        if (on_one_level) {
            if (leaf_) beside();
        } else {
            if (leaf_ && task_.before != nullptr)
                all_below();
            else if (leaf_)
                below();
            above();
        }
        if (fill || Cell::own() != 0) return;
        if (leaf_) {
            task_.row_counts[direct_place()] = direct_.count;
            task_.short_last[number_] = static_cast<std::int32_t>(direct_.begin) + direct_.count;
            task_.row_counts[multipole_place()] = multipoles_.count;
        }
        task_.row_counts[point_place()] = points_.count;
    }

    [[nodiscard]] __device__ unsigned long long pairs() const { return pairs_; } ///< that this lane met
    /// Of all rows of the cell.
    [[nodiscard]] __device__ std::int64_t entries() const {
        return std::int64_t{direct_.count} + multipoles_.count + points_.count;
    }
    [[nodiscard]] __device__ int leaf_targets() const { return leaf_ ? task_.tree.targets[cell_].size() : 0; }
    [[nodiscard]] __device__ bool fits_short_rows() const {
        return direct_.count <= task_.short_row && multipoles_.count + points_.count == 0;
    }

private:
    struct Of {
        Row* row;
        std::int64_t place;
    };
    [[nodiscard]] __device__ std::int64_t direct_place() const { return number_; }
    [[nodiscard]] __device__ std::int64_t multipole_place() const {
        return std::int64_t{task_.capacity} + number_;
    }
    [[nodiscard]] __device__ std::int64_t point_place() const {
        return 2 * std::int64_t{task_.capacity} + cell_;
    }

    __device__ void add_pairs(std::int32_t leaf) {
        pairs_ += static_cast<unsigned long long>(task_.tree.targets[cell_].size()) *
                  static_cast<unsigned long long>(task_.tree.sources[leaf].size());
    }

    // From neighbours and from within them: a lane each.
    __device__ void below() {
        const auto& tree = task_.tree;
        const int slots = tree.neighbour_count();
        for (int base = 0; base < slots; base += width) {
            const int slot = base + Cell::own();
            const auto near = slot < slots ? tree.neighbour(cell_, slot) : TreeView::none;
            std::int32_t direct = 0, multipoles = 0;
            if (near != TreeView::none)
                walk_below(
                    tree, cell_, near, task_.few,
                    [&](std::int32_t leaf) {
                        ++direct;
                        add_pairs(leaf);
                    },
                    [&](std::int32_t) { ++multipoles; });
            std::int32_t all_direct = 0, all_multipoles = 0;
            auto direct_at = direct_.count + Cell::before(direct, all_direct);
            auto multipole_at = multipoles_.count + Cell::before(multipoles, all_multipoles);
            direct_.count += all_direct;
            multipoles_.count += all_multipoles;
            if (direct + multipoles == 0) continue;
            walk_below(
                tree, cell_, near, task_.few,
                [&](std::int32_t leaf) { direct_.put(direct_at++, task_.leaf_numbers[leaf]); },
                [&](std::int32_t cell) { multipoles_.put(multipole_at++, cell); });
        }
        add_own_pairs();
    }

    // From neighbours and from within them, all leaves: the entries of one neighbour after the other, by all
    // lanes. In the order of `below`.
    __device__ void all_below() {
        const auto& tree = task_.tree;
        const int slots = tree.neighbour_count();
        for (int base = 0; base < slots; base += width) {
            const int slot = base + Cell::own();
            const auto near = slot < slots ? tree.neighbour(cell_, slot) : TreeView::none;
            std::int32_t first = 0, count = 0;
            if (near != TreeView::none && !(tree.self && near == cell_) && acts(tree, cell_, near)) {
                const auto sources = tree.sources[near];
                first = task_.before[sources.begin];
                count = task_.before[sources.end] - first;
                add_pairs(near);
            }
            std::int32_t all = 0;
            const auto at = direct_.count + Cell::before(count, all);
            direct_.count += all;
            const auto room = direct_.room - direct_.begin;
            const auto left = __ballot_sync(Cell::all(), count > 0 && at < room ? 1 : 0) & Cell::all();
            for (unsigned lanes = left; lanes != 0; lanes &= lanes - 1) {
                const int lane = (__ffs(static_cast<int>(lanes)) - 1) % width;
                const auto from = __shfl_sync(Cell::all(), first, lane, width);
                const auto entries = __shfl_sync(Cell::all(), count, lane, width);
                const auto to = __shfl_sync(Cell::all(), at, lane, width);
                for (auto i = Cell::own(); i < entries && to + i < room; i += width)
                    direct_.put(to + i, task_.in_order[from + i]);
            }
        }
        add_own_pairs();
    }

    __device__ void add_own_pairs() {
        if (!task_.tree.self || Cell::own() != 0) return;
        const auto size = static_cast<unsigned long long>(task_.tree.targets[cell_].size());
        if (size > 0) pairs_ += size * (size - 1); // a leaf has all of its targets, or none
    }

    // From neighbours that are leaves: a lane each.
    __device__ void beside() {
        const auto& tree = task_.tree;
        const int slots = tree.neighbour_count();
        for (int base = 0; base < slots; base += width) {
            const int slot = base + Cell::own();
            const auto near = slot < slots ? tree.neighbour(cell_, slot) : TreeView::none;
            const bool counts =
                near != TreeView::none && !(tree.self && near == cell_) && acts(tree, cell_, near);
            if (counts) add_pairs(near);
            append(direct_, counts, near, true);
        }
        add_own_pairs();
    }

    // From larger leaves beside the cells above: a lane for each neighbour of one of them.
    __device__ void above() {
        const auto& tree = task_.tree;
        const int slots = tree.neighbour_count();
        const int first_level = task_.counts->first_leaf_level;
        for (auto above = tree.parents[cell_]; above != TreeView::none; above = tree.parents[above]) {
            const bool may_have = task_.beside_leaf == nullptr || task_.beside_leaf[above] != 0;
            if (tree.places[above].level < first_level) return;
            if (!may_have) continue;
            for (int base = 0; base < slots; base += width) {
                const int slot = base + Cell::own();
                const auto leaf = slot < slots ? tree.neighbour(above, slot) : TreeView::none;
                const auto what = from_above(tree, cell_, leaf, task_.few);
                if (what == FromAbove::direct) add_pairs(leaf);
                append(direct_, what == FromAbove::direct, leaf, true);
                append(points_, what == FromAbove::points, leaf, false);
            }
        }
    }

    __device__ void append(Row& row, bool counts, std::int32_t leaf, bool as_leaf) {
        std::int32_t before = 0;
        const auto all = Cell::count(counts, before);
        if (counts) row.put(row.count + before, as_leaf ? task_.leaf_numbers[leaf] : leaf);
        row.count += all;
    }

    const NearTask& task_;
    std::int32_t cell_;
    bool leaf_;
    std::int32_t number_;
    Row direct_, multipoles_, points_;
    unsigned long long pairs_ = 0;
};

/// What all threads of a block met, each once.
__device__ void add_to_counts(const NearTask& task, unsigned long long pairs, unsigned long long entries,
                              int largest, bool fit) {
    if (!fit) task.counts->long_rows = 1; // whoever writes, writes the same
    __shared__ unsigned long long sums[2];
    __shared__ int most;
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    largest = __reduce_max_sync(~0U, largest);
    for (int step = 16; step > 0; step /= 2) {
        pairs += __shfl_xor_sync(~0U, pairs, step);
        entries += __shfl_xor_sync(~0U, entries, step);
    }
    if (threadIdx.x % 32 == 0) { // whole numbers: any order gives the same
        atomicAdd(&sums[0], pairs);
        atomicAdd(&sums[1], entries);
        atomicMax(&most, largest);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (sums[0] > 0) atomicAdd(&task.counts->pairs, sums[0]);
    if (sums[1] > 0) atomicAdd(&task.counts->entries, sums[1]);
    if (most > 0) atomicMax(&task.counts->largest_leaf, most);
}

/// Rows of leaves that all lie on one level, counted and filled by a thread each: they have their neighbours
/// alone.
__device__ void list_neighbours(const NearTask& task) {
    const auto& tree = task.tree;
    const auto leaf_count = task.counts->missing_cells > 0 ? 0 : task.counts->leaves;
    const int slots = tree.neighbour_count(), warp = static_cast<int>(threadIdx.x) / 32;
    unsigned long long pairs = 0, entries = 0;
    int largest = 0;
    bool fit = true;
    // warps of many thread blocks rather than many of one
    for (auto first = 32 * static_cast<std::int32_t>(warp * gridDim.x + blockIdx.x); first < leaf_count;
         first += static_cast<std::int32_t>(gridDim.x) * row_threads) {
        const auto number = first + static_cast<std::int32_t>(threadIdx.x) % 32;
        if (number >= leaf_count) continue;
        const auto cell = task.leaves[number];
        const int targets = tree.targets[cell].size();
        const auto begin = std::int64_t{number} * task.short_row;
        std::int32_t count = 0;
        for (int base = 0; base < slots; base += slots_together) {
            std::int32_t near[slots_together], sources[slots_together], name[slots_together];
#pragma unroll
            for (int i = 0; i < slots_together; ++i)
                near[i] = base + i < slots ? tree.neighbour(cell, base + i) : TreeView::none;
#pragma unroll
            for (int i = 0; i < slots_together; ++i) {
                const bool there = near[i] != TreeView::none;
                sources[i] = there ? tree.sources[near[i]].size() : 0;
                name[i] = there ? task.leaf_numbers[near[i]] : 0;
            }
#pragma unroll
            for (int i = 0; i < slots_together; ++i) {
                if (sources[i] == 0 || targets == 0) continue;
                const bool own = tree.self && near[i] == cell;
                pairs += static_cast<unsigned long long>(targets) *
                         static_cast<unsigned long long>(own ? sources[i] - 1 : sources[i]);
                if (own) continue;
                if (count < task.short_row) task.short_partners[begin + count] = name[i];
                ++count;
            }
        }
        task.row_counts[number] = count;
        task.short_last[number] = static_cast<std::int32_t>(begin) + count;
        entries += static_cast<unsigned long long>(count);
        largest = max(largest, targets);
        fit = fit && count <= task.short_row;
    }
    add_to_counts(task, pairs, entries, largest, fit);
}

template <bool fill, int width>
__global__ void __launch_bounds__(row_threads) row_kernel(const NearTask task) {
    const auto& counts = *task.counts;
    const bool given_up = counts.missing_cells > 0 || (fill && counts.entries > most_entries);
    const auto cells = given_up ? 0 : counts.cells();
    const bool on_one_level = counts.first_leaf_level == counts.levels - 1;
    if constexpr (!fill)
        if (on_one_level) return list_neighbours(task);
    const auto groups = static_cast<std::int32_t>(gridDim.x * row_threads / width);
    unsigned long long pairs = 0, entries = 0;
    bool fit = true;
    int largest = 0;
    for (auto cell = static_cast<std::int32_t>((blockIdx.x * row_threads + threadIdx.x) / width);
         cell < cells; cell += groups) {
        CellRows<fill, width> rows(task, cell);
        rows.walk(on_one_level);
        pairs += rows.pairs();
        fit = fit && rows.fits_short_rows();
        largest = max(largest, rows.leaf_targets());
        if (Lanes<width>::own() == 0) entries += static_cast<unsigned long long>(rows.entries());
    }
    if constexpr (fill) {
        if (blockIdx.x != 0 || threadIdx.x != 0) return;
        const auto at = [&](int list) { return task.row_first[std::int64_t{list} * task.capacity]; };
        task.counts->direct = at(1) - at(0);
        task.counts->multipoles = at(2) - at(1);
        task.counts->points = at(3) - at(2);
    } else {
        add_to_counts(task, pairs, entries, largest, fit);
    }
}

/// A warp looks at the neighbours of a cell.
__global__ void __launch_bounds__(row_threads)
    mark_beside_leaf_kernel(const NearTask task, std::uint8_t* marks) {
    const auto cells = task.counts->missing_cells > 0 ? 0 : task.counts->cells();
    const int slots = task.tree.neighbour_count();
    const auto warps = static_cast<std::int32_t>(gridDim.x * row_threads / 32);
    for (auto cell = static_cast<std::int32_t>((blockIdx.x * row_threads + threadIdx.x) / 32); cell < cells;
         cell += warps) {
        bool any = false;
        for (int slot = static_cast<int>(threadIdx.x) % 32; slot < slots; slot += 32) {
            const auto near = task.tree.neighbour(cell, slot);
            any = any || (near != TreeView::none && task.tree.is_leaf(near));
        }
        any = __any_sync(~0U, any ? 1 : 0) != 0;
        if (threadIdx.x % 32 == 0) marks[cell] = any ? 1 : 0;
    }
}

/// A thread for each cell that there is room for.
__global__ void mark_first_sources_kernel(const NearTask task, std::int32_t* firsts) {
    const auto number = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (task.counts->missing_cells > 0 || number >= task.counts->leaves) return;
    const auto sources = task.tree.sources[task.leaves[number]];
    if (sources.size() > 0) firsts[sources.begin] = 1;
}

__global__ void order_leaves_kernel(const NearTask task, std::int32_t* in_order) {
    const auto number = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (task.counts->missing_cells > 0 || number >= task.counts->leaves) return;
    const auto sources = task.tree.sources[task.leaves[number]];
    if (sources.size() > 0) in_order[task.before[sources.begin]] = number;
}

__global__ void short_first_kernel(std::int32_t* first, int rows, int short_row) {
    const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row < rows) first[row] = row * short_row;
}

} // namespace

void DeviceTree::make_room_for_rows(cudaStream_t stream) {
    if (partners_.size() == 0) partners_ = DeviceArray<std::int32_t>(8 * static_cast<std::size_t>(capacity_));
    const auto size = static_cast<std::size_t>(capacity_);
    if (short_last_.size() >= size) return;
    short_last_ = {};
    make_room(short_first_, size);
    make_room(short_partners_, size * static_cast<std::size_t>(short_row()));
    make_room(short_last_, size); // the last: its size tells that there is room for all
    launch_over(capacity_, stream, short_first_kernel, short_first_.data(), capacity_, short_row());
}

void DeviceTree::add_up(const std::int32_t* counts, std::int32_t* before, int size, cudaStream_t stream) {
    std::size_t bytes = 0;
    const auto scan = [&](void* memory) {
        check(cub::DeviceScan::ExclusiveSum(memory, bytes, counts, before, size, stream), "adding up counts");
    };
    scan(nullptr);
    scan(workspace_.reserve(bytes));
}

void DeviceTree::make_room_for_order() {
    make_room(leaves_in_order_, static_cast<std::size_t>(capacity_));
    const auto numbers = static_cast<std::size_t>(sources_.count) + 1;
    make_room(first_sources_, numbers);
    make_room(leaves_before_, numbers);
}

// Counts rows, and fills short ones; makes of the counts the places where rows begin, and fills them; fills
// them again.
void DeviceTree::list_near(std::int32_t few, Lists step, cudaStream_t stream) {
    // even work: as many as fit the multiprocessors of a large GPU at once
    const unsigned blocks = at_once_ ? 528 : 2048;
    const auto rows = 3 * static_cast<std::size_t>(capacity_) + 1;
    make_room_for_rows(stream);
    if (step == Lists::count) {
        marks_leaves_ = !(at_once_ && last_dense_level() >= 0); // else leaves lie on few levels
        by_points_ = few == all_points && marks_leaves_;
    }
    if (marks_leaves_) make_room(beside_leaf_, static_cast<std::size_t>(capacity_));
    if (by_points_) make_room_for_order();
    const NearTask task{view(),
                        leaves_.data(),
                        leaf_numbers_.data(),
                        few,
                        capacity_,
                        row_counts_.data(),
                        row_first_.data(),
                        partners_.data(),
                        static_cast<std::int64_t>(partners_.size()),
                        short_partners_.data(),
                        short_last_.data(),
                        short_row(),
                        by_points_ ? leaves_in_order_.data() : nullptr,
                        by_points_ ? leaves_before_.data() : nullptr,
                        marks_leaves_ ? beside_leaf_.data() : nullptr,
                        counts_.data()};
    if (step == Lists::count) {
        if (marks_leaves_) {
            mark_beside_leaf_kernel<<<blocks, row_threads, 0, stream>>>(task, beside_leaf_.data());
            check_launch("finding cells beside leaves");
        }
        if (by_points_) {
            check(cudaMemsetAsync(first_sources_.data(), 0, first_sources_.bytes(), stream),
                  "clearing marks");
            launch_over(capacity_, stream, mark_first_sources_kernel, task, first_sources_.data());
            add_up(first_sources_.data(), leaves_before_.data(), sources_.count + 1, stream);
            launch_over(capacity_, stream, order_leaves_kernel, task, leaves_in_order_.data());
        }
        check(cudaMemsetAsync(row_counts_.data(), 0, rows * sizeof(std::int32_t), stream), "clearing counts");
        if (dimension_ == 3)
            row_kernel<false, 32><<<blocks, row_threads, 0, stream>>>(task);
        else
            row_kernel<false, 16><<<blocks, row_threads, 0, stream>>>(task);
        return check_launch("listing what is near");
    }
    if (step == Lists::fill) add_up(row_counts_.data(), row_first_.data(), static_cast<int>(rows), stream);
    if (dimension_ == 3)
        row_kernel<true, 32><<<blocks, row_threads, 0, stream>>>(task);
    else
        row_kernel<true, 16><<<blocks, row_threads, 0, stream>>>(task);
    check_launch("listing what is near");
}

} // namespace farfield::cuda
