// Points are sorted by their keys; cells are divided level by level, all of a level at once.
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/cuda/launch.cuh"

#include "sums/tree/morton.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield::cuda {
namespace {

struct KeyTask {
    const double* points;
    int count;
    Frame frame;
    TreeCube cube;
    std::int64_t cells; ///< an axis
    std::uint64_t* keys;
    std::int32_t* numbers;
};

__device__ Vec4<double> framed_point(const double* points, std::int64_t i, const Frame& frame) {
    const auto at = [&](int k) { return scalbn(points[3 * i + k] - frame.origin[k], frame.exponent); };
    return {at(0), at(1), at(2), 0.0};
}

__global__ void key_kernel(const KeyTask task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.count) return;
    const auto point = framed_point(task.points, i, task.frame);
    const double scale = static_cast<double>(task.cells) / task.cube.side;
    const auto index = [&](double x, double low) {
        const auto place = static_cast<std::int64_t>((x - low) * scale);
        return static_cast<std::uint32_t>(place < 0 ? 0 : place < task.cells ? place : task.cells - 1);
    };
    task.keys[i] = morton_key(index(point.x, task.cube.low[0]), index(point.y, task.cube.low[1]),
                              index(point.z, task.cube.low[2]));
    task.numbers[i] = i;
}

__global__ void gather_points_kernel(const double* points, const std::int32_t* from, int count, Frame frame,
                                     Vec4<double>* out, std::int32_t* where) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    out[i] = framed_point(points, from[i], frame);
    where[from[i]] = i;
}

/// The first of keys [begin, end) that, without its lowest bits, is not less than `value`.
__device__ std::int32_t first_from(const std::uint64_t* keys, std::int32_t begin, std::int32_t end, int shift,
                                   std::uint64_t value) {
    while (begin < end) {
        const auto middle = begin + (end - begin) / 2;
        if (keys[middle] >> shift < value)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

__device__ BlockRange part_with(const std::uint64_t* keys, BlockRange range, int shift,
                                std::uint64_t prefix) {
    const auto begin = first_from(keys, range.begin, range.end, shift, prefix);
    return {begin, first_from(keys, begin, range.end, shift, prefix + 1)};
}

/// Ranges of all coarse cells, by their keys.
__global__ void coarse_kernel(const std::uint64_t* keys, int count, int shift, int cells, BlockRange* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < cells) out[i] = part_with(keys, {0, count}, shift, static_cast<std::uint64_t>(i));
}

/// What dividing a level takes. Cells [begin, end); their children are candidates 8·(cell − begin) + octant.
struct DivideTask {
    TreeShape shape;
    int finest;
    std::int32_t begin, end;
    const std::uint64_t* source_keys;
    const std::uint64_t* target_keys;
    CellPlace* places;
    std::int32_t *parents, *children, *divided;
    BlockRange *sources, *targets;
    std::int32_t *flags, *positions; ///< of the candidates: whether there is such a child; how many before it
    BlockRange *child_sources, *child_targets;
};

__device__ bool holds_too_many(const DivideTask& task, std::int32_t cell) {
    if (task.places[cell].level >= task.finest) return false;
    return task.shape.depth >= 0 ||
           max(task.sources[cell].size(), task.targets[cell].size()) > task.shape.most;
}

__device__ bool is_beside_many(const DivideTask& task, const TreeView& tree, std::int32_t leaf) {
    if (task.shape.pairs_a_cell <= 0.0 || task.shape.depth >= 0 || tree.places[leaf].level >= task.finest)
        return false;
    double pairs = 0.0;
    for (int slot = 0; slot < tree.neighbour_count(); ++slot) {
        const auto other = tree.neighbour(leaf, slot);
        if (other == TreeView::none || !holds_too_many(task, other)) continue;
        pairs += static_cast<double>(tree.targets[leaf].size()) * tree.sources[other].size() +
                 static_cast<double>(tree.sources[leaf].size()) * tree.targets[other].size();
    }
    const int children = min(8, max(tree.sources[leaf].size(), tree.targets[leaf].size()));
    return pairs > children * task.shape.pairs_a_cell;
}

__global__ void neighbour_kernel(const TreeView tree, std::int32_t begin, std::int32_t end,
                                 std::int32_t* neighbours) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int count = tree.neighbour_count();
    const auto cell = begin + static_cast<std::int32_t>(i / count);
    if (cell >= end) return;
    const int slot = static_cast<int>(i % count);
    const int w = tree.separation;
    const int n = 2 * w + 1;
    const auto place = tree.places[cell];
    const int x = place.index[0] + slot % n - w;
    const int y = place.index[1] + slot / n % n - w;
    const int z = place.index[2] + slot / (n * n) - w;
    std::int32_t found = TreeView::none;
    if (place.level == 0) {
        found = tree.coarse_cell(x, y, z);
    } else {
        const auto parent = tree.parents[cell];
        const auto& above = tree.places[parent];
        const auto near =
            tree.neighbour(parent, tree.neighbour_slot((x >> 1) - above.index[0], (y >> 1) - above.index[1],
                                                       (z >> 1) - above.index[2]));
        if (near != TreeView::none) found = tree.child(near, (x & 1) | (y & 1) << 1 | (z & 1) << 2);
    }
    neighbours[static_cast<std::int64_t>(cell) * count + slot] = found;
}

