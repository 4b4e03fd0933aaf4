// M2L of cells in lanes: the expansions around their parents are laid out once, and each octant's cells take
// from them what all their offsets send (cell_blocks.h).
#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/fmm/passes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace farfield {
namespace {

constexpr std::int32_t one_by_one_cells = 64; ///< in a group, at most

std::array<int, 3> block_of(const TreeCell& cell) {
    constexpr int cells = 2 * cell_block_side;
    return {cell.index[0] / cells, cell.index[1] / cells, cell.index[2] / cells};
}

/// The lane of a cell in its block.
int lane_of(const TreeCell& cell) {
    const auto at = [&](std::size_t axis) { return (cell.index[axis] >> 1) % cell_block_side; };
    return at(0) + cell_block_side * (at(1) + cell_block_side * at(2));
}

// The expansions of one octant of a row of parents along x. The numbers of parents are constants, so that
// those of a function stay in registers between all shifts.
template <int Shifts, class T>
void lay_out_row(const T* const* row, const CellBlockSources& layout, T* out) {
    for (int f = 0; f < layout.functions; ++f) {
        T values[cell_block_side + Shifts - 1];
        for (int x = 0; x < cell_block_side + Shifts - 1; ++x) values[x] = row[x][f];
        for (int shift = 0; shift < Shifts; ++shift)
            for (int x = 0; x < cell_block_side; ++x) out[shift * layout.shift() + x] = values[shift + x];
        out += layout.function();
    }
}

// Cells of a level follow the curve of their keys, so that those of a block are neighbours in number. All
// cells with targets count, whoever's they are: a rank goes the way that one process would go, and has its
// bits.
std::vector<CellGroup> blocks_of_level(const Octree& tree, int level) {
    std::vector<CellGroup> blocks;
    std::array<int, 3> last{};
    for (auto number = tree.level_begin(level); number < tree.level_begin(level + 1); ++number) {
        const auto& cell = tree.cell(number);
        if (cell.targets.size() == 0) continue;
        const auto block = block_of(cell);
        if (blocks.empty() || block != last) blocks.push_back({CellGroup::Way::block, {}});
        last = block;
        blocks.back().cells.push_back(number);
    }
    return blocks;
}

} // namespace

/// The cells of a group by octant, in lanes, and the parent of each lane.
template <class T>
struct FmmPasses<T>::Lanes {
    std::array<std::vector<std::pair<std::int32_t, int>>, 8> targets; ///< a cell and its lane
    std::array<std::int32_t, cell_block_lanes> parents{};
    std::int64_t parent_count = 0;

    Lanes(const Octree& tree, std::span<const std::int32_t> cells, CellGroup::Way way) {
        parents.fill(no_cell);
        std::int32_t before = no_cell;
        for (const auto number : cells) {
            const auto& cell = tree.cell(number);
            if (cell.parent != before) ++parent_count;
            before = cell.parent;
            const int lane =
                way == CellGroup::Way::block ? lane_of(cell) : static_cast<int>(parent_count) - 1;
            parents[static_cast<std::size_t>(lane)] = cell.parent;
            targets[static_cast<std::size_t>(cell.octant())].emplace_back(number, lane);
        }
    }

    [[nodiscard]] std::uint64_t wanted(std::size_t octant) const {
        std::uint64_t lanes = 0;
        for (const auto& [cell, lane] : targets[octant]) lanes |= std::uint64_t{1} << lane;
        return lanes;
    }
    [[nodiscard]] std::int64_t computed(Isa isa) const {
        std::int64_t sum = 0;
        for (std::size_t octant = 0; octant < 8; ++octant)
            sum += computed_lanes(wanted(octant), isa, std::is_same_v<T, double>);
        return sum;
    }
};

