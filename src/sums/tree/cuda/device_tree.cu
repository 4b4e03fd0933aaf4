// Points are sorted by their keys, as far down as the tree may go; then it is built (device_levels.cu).
#include "sums/points/framed_point.cuh"
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/cuda/launch.cuh"

#include "sums/tree/morton.h"

#include <cub/device/device_radix_sort.cuh>

#include <farfield/error.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace farfield::cuda {
namespace {

struct KeyTask {
    const double* points;
    int count, dimension;
    Frame frame;
    TreeCube cube;
    std::int64_t cells; ///< an axis
    std::uint64_t* keys;
    bool narrow;
    std::int32_t* numbers;
};

__global__ void key_kernel(const KeyTask task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.count) return;
    const auto point = framed_point(task.points, i, task.dimension, task.frame);
    const double scale = static_cast<double>(task.cells) / task.cube.side;
    const auto index = [&](double x, double low) {
        const auto place = static_cast<std::int64_t>((x - low) * scale);
        return static_cast<std::uint32_t>(place < 0 ? 0 : place < task.cells ? place : task.cells - 1);
    };
    const auto x = index(point.x, task.cube.low[0]), y = index(point.y, task.cube.low[1]);
    const auto key =
        task.dimension == 3 ? morton_key(x, y, index(point.z, task.cube.low[2])) : morton_key(x, y);
    if (task.narrow)
        reinterpret_cast<std::uint32_t*>(task.keys)[i] = static_cast<std::uint32_t>(key);
    else
        task.keys[i] = key;
    task.numbers[i] = i;
}

__global__ void gather_points_kernel(const double* points, const std::int32_t* from, int count, int dimension,
                                     Frame frame, Vec4<double>* out, std::int32_t* where) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    out[i] = framed_point(points, from[i], dimension, frame);
    where[from[i]] = i;
}

__global__ void invert_kernel(const std::int32_t* from, int count, std::int32_t* where) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) where[from[i]] = i;
}

/// Levels that keys are sorted down to before it is known how deep the tree becomes, as bits of an axis: each
/// pass of the sort takes eight bits of a key.
constexpr int sorted_bits[] = {5, 8, 13, morton_bits};
constexpr int sorted_bits_in_plane[] = {8, 12, 16, morton_bits};

/// About what evenly spread points come to.
int expected_cells(const TreeShape& shape, int dimension, int points) {
    const double grid = std::pow(std::ldexp(shape.coarse, shape.depth), dimension);
    const double cells = shape.depth >= 0 ? std::min((dimension == 3 ? 1.2 : 1.4) * grid, 2.0 * points)
                                          : 4.0 * points / std::max(1, shape.most);
    return static_cast<int>(cells) + 512;
}

} // namespace

int DeviceTree::sorted_level(int step) const {
    const int bits = dimension_ == 3 ? sorted_bits[step] : sorted_bits_in_plane[step];
    return deepest_level(shape_.coarse) - (morton_bits - bits);
}

// As deep as the tree of evenly spread points.
int DeviceTree::first_step(int points) const {
    int level = 0, step = 0;
    for (double cells = std::pow(shape_.coarse, dimension_); points > cells * std::max(1, shape_.most);
         ++level)
        cells = std::ldexp(cells, dimension_);
    while (sorted_level(step) < std::min(std::max(level, first_leaf_level()), limit())) ++step;
    return step;
}

int DeviceTree::limit() const {
    const int deepest = deepest_level(shape_.coarse);
    const int wanted = shape_.depth >= 0 ? shape_.depth : deepest;
    return std::min({wanted, deepest, shape_.deepest >= 0 ? shape_.deepest : deepest});
}

void DeviceTree::sort(const double* points, int count, DevicePoints& out, const Frame& frame,
                      cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(count);
    if (out.keys.size() < size) {
        out = {};
        out.unsorted_keys = DeviceArray<std::uint64_t>(size);
        out.from = DeviceArray<std::int32_t>(size);
        out.unsorted = DeviceArray<std::int32_t>(size);
        out.where = DeviceArray<std::int32_t>(size);
        out.at = DeviceArray<Vec4<double>>(size);
        out.keys = DeviceArray<std::uint64_t>(size); // the last: its size tells that there is room for all
    }
    out.count = count;
    if (count == 0) return;
    const auto cells = static_cast<std::int64_t>(shape_.coarse) << finest_;
    int bits = 0; // of an axis
    while ((std::int64_t{1} << bits) < cells) ++bits;
    const int key_bits = std::max(1, dimension_ * bits);
    out.narrow = key_bits <= 32;
    launch_over(count, stream, key_kernel,
                KeyTask{points, count, dimension_, frame, cube_, cells, out.unsorted_keys.data(), out.narrow,
                        out.unsorted.data()});
    const auto sort_pairs = [&](const auto* unsorted, auto* sorted) {
        std::size_t bytes = 0;
        const auto run = [&](void* memory) {
            check(cub::DeviceRadixSort::SortPairs(memory, bytes, unsorted, sorted, out.unsorted.data(),
                                                  out.from.data(), count, 0, key_bits, stream),
                  "sorting points");
        };
        run(nullptr);
        run(workspace_.reserve(bytes));
    };
    if (out.narrow)
        sort_pairs(reinterpret_cast<const std::uint32_t*>(out.unsorted_keys.data()),
                   reinterpret_cast<std::uint32_t*>(out.keys.data()));
    else
        sort_pairs(static_cast<const std::uint64_t*>(out.unsorted_keys.data()), out.keys.data());
    out.placed = false;
}