__global__ void find_children_kernel(const DivideTask task, const TreeView tree) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const auto cell = task.begin + static_cast<std::int32_t>(i / 8);
    if (cell >= task.end) return;
    const auto octant = static_cast<std::uint64_t>(i % 8);
    const bool divided = holds_too_many(task, cell) || is_beside_many(task, tree, cell);
    if (octant == 0) task.divided[cell] = divided ? 1 : 0;
    BlockRange sources, targets;
    if (divided) {
        const auto& place = task.places[cell];
        const int shift = 3 * (task.finest - place.level - 1);
        const auto key = (morton_key(static_cast<std::uint32_t>(place.index[0]),
                                     static_cast<std::uint32_t>(place.index[1]),
                                     static_cast<std::uint32_t>(place.index[2]))
                          << 3) +
                         octant;
        sources = part_with(task.source_keys, task.sources[cell], shift, key);
        targets = tree.self ? sources : part_with(task.target_keys, task.targets[cell], shift, key);
    }
    task.child_sources[i] = sources;
    task.child_targets[i] = targets;
    task.flags[i] = sources.size() > 0 || targets.size() > 0 ? 1 : 0;
}

__global__ void make_children_kernel(const DivideTask task) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const auto cell = task.begin + static_cast<std::int32_t>(i / 8);
    if (cell >= task.end) return;
    const int octant = static_cast<int>(i % 8);
    std::int32_t number = TreeView::none;
    if (task.flags[i] != 0) {
        number = task.end + task.positions[i];
        const auto& parent = task.places[cell];
        CellPlace place;
        for (int axis = 0; axis < 3; ++axis)
            place.index[axis] = 2 * parent.index[axis] + (octant >> axis & 1);
        place.level = parent.level + 1;
        task.places[number] = place;
        task.parents[number] = cell;
        task.sources[number] = task.child_sources[i];
        task.targets[number] = task.child_targets[i];
    }
    task.children[8 * static_cast<std::int64_t>(cell) + octant] = number;
}

std::array<std::int32_t, 2> totals(const std::int32_t* flags, const std::int32_t* positions, int count,
                                   cudaStream_t stream) {
    std::array<std::int32_t, 2> last{};
    copy(last.data(), flags + count - 1, 1, stream);
    copy(last.data() + 1, positions + count - 1, 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    return last;
}

} // namespace

void DeviceTree::scan(const std::int32_t* in, std::int32_t* out, int count, cudaStream_t stream) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, count, stream), "adding up counts");
    check(cub::DeviceScan::ExclusiveSum(workspace_.reserve(bytes), bytes, in, out, count, stream),
          "adding up counts");
}