template <class T>
double FmmPasses<T>::cost_of_group(const Octree& tree, const CellGroup& group) const {
    const Lanes lanes(tree, group.cells, group.way);
    return block_senders_->cost(tree.cell(group.cells.front()).level, group.way,
                                static_cast<std::int64_t>(group.cells.size()), lanes.computed(isa_),
                                lanes.parent_count);
}

// A block goes its own way where that costs least; the cells of all others are listed, or served one by one.
template <class T>
std::vector<CellGroup> FmmPasses<T>::groups_of_level(const Octree& whole, int level) const {
    using Way = CellGroup::Way;
    auto blocks = blocks_of_level(whole, level);
    const auto as_blocks = parallel_results(
        threads_, blocks.size(),
        [&](std::size_t b, std::size_t) {
            const auto& cells = blocks[b].cells;
            const double in_block = cost_of_group(whole, blocks[b]);
            return static_cast<char>(in_block <= cost_of_group(whole, {Way::listed, cells}) &&
                                     in_block <= cost_of_group(whole, {Way::one_by_one, cells}));
        },
        1);
    std::vector<CellGroup> out;
    CellGroup rest{Way::listed, {}};
    std::int64_t parents_of_rest = 0;
    const auto close_rest = [&] {
        parents_of_rest = 0;
        if (rest.cells.empty()) return;
        const CellGroup alone{Way::one_by_one, rest.cells};
        if (cost_of_group(whole, rest) <= cost_of_group(whole, alone)) {
            out.push_back(rest);
        } else {
            for (std::size_t begin = 0; begin < alone.cells.size(); begin += one_by_one_cells) {
                const auto first = alone.cells.begin() + static_cast<std::ptrdiff_t>(begin);
                const auto left = alone.cells.end() - first;
                out.push_back(
                    {Way::one_by_one, {first, first + std::min<std::ptrdiff_t>(left, one_by_one_cells)}});
            }
        }
        rest.cells.clear();
    };
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (as_blocks[b] != 0) {
            out.push_back(std::move(blocks[b]));
            continue;
        }
        for (const auto cell : blocks[b].cells) {
            if (rest.cells.empty() || whole.cell(cell).parent != whole.cell(rest.cells.back()).parent) {
                if (parents_of_rest == cell_block_lanes) close_rest();
                ++parents_of_rest;
            }
            rest.cells.push_back(cell);
        }
    }
    close_rest();
    return out;
}

template <class T>
void FmmPasses<T>::make_groups() {
    const Octree& whole = share_.whole() != nullptr ? share_.whole()->tree : tree_;
    groups_.clear();
    for (int level = 1; level < std::min(levels_, tree_.levels()); ++level) {
        if (!block_senders_->any(level)) continue;
        for (auto& group : groups_of_level(whole, level)) {
            group.cells = own_cells(group.cells);
            if (!group.cells.empty()) groups_.push_back(std::move(group));
        }
    }
}

template <class T>
const T* FmmPasses<T>::child_or_zeros(std::int32_t parent, std::size_t octant) const {
    const T* found = parent == no_cell ? nullptr : multipole_of(tree_.cell(parent).children[octant]);
    return found != nullptr ? found : zeros_.data();
}

// Those of this rank, with their numbers in its part of the tree.
template <class T>
std::vector<std::int32_t> FmmPasses<T>::own_cells(std::span<const std::int32_t> of_whole) const {
    std::vector<std::int32_t> cells;
    for (auto cell : of_whole) {
        if (share_.whole() != nullptr) cell = share_.whole()->new_numbers[static_cast<std::size_t>(cell)];
        if (cell != no_cell && share_.receives(cell)) cells.push_back(cell);
    }
    return cells;
}

/// A group on its way: its cells in lanes, and the expansions around them as loops take them.
template <class T>
struct FmmPasses<T>::LaidOut {
    Lanes lanes;
    CellBlockSources layout;
    int level = 0;
    std::vector<std::int32_t> parents{}; ///< of a block, with those around it
    std::vector<char> there{};           ///< by octant and a parent's neighbour: any sender
    RawVector<T> sources{};
};

