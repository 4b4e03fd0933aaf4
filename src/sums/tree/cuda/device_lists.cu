// The leaves of a tree on a GPU and what they act on: each row is counted, then filled, by the same walk.
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/cuda/launch.cuh"
#include "sums/tree/near_walk.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <array>

namespace farfield::cuda {
namespace {

__global__ void leaf_flag_kernel(const TreeView tree, int cells, std::int32_t* flags) {
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell < cells) flags[cell] = tree.is_leaf(cell) ? 1 : 0;
}

__global__ void leaf_kernel(const TreeView tree, int cells, const std::int32_t* numbers,
                            std::int32_t* leaves) {
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell < cells && tree.is_leaf(cell)) leaves[numbers[cell]] = cell;
}

/// Entries of a row: counted, or written from `at` on.
struct Row {
    std::int32_t count = 0;
    std::int32_t* at = nullptr;
    __device__ void add(std::int32_t number) {
        if (at != nullptr) at[count] = number;
        ++count;
    }
};

struct NearTask {
    TreeView tree;
    const std::int32_t* leaves;
    const std::int32_t* leaf_numbers;
    int leaf_count, cells;
    std::int32_t few;
    /// Counts of direct and multipole partners by leaf and slot, and of points by cell; or, once `fill`,
    /// where each part begins.
    std::int32_t *direct, *multipoles, *points;
    std::int32_t *direct_partners, *multipole_partners, *point_partners;
    bool fill;
    unsigned long long* pairs;
};

// A leaf's slot: a neighbour, or, the last, all that is above.
__global__ void leaf_row_kernel(const NearTask task) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int slots = task.tree.neighbour_count() + 1;
    const auto number = static_cast<int>(i / slots);
    if (number >= task.leaf_count) return;
    const int slot = static_cast<int>(i % slots);
    const auto leaf = task.leaves[number];
    Row direct, multipoles;
    if (task.fill) {
        direct.at = task.direct_partners + task.direct[i];
        multipoles.at = task.multipole_partners + task.multipoles[i];
    }
    unsigned long long pairs = 0;
    const auto add_direct = [&](std::int32_t other) {
        direct.add(task.leaf_numbers[other]);
        pairs += static_cast<unsigned long long>(task.tree.targets[leaf].size()) *
                 static_cast<unsigned long long>(task.tree.sources[other].size());
    };
    if (task.tree.self && slot == slots / 2 - 1) { // the leaf itself
        const auto size = static_cast<unsigned long long>(task.tree.sources[leaf].size());
        pairs += size * (size - 1);
    }
    if (slot + 1 == slots)
        walk_above(task.tree, leaf, task.few, add_direct, [](std::int32_t) {});
    else if (const auto near = task.tree.neighbour(leaf, slot); near != TreeView::none)
        walk_below(task.tree, leaf, near, task.few, add_direct,
                   [&](std::int32_t cell) { multipoles.add(cell); });
    if (task.fill) return;
    task.direct[i] = direct.count;
    task.multipoles[i] = multipoles.count;
    if (pairs > 0) atomicAdd(task.pairs, pairs); // integers: any order gives the same
}

/// Where rows begin that consist of `width` parts each.
__global__ void row_begin_kernel(const std::int32_t* parts, int width, int rows, std::int32_t* first) {
    const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row < rows) first[row] = parts[static_cast<std::int64_t>(row) * width];
}

__global__ void cell_row_kernel(const NearTask task) {
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell >= task.cells) return;
    Row points;
    if (task.fill) points.at = task.point_partners + task.points[cell];
    walk_above(
        task.tree, cell, task.few, [](std::int32_t) {}, [&](std::int32_t leaf) { points.add(leaf); });
    if (!task.fill) task.points[cell] = points.count;
}

__global__ void group_kernel(const TreeView tree, int cells, int groups, std::int32_t* keys,
                             std::int32_t* numbers, std::int32_t* counts) {
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell >= cells) return;
    const auto& place = tree.places[cell];
    const bool wanted = tree.targets[cell].size() > 0;
    keys[cell] = wanted ? 8 * place.level + (place.level > 0 ? place.octant() : 0) : groups;
    numbers[cell] = cell;
    if (wanted) atomicAdd(counts + keys[cell], 1);
}

} // namespace

