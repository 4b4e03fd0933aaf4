// A thread looks at the children of a cell with too many targets, twice: it counts their groups, and writes
// them once it is known where.
#include "sums/treecode/cuda/device_cells.cuh"

#include "sums/tree/cuda/launch.cuh"
#include "sums/treecode/group_rule.h"

#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace farfield::cuda {
namespace {

struct GroupTask {
    TreeView tree;
    int cells;
    int most;
    std::int32_t* counts;
    const std::int32_t* first;
    BlockRange* ranges;
};

/// Number 0 stands for the parent of level 0.
__device__ bool has_groups(const GroupTask& task, int number) {
    if (number == 0) return true;
    return !task.tree.is_leaf(number - 1) && task.tree.targets[number - 1].size() > task.most;
}

__global__ void count_groups_kernel(const GroupTask task) {
    const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (number > task.cells + 1) return;
    std::int32_t count = 0;
    if (number <= task.cells && has_groups(task, number))
        for_groups(task.tree, number == 0 ? TreeView::none : number - 1, task.most,
                   [&](const BlockRange&) { ++count; });
    task.counts[number] = count;
}

__global__ void write_groups_kernel(const GroupTask task) {
    const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (number > task.cells || !has_groups(task, number)) return;
    auto* out = task.ranges + task.first[number];
    for_groups(task.tree, number == 0 ? TreeView::none : number - 1, task.most,
               [&](const BlockRange& range) { *out++ = range; });
}

} // namespace

void DeviceGroups::make(const DeviceTree& tree, int most, cudaStream_t stream) {
    const auto rows = static_cast<std::size_t>(tree.cells()) + 2;
    make_room(counts_, rows);
    make_room(first_, rows);
    // a group is a cell, some of them, or a whole part of a large leaf
    make_room(ranges_, rows + static_cast<std::size_t>(tree.targets().count / most));
    const GroupTask task{tree.view(), tree.cells(), most, counts_.data(), first_.data(), ranges_.data()};
    launch_over(static_cast<std::int64_t>(rows), stream, count_groups_kernel, task);
    std::size_t bytes = 0;
    const auto scan = [&](void* memory) {
        check(cub::DeviceScan::ExclusiveSum(memory, bytes, counts_.data(), first_.data(),
                                            static_cast<int>(rows), stream),
              "numbering groups");
    };
    scan(nullptr);
    scan(workspace_.reserve(bytes));
    launch_over(static_cast<std::int64_t>(rows), stream, write_groups_kernel, task);
    count_ = first_.data() + rows - 1;
}

} // namespace farfield::cuda