template <class T>
auto FmmPasses<T>::laid_out(const CellGroup& group) const -> LaidOut {
    const auto& first = tree_.cell(group.cells.front());
    const Lanes lanes(tree_, group.cells, group.way);
    const auto layout = block_senders_->layout(group.way, lanes.parent_count);
    LaidOut out{.lanes = lanes, .layout = layout, .level = first.level};
    out.there.resize(8 * tree_.neighbours(first.parent).size());
    out.sources.resize(static_cast<std::size_t>(layout.numbers()));
    if (layout.listed) return out;
    out.parents.resize(layout.parent(0, 0, layout.side()), no_cell);
    for (int lane = 0; lane < cell_block_lanes; ++lane) {
        const auto parent = out.lanes.parents[static_cast<std::size_t>(lane)];
        if (parent == no_cell) continue;
        const auto neighbours = tree_.neighbours(parent);
        for (std::size_t n = 0; n < neighbours.size(); ++n) {
            const int s = layout.shifts(), shift = static_cast<int>(n);
            out.parents[layout.parent(lane % 4 + shift % s, lane / 4 % 4 + shift / s % s,
                                      lane / 16 + shift / (s * s))] = neighbours[n];
        }
    }
    return out;
}

// Children of one octant.
template <class T>
void FmmPasses<T>::lay_out_block(LaidOut& group, std::size_t octant) const {
    const auto& layout = group.layout;
    for (int lane = 0; lane < cell_block_lanes; ++lane) {
        const auto parent = group.lanes.parents[static_cast<std::size_t>(lane)];
        if (parent == no_cell) continue;
        const auto neighbours = tree_.neighbours(parent);
        for (std::size_t n = 0; n < neighbours.size(); ++n)
            if (child_or_zeros(neighbours[n], octant) != zeros_.data()) group.there[octant + 8 * n] = 1;
    }
    std::vector<const T*> row(static_cast<std::size_t>(layout.side()));
    for (int z = 0; z < layout.side(); ++z)
        for (int y = 0; y < layout.side(); ++y) {
            for (int x = 0; x < layout.side(); ++x)
                row[static_cast<std::size_t>(x)] =
                    child_or_zeros(group.parents[layout.parent(x, y, z)], octant);
            T* const first = group.sources.data() + static_cast<std::int64_t>(octant) * layout.octant() +
                             z * layout.plane() + y * cell_block_side;
            layout.separation == 1 ? lay_out_row<3>(row.data(), layout, first)
                                   : lay_out_row<5>(row.data(), layout, first);
        }
}

// As lay_out_block; lanes of no parent follow all others.
template <class T>
void FmmPasses<T>::lay_out_listed(LaidOut& group, std::size_t octant) const {
    constexpr std::size_t most = cell_block_lanes;
    const auto& layout = group.layout;
    const auto lanes = static_cast<std::size_t>(layout.lanes);
    std::array<const T*, most> from{};
    const auto neighbours = static_cast<int>(group.there.size() / 8);
    for (int n = 0; n < neighbours; ++n) {
        bool any = false;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const auto parent = group.lanes.parents[lane];
            from[lane] = child_or_zeros(
                parent == no_cell ? no_cell : tree_.neighbours(parent)[static_cast<std::size_t>(n)], octant);
            any = any || from[lane] != zeros_.data();
        }
        group.there[octant + 8 * static_cast<std::size_t>(n)] = any ? 1 : 0;
        T* to = group.sources.data() + layout.place(static_cast<int>(octant), n);
        for (int f = 0; f < layout.functions; ++f, to += layout.function())
            for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane][f];
    }
}

template <class T>
void FmmPasses<T>::lay_out(LaidOut& group, std::size_t octant) const {
    group.layout.listed ? lay_out_listed(group, octant) : lay_out_block(group, octant);
}