void DeviceTree::list_leaves(cudaStream_t stream) {
    const int all = cells();
    const auto size = static_cast<std::size_t>(all);
    flags_.grow(0, size, stream);
    leaf_numbers_.grow(0, size, stream);
    leaves_.grow(0, size, stream);
    leaf_count_ = 0;
    if (all == 0) return;
    launch_over(all, stream, leaf_flag_kernel, view(), all, flags_.data());
    scan(flags_.data(), leaf_numbers_.data(), all, stream);
    launch_over(all, stream, leaf_kernel, view(), all, leaf_numbers_.data(), leaves_.data());
    std::array<std::int32_t, 2> last{};
    copy(last.data(), flags_.data() + all - 1, 1, stream);
    copy(last.data() + 1, leaf_numbers_.data() + all - 1, 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    leaf_count_ = last[0] + last[1];
}

// The same passes count and fill; in between the counts of all parts become the places where they begin.
void DeviceTree::list_near(std::int32_t few, cudaStream_t stream) {
    const int all = cells();
    const auto slots = static_cast<std::size_t>(view().neighbour_count()) + 1;
    const auto parts = static_cast<std::size_t>(leaf_count_) * slots + 1; // of leaves
    const auto rows = static_cast<std::size_t>(all) + 1;
    const auto counts = 2 * parts + rows;
    flags_.grow(0, counts, stream);
    positions_.grow(0, 2 * parts, stream);
    direct_.first.grow(0, static_cast<std::size_t>(leaf_count_) + 1, stream);
    multipoles_.first.grow(0, static_cast<std::size_t>(leaf_count_) + 1, stream);
    points_.first.grow(0, rows, stream);
    if (pairs_.size() == 0) pairs_ = DeviceArray<unsigned long long>(1);
    check(cudaMemsetAsync(pairs_.data(), 0, sizeof(unsigned long long), stream), "clearing counts");
    check(cudaMemsetAsync(flags_.data(), 0, counts * sizeof(std::int32_t), stream), "clearing counts");
    NearTask task{.tree = view(),
                  .leaves = leaves_.data(),
                  .leaf_numbers = leaf_numbers_.data(),
                  .leaf_count = leaf_count_,
                  .cells = all,
                  .few = few,
                  .direct = flags_.data(),
                  .multipoles = flags_.data() + parts,
                  .points = flags_.data() + 2 * parts,
                  .direct_partners = nullptr,
                  .multipole_partners = nullptr,
                  .point_partners = nullptr,
                  .fill = false,
                  .pairs = pairs_.data()};
    const auto run = [&] {
        launch_over(static_cast<std::int64_t>(parts) - 1, stream, leaf_row_kernel, task);
        launch_over(all, stream, cell_row_kernel, task);
    };
    run();
    auto* const direct_at = positions_.data();
    auto* const multipoles_at = positions_.data() + parts;
    scan(task.direct, direct_at, static_cast<int>(parts), stream);
    scan(task.multipoles, multipoles_at, static_cast<int>(parts), stream);
    scan(task.points, points_.first.data(), static_cast<int>(rows), stream);
    const auto width = static_cast<int>(slots);
    launch_over(leaf_count_ + 1, stream, row_begin_kernel, direct_at, width, leaf_count_ + 1,
                direct_.first.data());
    launch_over(leaf_count_ + 1, stream, row_begin_kernel, multipoles_at, width, leaf_count_ + 1,
                multipoles_.first.data());
    unsigned long long pairs = 0;
    copy(&direct_.total, direct_at + parts - 1, 1, stream);
    copy(&multipoles_.total, multipoles_at + parts - 1, 1, stream);
    copy(&points_.total, points_.first.data() + rows - 1, 1, stream);
    copy(&pairs, pairs_.data(), 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    near_pairs_ = static_cast<std::int64_t>(pairs);
    for (auto* list : {&direct_, &multipoles_, &points_})
        list->partners.grow(0, static_cast<std::size_t>(std::max(1, list->total)), stream);
    task.fill = true;
    task.direct = direct_at;
    task.multipoles = multipoles_at;
    task.points = points_.first.data();
    task.direct_partners = direct_.partners.data();
    task.multipole_partners = multipoles_.partners.data();
    task.point_partners = points_.partners.data();
    run();
}

void DeviceTree::group(cudaStream_t stream) {
    const int all = cells();
    const int groups = 8 * levels();
    const auto size = static_cast<std::size_t>(all);
    octant_counts_.assign(static_cast<std::size_t>(groups), 0);
    by_octant_.grow(0, size, stream);
    groups_.grow(0, 3 * size, stream);
    if (all == 0) return;
    if (counts_.size() < octant_counts_.size()) counts_ = DeviceArray<std::int32_t>(octant_counts_.size());
    check(cudaMemsetAsync(counts_.data(), 0, octant_counts_.size() * sizeof(std::int32_t), stream),
          "clearing counts");
    auto* const keys = groups_.data();
    auto* const sorted_keys = keys + size;
    auto* const numbers = sorted_keys + size;
    launch_over(all, stream, group_kernel, view(), all, groups, keys, numbers, counts_.data());
    int bits = 1;
    while (1 << bits <= groups) ++bits;
    std::size_t bytes = 0;
    const auto run = [&](void* memory) {
        check(cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, numbers, by_octant_.data(),
                                              all, 0, bits, stream),
              "sorting cells");
    };
    run(nullptr);
    run(workspace_.reserve(bytes));
    copy(octant_counts_.data(), counts_.data(), octant_counts_.size(), stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

} // namespace farfield::cuda