void DeviceTree::find_sources(cudaStream_t stream) {
    if (std::exchange(sources_.placed, true)) return;
    launch_over(sources_.count, stream, invert_kernel, sources_.from.data(), sources_.count,
                sources_.where.data());
}

/// Points in the order of their keys, unless that was done or is left to others, and the inverse of the
/// order.
void DeviceTree::place(const double* points, DevicePoints& out, const Frame& frame, cudaStream_t stream) {
    if (&out == &sources_ && !places_sources_) return;
    if (std::exchange(out.placed, true)) return;
    launch_over(out.count, stream, gather_points_kernel, points, out.from.data(), out.count, dimension_,
                frame, out.at.data(), out.where.data());
}

void DeviceTree::choose_depth(int step) {
    step_ = step;
    finest_ = shape_.depth >= 0 ? limit() : std::min(sorted_level(step), limit());
}

void DeviceTree::make_room_for(int cells) {
    if (cells <= capacity_ && (self_ || target_ranges_.size() >= static_cast<std::size_t>(capacity_))) return;
    const int wanted = std::max(cells, capacity_);
    capacity_ = 0; // until there is room for all
    const auto size = static_cast<std::size_t>(wanted);
    make_room(places_, size);
    make_room(parents_, size);
    make_room(children_, (std::size_t{1} << dimension_) * size);
    make_room(divided_, size);
    make_room(source_ranges_, size);
    if (!self_) make_room(target_ranges_, size);
    make_room(leaves_, size);
    make_room(leaf_numbers_, size);
    make_room(by_octant_, size);
    make_room(masks_, size);
    make_room(child_sources_, 8 * size);
    make_room(child_targets_, 8 * size);
    if (is_share()) {
        make_room(shared_ranges_, size);
        make_room(shared_by_octant_, size);
        make_room(shared_cells_, size);
    }
    if (lists_) {
        make_room(row_counts_, 3 * size + 1);
        make_room(row_first_, 3 * size + 1);
    }
    capacity_ = wanted;
}

void DeviceTree::make_room_for_neighbours() {
    if (!lists_) return;
    make_room(neighbours_, static_cast<std::size_t>(view().neighbour_count() * std::int64_t{capacity_}));
}

// Points sorted to a level are in the order of all deeper ones as far as the tree looks. Which levels are
// sorted follows from the points alone, whatever tree was built before: the order of points within a leaf,
// and with it the rounding of sums, must not depend on that.
void DeviceTree::build(const double* sources, int n, const double* targets, int m, const Frame& frame,
                       const TreeCube& cube, const TreeShape& shape, std::int32_t few, cudaStream_t stream) {
    if (shape.coarse != shape_.coarse || shape.depth != shape_.depth || shape.most != shape_.most ||
        shape.deepest != shape_.deepest)
        step_ = -1;
    shape_ = shape;
    cube_ = cube;
    self_ = targets == nullptr;
    make_room_for(expected_cells(shape_, dimension_, std::max(n, m)));
    make_room_for_neighbours();
    make_room(coarse_cells_, static_cast<std::size_t>(std::pow(shape_.coarse, dimension_)));
    if (counts_.size() == 0) {
        counts_ = DeviceArray<TreeCounts>(1);
        seen_counts_ = PinnedArray<TreeCounts>(1);
    }
    choose_depth(step_ >= 0 ? step_ : first_step(std::max(n, m)));
    for (bool sorted = false;;) {
        if (!sorted) {
            sort(sources, n, sources_, frame, stream);
            if (!self_) sort(targets, m, targets_, frame, stream);
            sorted = true;
        }
        const auto counts = queue(few, stream, [&] {
            place(sources, sources_, frame, stream);
            if (!self_) place(targets, targets_, frame, stream);
        });
        if (counts.missing_cells > 0) {
            make_room_for(counts.missing_cells + counts.missing_cells / 2);
            make_room_for_neighbours();
        } else if (counts.deeper != 0) { // of the last step nothing is
            choose_depth(step_ + 1);
            sorted = false;
        } else if (shape_.depth < 0 && step_ > 0 && counts.levels - 1 <= sorted_level(step_ - 1)) {
            choose_depth(step_ - 1);
            sorted = false;
        } else {
            if (counts.entries > most_entries)
                throw InvalidArgument("a tree whose lists of near cells have " +
                                      std::to_string(counts.entries) +
                                      " entries is too large for a GPU; use larger leaves");
            take(counts);
            break;
        }
    }
    if (!lists_ || !long_rows_) return;
    const auto entries = static_cast<std::size_t>(direct_.total) +
                         static_cast<std::size_t>(multipoles_.total) +
                         static_cast<std::size_t>(points_.total);
    if (entries > partners_.size()) {
        make_room(partners_, entries, entries / 4);
        list_near(few, Lists::fill_again, stream);
    }
    direct_.partners = multipoles_.partners = points_.partners = partners_.data();
}