// Cells of one octant.
template <class T>
void FmmPasses<T>::serve(const LaidOut& group, std::size_t octant) {
    const auto& targets = group.lanes.targets[octant];
    if (targets.empty()) return;
    const auto& layout = group.layout;
    const auto functions = static_cast<std::size_t>(layout.functions);
    AlignedVector<T> sums(functions * cell_block_lanes);
    RawVector<T> scratch(static_cast<std::size_t>(cell_block_scratch(operators_->size)));
    const auto images = block_senders_->images(group.level, static_cast<int>(octant), layout, group.there);
    CellBlockTask task{.wide = std::is_same_v<T, double>,
                       .size = operators_->size,
                       .lanes = group.lanes.wanted(octant),
                       .sources = group.sources.data(),
                       .function = layout.function(),
                       .plane = layout.plane(),
                       .images = images.data(),
                       .count = static_cast<std::int64_t>(images.size()),
                       .sums = sums.data(),
                       .scratch = scratch.data()};
    const auto begins = operators_->up.task();
    std::copy(std::begin(begins.class_begin), std::end(begins.class_begin), task.class_begin);
    FF_ISA_FUNCTION(ff_cell_block, isa_)(&task);
    for (const auto& [number, lane] : targets) {
        T* const local = locals_.of(number);
        for (std::size_t f = 0; f < functions; ++f)
            local[f] += sums[f * cell_block_lanes + static_cast<std::size_t>(lane)];
    }
    done(block_senders_->multiply_adds(group.level) * static_cast<double>(targets.size()));
}

// By one thread.
template <class T>
void FmmPasses<T>::translate_group(const CellGroup& group) {
    if (group.way == CellGroup::Way::one_by_one) return translate_block(group.cells);
    auto found = laid_out(group);
    for (std::size_t octant = 0; octant < 8; ++octant) lay_out(found, octant);
    for (std::size_t octant = 0; octant < 8; ++octant) serve(found, octant);
}

// By all threads, octant by octant.
template <class T>
void FmmPasses<T>::translate_together(std::span<const CellGroup> groups) {
    std::vector<std::optional<LaidOut>> found(groups.size());
    const auto each_octant = [&](const auto& act) {
        parallel_for(threads_, static_cast<std::int64_t>(8 * groups.size()), [&](std::int64_t task) {
            auto& group = found[static_cast<std::size_t>(task / 8)];
            if (group && !stopped()) act(*group, static_cast<std::size_t>(task % 8));
        });
    };
    parallel_for(threads_, static_cast<std::int64_t>(groups.size()), [&](std::int64_t number) {
        if (stopped()) return;
        const auto& group = groups[static_cast<std::size_t>(number)];
        if (group.way == CellGroup::Way::one_by_one)
            translate_block(group.cells);
        else
            found[static_cast<std::size_t>(number)] = laid_out(group);
    });
    each_octant([&](LaidOut& group, std::size_t octant) { lay_out(group, octant); });
    each_octant([&](const LaidOut& group, std::size_t octant) { serve(group, octant); });
}

// Never more groups are laid out than there are threads.
template <class T>
void FmmPasses<T>::translate_in_groups() {
    const auto threads = static_cast<std::size_t>(thread_count(threads_));
    constexpr std::size_t enough_a_thread = 4;
    if (threads == 1 || groups_.size() >= enough_a_thread * threads) {
        parallel_for(threads_, static_cast<std::int64_t>(groups_.size()), [&](std::int64_t number) {
            if (!stopped()) translate_group(groups_[static_cast<std::size_t>(number)]);
        });
        return;
    }
    const std::span<const CellGroup> all = groups_;
    for (std::size_t first = 0; first < all.size(); first += threads)
        translate_together(all.subspan(first, std::min(threads, all.size() - first)));
}

template void FmmPasses<float>::make_groups();
template void FmmPasses<double>::make_groups();
template void FmmPasses<float>::translate_in_groups();
template void FmmPasses<double>::translate_in_groups();

} // namespace farfield