void DeviceTree::sort(const double* points, int count, DevicePoints& out, const Frame& frame,
                      cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(count);
    if (out.keys.size() < size) {
        out = {};
        out.keys = DeviceArray<std::uint64_t>(size);
        out.unsorted_keys = DeviceArray<std::uint64_t>(size);
        out.from = DeviceArray<std::int32_t>(size);
        out.unsorted = DeviceArray<std::int32_t>(size);
        out.where = DeviceArray<std::int32_t>(size);
        out.at = DeviceArray<Vec4<double>>(size);
    }
    out.count = count;
    if (count == 0) return;
    const auto cells = static_cast<std::int64_t>(shape_.coarse) << finest_;
    launch_over(count, stream, key_kernel,
                KeyTask{points, count, frame, cube_, cells, out.unsorted_keys.data(), out.unsorted.data()});
    int bits = 0;
    while ((std::int64_t{1} << bits) < cells) ++bits;
    std::size_t bytes = 0;
    const auto run = [&](void* memory) {
        check(cub::DeviceRadixSort::SortPairs(memory, bytes, out.unsorted_keys.data(), out.keys.data(),
                                              out.unsorted.data(), out.from.data(), count, 0,
                                              std::max(1, 3 * bits), stream),
              "sorting points");
    };
    run(nullptr);
    run(workspace_.reserve(bytes));
    launch_over(count, stream, gather_points_kernel, points, out.from.data(), count, frame, out.at.data(),
                out.where.data());
}

void DeviceTree::make_room(int cells, cudaStream_t stream) {
    const auto used = static_cast<std::size_t>(levels_.back());
    const auto size = static_cast<std::size_t>(cells);
    const auto near = static_cast<std::size_t>(view().neighbour_count());
    places_.grow(used, size, stream);
    parents_.grow(used, size, stream);
    children_.grow(8 * used, 8 * size, stream);
    divided_.grow(used, size, stream);
    neighbours_.grow(near * used, near * size, stream);
    source_ranges_.grow(used, size, stream);
    if (!self_) target_ranges_.grow(used, size, stream);
}

// So many cells as evenly spread points come to, so that arrays need not grow level by level.
void DeviceTree::reserve(int points, cudaStream_t stream) {
    const double grid = std::ldexp(shape_.coarse, shape_.depth);
    const double cells = shape_.depth >= 0 ? std::min(1.2 * grid * grid * grid, 2.0 * points)
                                           : 4.0 * points / std::max(1, shape_.most);
    const int expected = static_cast<int>(cells) + 512;
    make_room(expected, stream);
    const auto candidates = 8 * static_cast<std::size_t>(expected);
    flags_.grow(0, candidates, stream);
    positions_.grow(0, candidates, stream);
    child_sources_.grow(0, candidates, stream);
    child_targets_.grow(0, candidates, stream);
}

void DeviceTree::make_coarse_cells(cudaStream_t stream) {
    const int k = shape_.coarse;
    int bits = 0;
    while (1 << bits < k) ++bits;
    const int candidates = 1 << (3 * bits);
    child_sources_.grow(0, static_cast<std::size_t>(candidates), stream);
    child_targets_.grow(0, static_cast<std::size_t>(candidates), stream);
    std::vector<BlockRange> sources(static_cast<std::size_t>(candidates));
    const auto ranges = [&](const DevicePoints& points, GrowingArray<BlockRange>& memory) {
        launch_over(candidates, stream, coarse_kernel, points.keys.data(), points.count, 3 * finest_,
                    candidates, memory.data());
        std::vector<BlockRange> out(static_cast<std::size_t>(candidates));
        copy(out.data(), memory.data(), out.size(), stream);
        return out;
    };
    sources = ranges(sources_, child_sources_);
    const auto targets = self_ ? sources : ranges(targets_, child_targets_);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    struct Found {
        std::uint64_t key;
        CellPlace place;
    };
    std::vector<Found> found;
    for (int z = 0; z < k; ++z)
        for (int y = 0; y < k; ++y)
            for (int x = 0; x < k; ++x) {
                const auto key = morton_key(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                                            static_cast<std::uint32_t>(z));
                if (sources[key].size() > 0 || targets[key].size() > 0)
                    found.push_back({key, {{x, y, z}, 0}});
            }
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.key < b.key; });
    std::vector<CellPlace> places;
    std::vector<BlockRange> own_sources, own_targets;
    std::vector<std::int32_t> grid(static_cast<std::size_t>(k * k * k), TreeView::none);
    for (const auto& [key, place] : found) {
        grid[static_cast<std::size_t>(place.index[0] + k * (place.index[1] + k * place.index[2]))] =
            static_cast<std::int32_t>(places.size());
        places.push_back(place);
        own_sources.push_back(sources[key]);
        own_targets.push_back(targets[key]);
    }
    const std::vector<std::int32_t> parents(places.size(), TreeView::none);
    make_room(static_cast<int>(places.size()), stream);
    if (coarse_cells_.size() < grid.size()) coarse_cells_ = DeviceArray<std::int32_t>(grid.size());
    copy(coarse_cells_.data(), grid.data(), grid.size(), stream);
    copy(places_.data(), places.data(), places.size(), stream);
    copy(parents_.data(), parents.data(), parents.size(), stream);
    copy(source_ranges_.data(), own_sources.data(), own_sources.size(), stream);
    if (!self_) copy(target_ranges_.data(), own_targets.data(), own_targets.size(), stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the host's arrays end here
    levels_.push_back(static_cast<std::int32_t>(places.size()));
}

