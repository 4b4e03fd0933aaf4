#include "sums/tree/octree.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/points/over_ranks.h"
#include "sums/tree/cube.h"
#include "sums/tree/dimension.h"
#include "sums/tree/morton.h"
#include "sums/tree/sort_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield {
namespace {

constexpr std::size_t cells_a_task = 64;

bool has_points(const TreeCell& cell) { return cell.sources.size() > 0 || cell.targets.size() > 0; }

/// Takes the keys of a range one run after the other.
class Runs {
public:
    Runs(const RawVector<std::uint64_t>& keys, BlockRange range)
        : keys_(keys.data()), next_(range.begin), end_(range.end) {}

    /// Those that, without their lowest bits, are at most `prefix`. A search without branches to guess.
    BlockRange take(int shift, std::uint64_t prefix) {
        const auto begin = next_;
        for (auto rest = end_ - begin; rest > 0;) {
            const auto half = rest - rest / 2;
            const bool is_within = keys_[next_ + half - 1] >> shift <= prefix;
            next_ += is_within ? half : 0;
            rest -= half;
        }
        return {begin, next_};
    }

private:
    const std::uint64_t* keys_;
    std::int32_t next_, end_;
};

constexpr int table_bits = 11; ///< morton_bits in two looks
constexpr auto spread_table = [] {
    std::array<std::uint64_t, std::size_t{1} << table_bits> table{};
    for (std::uint32_t x = 0; x < table.size(); ++x) table[x] = spread_bits(x);
    return table;
}();

/// spread_bits, looked up: keys take half the time.
std::uint64_t spread(std::uint32_t x) {
    return spread_table[x % spread_table.size()] | spread_table[x >> table_bits] << 3 * table_bits;
}

} // namespace

int deepest_level(int coarse) {
    int bits = 0;
    while (1 << bits < coarse) ++bits;
    return morton_bits - bits;
}

int first_level_of_leaves(int coarse, int separation) {
    int level = 0;
    while (coarse << level < 2 * separation + 1) ++level;
    return level;
}

Octree::Octree(std::span<const double> sources, std::span<const double> targets, bool self,
               const TreeShape& shape, int threads, comm::Transport* ranks,
               std::span<const double> share_begins)
    : shape_(shape), self_(self),
      finest_(shape.depth >= 0 ? std::min(shape.depth, deepest_level(shape.coarse))
                               : deepest_level(shape.coarse)) {
    if (shape.deepest >= 0) finest_ = std::min(finest_, shape.deepest);
    if (is_periodic()) finest_ = std::max(finest_, first_level_of_leaves(shape.coarse, shape.separation));
    choose_cube(sources, targets, ranks, threads);
    Keys source_keys;
    Keys target_keys;
    if (ranks != nullptr) {
        const auto order = [&](std::span<const double> points, Keys& keys, TreePoints& to) {
            auto sorted = sort_keys(keys_of(points, threads), threads);
            keys = std::move(sorted.keys);
            to.from = std::move(sorted.from);
        };
        order(sources, source_keys, sources_);
        if (!self_) order(targets, target_keys, targets_);
    } else {
        sources_ = sorted(sources, source_keys, threads);
        if (!self_) targets_ = sorted(targets, target_keys, threads);
    }
    counts_ = {std::ssize(source_keys), self_ ? std::ssize(source_keys) : std::ssize(target_keys)};
    if (ranks != nullptr)
        for (auto& count : counts_) count = comm::sum_of_ranks(*ranks, count);
    if (ranks != nullptr) share_rows(*ranks, share_begins);
    if (shape_.more_on_surfaces)
        fit_to_surfaces(counts_[1] > counts_[0] ? target_keys : source_keys, ranks, threads);
    make_coarse_cells(source_keys, target_keys, ranks);
    for (int level = 0; levels_.back() != static_cast<std::int32_t>(cells_.size()); ++level) {
        const auto begin = levels_.back();
        const auto end = static_cast<std::int32_t>(cells_.size());
        levels_.push_back(end);
        find_neighbours(begin, end, threads);
        divide(begin, end, source_keys, target_keys, ranks, threads);
    }
}

void Octree::choose_cube(std::span<const double> sources, std::span<const double> targets,
                         comm::Transport* ranks, int threads) {
    if (is_periodic()) {
        side_ = shape_.period;
        for (double& low : low_) low = shape_.low;
        return;
    }
    std::array<Extent, 3> ranges;
    for (const auto points : {sources, targets}) extend(ranges, points, threads);
    if (ranks != nullptr) ranges = extents_over_ranks(*ranks, ranges);
    const auto cube = cube_around(ranges, shape_.steps);
    std::copy(cube.low, cube.low + 3, low_);
    side_ = cube.side;
}