TreeCounts DeviceTree::counts(cudaStream_t stream, const Meanwhile& meanwhile) {
    copy(seen_counts_.data(), counts_.data(), 1, stream);
    counted_.record(stream);
    meanwhile();
    counted_.synchronize();
    return *seen_counts_.data();
}

TreeCounts DeviceTree::queue(std::int32_t few, cudaStream_t stream, const Meanwhile& meanwhile) {
    const bool at_once = at_once_ && last_dense_level() >= 0;
    if (at_once)
        make_levels_at_once(stream);
    else
        make_levels(stream);
    if (is_share()) take_share(stream);
    if (lists_) list_near(few, Lists::count, stream);
    const bool filled = lists_ && long_rows_;
    if (filled) list_near(few, Lists::fill, stream);
    auto seen = counts(stream, meanwhile);
    at_once_ = seen.deeper == 0 && seen.levels - 1 <= last_dense_level();
    if (at_once && seen.deeper != 0 && last_dense_level() < finest_)
        return queue(few, stream, meanwhile); // level by level
    long_rows_ = seen.long_rows != 0;
    if (!lists_ || !long_rows_ || filled || seen.missing_cells > 0 || seen.deeper != 0) return seen;
    list_near(few, Lists::fill, stream);
    return counts(stream, meanwhile);
}

void DeviceTree::take(const TreeCounts& counts) {
    levels_.assign(counts.level_begin, counts.level_begin + counts.levels + 1);
    octant_counts_.assign(counts.octants, counts.octants + 8 * counts.levels);
    const auto* const of_all = is_share() ? counts.all_octants : counts.octants;
    all_octant_counts_.assign(of_all, of_all + 8 * counts.levels);
    leaf_count_ = counts.leaves;
    largest_leaf_ = counts.largest_leaf;
    near_pairs_ = static_cast<std::int64_t>(counts.pairs);
    own_leaves_.assign(counts.own_leaves, counts.own_leaves + (is_share() ? counts.levels : 0));
    own_targets_ = is_share() ? counts.own_targets : BlockRange{0, targets().count};
    if (!lists_) return;
    const auto capacity = static_cast<std::size_t>(capacity_);
    const auto rows = [&](std::size_t list, int total) {
        const auto* const first = row_first_.data() + list * capacity;
        return DeviceRows{first, first + 1, partners_.data(), total};
    };
    direct_ = long_rows_ ? rows(0, counts.direct)
                         : DeviceRows{short_first_.data(), short_last_.data(), short_partners_.data(),
                                      static_cast<int>(counts.entries)};
    multipoles_ = long_rows_ ? rows(1, counts.multipoles) : DeviceRows{};
    points_ = long_rows_ ? rows(2, counts.points) : DeviceRows{};
}

TreeView DeviceTree::view() const {
    TreeView out;
    out.places = places_.data();
    out.parents = parents_.data();
    out.children = children_.data();
    out.divided = divided_.data();
    out.sources = source_ranges_.data();
    out.all_targets = all_target_ranges();
    out.targets = is_share() ? shared_ranges_.data() : out.all_targets;
    out.neighbours = neighbours_.data();
    out.coarse_cells = coarse_cells_.data();
    out.dimension = dimension_;
    out.separation = shape_.separation;
    out.coarse = shape_.coarse;
    out.self = self_;
    out.shared = is_share();
    out.source_rows = share_.rows_of(sources_.count);
    for (int axis = 0; axis < 3; ++axis) out.low[axis] = cube_.low[axis];
    out.width = cube_.side / shape_.coarse;
    out.period = shape_.period;
    return out;
}

} // namespace farfield::cuda