// The last level's neighbours, and the level below it. False where there is none.
bool DeviceTree::divide_level(cudaStream_t stream) {
    const auto begin = levels_[levels_.size() - 2];
    const auto end = levels_.back();
    const int count = end - begin;
    if (count == 0) return false;
    launch_over(static_cast<std::int64_t>(count) * view().neighbour_count(), stream, neighbour_kernel, view(),
                begin, end, neighbours_.data());
    const int candidates = 8 * count;
    const auto size = static_cast<std::size_t>(candidates);
    flags_.grow(0, size, stream);
    positions_.grow(0, size, stream);
    child_sources_.grow(0, size, stream);
    child_targets_.grow(0, size, stream);
    const auto task = [&] {
        return DivideTask{shape_,
                          finest_,
                          begin,
                          end,
                          sources_.keys.data(),
                          targets_.keys.data(),
                          places_.data(),
                          parents_.data(),
                          children_.data(),
                          divided_.data(),
                          source_ranges_.data(),
                          self_ ? source_ranges_.data() : target_ranges_.data(),
                          flags_.data(),
                          positions_.data(),
                          child_sources_.data(),
                          child_targets_.data()};
    };
    launch_over(candidates, stream, find_children_kernel, task(), view());
    scan(flags_.data(), positions_.data(), candidates, stream);
    const auto last = totals(flags_.data(), positions_.data(), candidates, stream);
    const int children = last[0] + last[1];
    make_room(end + children, stream);
    launch_over(candidates, stream, make_children_kernel, task());
    if (children == 0) return false;
    levels_.push_back(end + children);
    return true;
}

void DeviceTree::build(const double* sources, int n, const double* targets, int m, const Frame& frame,
                       const TreeCube& cube, const TreeShape& shape, std::int32_t few, cudaStream_t stream) {
    shape_ = shape;
    cube_ = cube;
    self_ = targets == nullptr;
    const int deepest = deepest_level(shape.coarse);
    finest_ = shape.depth >= 0 ? std::min(shape.depth, deepest) : deepest;
    levels_ = {0};
    sort(sources, n, sources_, frame, stream);
    if (!self_) sort(targets, m, targets_, frame, stream);
    reserve(std::max(n, m), stream);
    make_coarse_cells(stream);
    while (divide_level(stream)) {
    }
    list_leaves(stream);
    list_near(few, stream);
    group(stream);
}

TreeView DeviceTree::view() const {
    TreeView out;
    out.places = places_.data();
    out.parents = parents_.data();
    out.children = children_.data();
    out.divided = divided_.data();
    out.sources = source_ranges_.data();
    out.targets = self_ ? source_ranges_.data() : target_ranges_.data();
    out.neighbours = neighbours_.data();
    out.coarse_cells = coarse_cells_.data();
    out.separation = shape_.separation;
    out.coarse = shape_.coarse;
    out.self = self_;
    for (int axis = 0; axis < 3; ++axis) out.low[axis] = cube_.low[axis];
    out.width = cube_.side / shape_.coarse;
    return out;
}

} // namespace farfield::cuda
