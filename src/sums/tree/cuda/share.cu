// A share of a tree's targets: cells outside have none, and stand in no list of cells with targets. The tree
// itself is that of all points.
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <cub/device/device_select.cuh>

#include <climits>

namespace farfield::cuda {
namespace {

constexpr int share_threads = 256;
constexpr int octant_slots = 8 * (most_levels + 1);
/// What is counted: cells of each level and octant; where the own rows begin and end; how many cells are
/// kept; of each level the first and the last leaf that the share forms. Firsts are counted down from the
/// largest number, so that cleared memory stands for none.
enum TallySlot : std::uint16_t {
    begin_slot = octant_slots,
    end_slot,
    kept_slot,
    first_leaf_slot,
    last_leaf_slot = first_leaf_slot + most_levels + 1,
    tally_slots = last_leaf_slot + most_levels + 1
};

struct ShareTask {
    TreeView tree;
    const BlockRange* targets; ///< of all
    BlockRange rows;
    int capacity;
    const std::int32_t* by_octant; ///< cells with targets of anyone
    BlockRange* own;
    std::uint8_t* kept; ///< which of `by_octant`
    std::int32_t* tally;
    TreeCounts* counts;
};

__device__ BlockRange own_range(const ShareTask& task, std::int32_t cell) {
    return targets_in_share(task.targets[cell], task.tree.is_leaf(cell), task.rows);
}

__global__ void __launch_bounds__(share_threads) share_kernel(const ShareTask task) {
    __shared__ std::int32_t tally[octant_slots];
    __shared__ std::int32_t grouped, begin, end, first_leaf[most_levels + 1], last_leaf[most_levels + 1];
    const auto& counts = *task.counts;
    if (counts.missing_cells > 0) return; // the tree was given up
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) grouped = end = 0, begin = INT_MAX;
    if (thread <= most_levels) first_leaf[thread] = INT_MAX, last_leaf[thread] = 0;
    __syncthreads();
    for (int k = thread; k < octant_slots; k += share_threads) {
        tally[k] = 0;
        if (k < 8 * counts.levels) atomicAdd(&grouped, counts.octants[k]);
    }
    __syncthreads();
    const auto i = static_cast<std::int32_t>(blockIdx.x * share_threads) + thread;
    if (i < counts.cells()) {
        const auto own = own_range(task, i);
        task.own[i] = own;
        const bool leaf = task.tree.is_leaf(i);
        if (leaf && own.size() > 0) {
            atomicMin(&begin, own.begin);
            atomicMax(&end, own.end);
        }
        if (leaf && task.tree.sources[i].size() > 0 && task.tree.forms(i)) {
            const auto level = task.tree.places[i].level;
            atomicMin(&first_leaf[level], i);
            atomicMax(&last_leaf[level], i + 1);
        }
    }
    if (i < task.capacity) {
        const auto cell = i < grouped ? task.by_octant[i] : TreeView::none;
        const bool kept = cell != TreeView::none && own_range(task, cell).size() > 0;
        task.kept[i] = kept ? 1 : 0;
        if (kept) { // whole numbers: any order gives the same
            const auto& place = task.tree.places[cell];
            atomicAdd(&tally[8 * place.level + (place.level > 0 ? place.octant() : 0)], 1);
        }
    }
    __syncthreads();
    for (int k = thread; k < octant_slots; k += share_threads)
        if (tally[k] > 0) atomicAdd(&task.tally[k], tally[k]);
    if (thread <= most_levels && last_leaf[thread] > 0) {
        atomicMax(&task.tally[first_leaf_slot + thread], INT_MAX - first_leaf[thread]);
        atomicMax(&task.tally[last_leaf_slot + thread], last_leaf[thread]);
    }
    if (thread != 0 || end == 0) return;
    atomicMax(&task.tally[begin_slot], INT_MAX - begin);
    atomicMax(&task.tally[end_slot], end);
}

__global__ void note_share_kernel(const std::int32_t* tally, TreeCounts* counts) {
    for (int k = static_cast<int>(threadIdx.x); k < octant_slots; k += share_threads) {
        counts->all_octants[k] = counts->octants[k];
        counts->octants[k] = tally[k];
    }
    const auto range = [&](int first, int last) {
        return tally[last] > 0 ? BlockRange{INT_MAX - tally[first], tally[last]} : BlockRange{};
    };
    const int level = static_cast<int>(threadIdx.x);
    if (level <= most_levels)
        counts->own_leaves[level] = range(first_leaf_slot + level, last_leaf_slot + level);
    if (level == 0) counts->own_targets = range(begin_slot, end_slot);
}

} // namespace

void DeviceTree::take_share(cudaStream_t stream) {
    make_room(share_tally_, tally_slots);
    check(cudaMemsetAsync(share_tally_.data(), 0, share_tally_.bytes(), stream), "clearing counts");
    const ShareTask task{.tree = view(),
                         .targets = all_target_ranges(),
                         .rows = share_.rows_of(targets().count),
                         .capacity = capacity_,
                         .by_octant = by_octant_.data(),
                         .own = shared_ranges_.data(),
                         .kept = shared_cells_.data(),
                         .tally = share_tally_.data(),
                         .counts = counts_.data()};
    const auto blocks = static_cast<unsigned>((capacity_ + share_threads - 1) / share_threads);
    share_kernel<<<blocks, share_threads, 0, stream>>>(task);
    check_launch("sharing out a tree");
    std::size_t bytes = 0;
    const auto select = [&](void* memory) {
        check(cub::DeviceSelect::Flagged(memory, bytes, by_octant_.data(), shared_cells_.data(),
                                         shared_by_octant_.data(), share_tally_.data() + kept_slot, capacity_,
                                         stream),
              "sharing out a tree");
    };
    select(nullptr);
    select(workspace_.reserve(bytes));
    note_share_kernel<<<1, share_threads, 0, stream>>>(share_tally_.data(), counts_.data());
    check_launch("sharing out a tree");
}

} // namespace farfield::cuda