Octree::Keys Octree::keys_of(std::span<const double> points, int threads) const {
    const auto n = points.size() / 3;
    const auto cells = static_cast<std::int64_t>(shape_.coarse) << finest_;
    const double scale = static_cast<double>(cells) / side_;
    const auto last = static_cast<double>(cells - 1);
    Keys unsorted(n);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            std::uint32_t index[3];
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double place = (points[3 * i + axis] - low_[axis]) * scale;
                index[axis] = static_cast<std::uint32_t>(
                    static_cast<std::int32_t>(place > 0.0 ? std::min(place, last) : 0.0));
            }
            unsorted[i] = spread(index[0]) | spread(index[1]) << 1U | spread(index[2]) << 2U;
        }
    });
    return unsorted;
}

SortedKeys Octree::order_of(std::span<const double> points, std::span<const std::int64_t> parts,
                            int threads) const {
    auto keys = keys_of(points, threads);
    constexpr std::size_t most_parts = 8; // of more, sorting anew is faster
    if (parts.size() > most_parts + 1) return sort_keys(std::move(keys), threads);
    return merge_keys(std::move(keys), parts);
}

TreePoints Octree::sorted(std::span<const double> points, Keys& keys, int threads) const {
    const auto n = points.size() / 3;
    auto order = sort_keys(keys_of(points, threads), threads);
    keys = std::move(order.keys);
    TreePoints out;
    out.from = std::move(order.from);
    for (auto& x : out.x) x.resize(n);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                out.x[axis][i] = points[3 * static_cast<std::size_t>(out.from[i]) + axis];
    });
    return out;
}

void Octree::fit_to_surfaces(const Keys& keys, comm::Transport* ranks, int threads) {
    const double dimension = dimension_of(keys, finest_, shape_.most, ranks, threads);
    shape_.most = static_cast<std::int32_t>(shape_.most * std::exp2(std::clamp(3.0 - dimension, 0.0, 1.0)));
}

BlockRange Octree::rows_of(PointSet set, std::int32_t number) const {
    if (!given_[0].empty()) return given(set, number);
    return set == PointSet::sources ? cell(number).sources : cell(number).targets;
}

void Octree::make_coarse_cells(const Keys& source_keys, const Keys& target_keys, comm::Transport* ranks) {
    const int k = shape_.coarse;
    const BlockRange all_sources{0, static_cast<std::int32_t>(source_keys.size())};
    const BlockRange all_targets{0, static_cast<std::int32_t>(target_keys.size())};
    const auto prefix_of = [](const Found& found) {
        const auto& index = found.cell.index;
        return morton_key(static_cast<std::uint32_t>(index[0]), static_cast<std::uint32_t>(index[1]),
                          static_cast<std::uint32_t>(index[2]));
    };
    std::vector<Found> all;
    for (int z = 0; z < k; ++z)
        for (int y = 0; y < k; ++y)
            for (int x = 0; x < k; ++x) all.push_back({.cell = {.index = {x, y, z}}});
    std::sort(all.begin(), all.end(),
              [&](const Found& a, const Found& b) { return prefix_of(a) < prefix_of(b); });
    Runs sources(source_keys, all_sources), targets(target_keys, all_targets);
    for (auto& found : all) {
        const auto prefix = prefix_of(found);
        auto& cell = found.cell;
        cell.sources = sources.take(3 * finest_, prefix);
        cell.targets = self_ ? cell.sources : targets.take(3 * finest_, prefix);
        found.given = {cell.sources, cell.targets};
    }
    if (ranks != nullptr) {
        const std::span<Found> run(all);
        constexpr RunBegin begin;
        count_over_ranks(*ranks, std::span(&run, 1), std::span(&begin, 1));
    }
    coarse_.assign(coarse_place(0, 0, k), no_cell);
    for (const auto& [cell, given] : all) {
        if (!has_points(cell)) continue;
        coarse_[coarse_place(cell.index[0], cell.index[1], cell.index[2])] =
            static_cast<std::int32_t>(cells_.size());
        cells_.push_back(cell);
        for (std::size_t set = 0; ranks != nullptr && set < 2; ++set) given_[set].push_back(given[set]);
    }
}

bool Octree::is_divided(const TreeCell& cell) const {
    if (cell.level >= finest_) return false;
    if (is_periodic() && cell.level < first_level_of_leaves(shape_.coarse, shape_.separation)) return true;
    return shape_.depth >= 0 || std::max(cell.sources.size(), cell.targets.size()) > shape_.most;
}

Octree::Children Octree::children_of(std::int32_t number, const Keys& source_keys,
                                     const Keys& target_keys) const {
    const auto& parent = cell(number);
    const int shift = 3 * (finest_ - parent.level - 1);
    const auto first =
        morton_key(static_cast<std::uint32_t>(parent.index[0]), static_cast<std::uint32_t>(parent.index[1]),
                   static_cast<std::uint32_t>(parent.index[2]))
        << 3U;
    Runs sources(source_keys, rows_of(PointSet::sources, number));
    Runs targets(target_keys, rows_of(PointSet::targets, number));
    Children children;
    for (std::uint64_t octant = 0; octant < 8; ++octant) {
        auto& child = children[octant].cell;
        child.level = parent.level + 1;
        child.parent = number;
        for (int axis = 0; axis < 3; ++axis)
            child.index[axis] = 2 * parent.index[axis] + static_cast<std::int32_t>(octant >> axis & 1U);
        child.sources = sources.take(shift, first + octant);
        child.targets = self_ ? child.sources : targets.take(shift, first + octant);
        children[octant].given = {child.sources, child.targets};
    }
    return children;
}

void Octree::divide(std::int32_t begin, std::int32_t end, const Keys& source_keys, const Keys& target_keys,
                    comm::Transport* ranks, int threads) {
    std::vector<char> divided;
    if (ranks != nullptr) divided = divided_over_ranks(begin, end, *ranks, threads);
    const auto is_parent = [&](std::int32_t number) {
        if (ranks != nullptr) return divided[static_cast<std::size_t>(number - begin)] != 0;
        return is_divided(cell(number)) || is_beside_many(number);
    };
    auto parts = parallel_results(
        threads, static_cast<std::size_t>(end - begin),
        [&](std::size_t first, std::size_t last) {
            std::vector<Children> part;
            part.reserve(last - first);
            for (auto number = begin + static_cast<std::int32_t>(first);
                 number < begin + static_cast<std::int32_t>(last); ++number)
                if (is_parent(number)) part.push_back(children_of(number, source_keys, target_keys));
            return part;
        },
        cells_a_task);
    if (ranks != nullptr) {
        std::vector<std::span<Found>> runs;
        std::vector<RunBegin> begins;
        for (auto& part : parts)
            for (auto& children : part) {
                const auto& parent = cell(children.front().cell.parent);
                runs.emplace_back(children);
                begins.push_back({parent.sources.begin, parent.targets.begin});
            }
        count_over_ranks(*ranks, runs, begins);
    }
    std::vector<std::size_t> first{cells_.size()}; // of each part
    for (const auto& part : parts) {
        first.push_back(first.back());
        for (const auto& children : part)
            first.back() += static_cast<std::size_t>(std::count_if(
                children.begin(), children.end(), [](const Found& found) { return has_points(found.cell); }));
    }
    cells_.resize(first.back());
    for (auto& given : given_)
        if (ranks != nullptr) given.resize(first.back());
    parallel_for(threads, static_cast<std::int64_t>(parts.size()), [&](std::int64_t number) {
        auto next = first[static_cast<std::size_t>(number)];
        for (const auto& children : parts[static_cast<std::size_t>(number)])
            for (std::size_t octant = 0; octant < 8; ++octant) {
                const auto& [child, given] = children[octant];
                auto& parent = cells_[static_cast<std::size_t>(child.parent)];
                parent.leaf = false;
                if (!has_points(child)) continue;
                parent.children[octant] = static_cast<std::int32_t>(next);
                for (std::size_t set = 0; ranks != nullptr && set < 2; ++set) given_[set][next] = given[set];
                cells_[next++] = child;
            }
    });
}

double Octree::width(int level) const { return std::ldexp(side_ / shape_.coarse, -level); }

std::array<double, 3> Octree::centre(const TreeCell& cell) const {
    const double h = width(cell.level);
    std::array<double, 3> out{};
    for (std::size_t axis = 0; axis < 3; ++axis) out[axis] = low_[axis] + h * (cell.index[axis] + 0.5);
    return out;
}

std::array<int, 3> Octree::image_near(const TreeCell& cell, const TreeCell& near) const {
    std::array<int, 3> image{};
    if (!is_periodic()) return image;
    const int level = std::max(cell.level, near.level);
    const int period = 2 * across(level); // in half cells of that level
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto middle = [&](const TreeCell& of) {
            return (2 * of.index[axis] + 1) << (level - of.level);
        };
        const int apart = middle(cell) - middle(near);
        image[axis] = 2 * apart > period ? -1 : 2 * apart < -period ? 1 : 0;
    }
    return image;
}

std::array<double, 3> Octree::centre(const TreeCell& cell, const TreeCell& near) const {
    auto out = centre(cell);
    const auto image = image_near(cell, near);
    for (std::size_t axis = 0; axis < 3; ++axis) out[axis] += image[axis] * side_;
    return out;
}

std::int32_t Octree::coarse_cell(int x, int y, int z) const {
    const int k = shape_.coarse;
    if (x < 0 || y < 0 || z < 0 || x >= k || y >= k || z >= k) return no_cell;
    return coarse_[coarse_place(x, y, z)];
}

std::int32_t Octree::find_neighbour(const TreeCell& cell, int dx, int dy, int dz) const {
    const int x = cell.index[0] + dx;
    const int y = cell.index[1] + dy;
    const int z = cell.index[2] + dz;
    if (cell.level == 0) {
        const auto place = [&](int i) { return is_periodic() ? (i + across(0)) % across(0) : i; };
        return coarse_cell(place(x), place(y), place(z));
    }
    const auto& parent = this->cell(cell.parent);
    const auto slot =
        neighbour_slot((x >> 1) - parent.index[0], (y >> 1) - parent.index[1], (z >> 1) - parent.index[2]);
    const auto near = neighbours(cell.parent)[static_cast<std::size_t>(slot)];
    if (near == no_cell) return no_cell;
    return this->cell(near).children[static_cast<std::size_t>((x & 1) | (y & 1) << 1 | (z & 1) << 2)];
}

// A leaf beside cells that are divided acts on all of their points.
bool Octree::is_beside_many(std::int32_t number) const {
    const auto& leaf = cell(number);
    if (shape_.pairs_a_cell <= 0.0 || shape_.depth >= 0 || leaf.level >= finest_) return false;
    double pairs = 0.0;
    for (const auto other : neighbours(number))
        if (other != no_cell && is_divided(cell(other)))
            pairs += static_cast<double>(leaf.targets.size()) * cell(other).sources.size() +
                     static_cast<double>(leaf.sources.size()) * cell(other).targets.size();
    const int children = std::min(8, std::max(leaf.sources.size(), leaf.targets.size()));
    return pairs > children * shape_.pairs_a_cell;
}

// Over ranks those of the cells that hold points of this rank's share: where a cell does, its parent does.
void Octree::find_neighbours(std::int32_t begin, std::int32_t end, int threads) {
    const int n = 2 * shape_.separation + 1;
    neighbour_count_ = n * n * n;
    if (!shares_) {
        neighbours_.resize(static_cast<std::size_t>(end) * static_cast<std::size_t>(neighbour_count_));
        return fill_neighbours(begin, end, begin, threads);
    }
    neighbour_rows_.resize(static_cast<std::size_t>(end), no_cell);
    const auto first = shares_->begins[static_cast<std::size_t>(shares_->rank)];
    const auto last = shares_->begins[static_cast<std::size_t>(shares_->rank) + 1];
    if (first == last) return;
    auto from = begin + cells_before(begin, end, first + 1); // those before begin in the share before
    if (from > begin && end_row(cell(from - 1)) > first) --from;
    add_neighbours(from, begin + cells_before(begin, end, last), threads);
}

void Octree::add_neighbours(std::int32_t begin, std::int32_t end, int threads) {
    const auto is_known = [&](std::int32_t cell) {
        return neighbour_rows_[static_cast<std::size_t>(cell)] != no_cell;
    };
    const auto width = static_cast<std::size_t>(neighbour_count_);
    while (begin < end) {
        if (is_known(begin)) {
            ++begin;
            continue;
        }
        auto last = begin + 1;
        while (last < end && !is_known(last)) ++last;
        const auto row = static_cast<std::int32_t>(neighbours_.size() / width);
        neighbours_.resize(neighbours_.size() + static_cast<std::size_t>(last - begin) * width);
        fill_neighbours(begin, last, row, threads);
        for (auto cell = begin; cell < last; ++cell)
            neighbour_rows_[static_cast<std::size_t>(cell)] = row + cell - begin;
        begin = last;
    }
}

void Octree::fill_neighbours(std::int32_t begin, std::int32_t end, std::int32_t row, int threads) {
    const int w = shape_.separation;
    parallel_parts(
        threads, static_cast<std::size_t>(end - begin),
        [&](std::size_t first, std::size_t last) {
            auto* next = &neighbours_[(static_cast<std::size_t>(row) + first) *
                                      static_cast<std::size_t>(neighbour_count_)];
            for (auto number = begin + static_cast<std::int32_t>(first);
                 number < begin + static_cast<std::int32_t>(last); ++number)
                for (int dz = -w; dz <= w; ++dz)
                    for (int dy = -w; dy <= w; ++dy)
                        for (int dx = -w; dx <= w; ++dx)
                            *next++ = find_neighbour(cell(number), dx, dy, dz); // of an earlier level's
        },
        cells_a_task);
}

} // namespace farfield
