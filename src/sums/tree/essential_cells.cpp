#include "sums/tree/essential_cells.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace farfield {
namespace {

constexpr std::size_t marked_cells_a_task = 64;

class Marker {
public:
    Marker(const Octree& tree, std::int32_t few)
        : tree_(tree), few_(few), marked_(tree.cells().size(), char{0}), with_children_(marked_) {}

    void mark(std::int32_t cell) { set(marked_, cell); }
    void mark_with_children(std::int32_t cell) {
        set(marked_, cell);
        set(with_children_, cell);
    }
    /// What a cell that holds own leaves meets. By any thread.
    void mark_around(std::int32_t cell) {
        const bool is_leaf = tree_.cell(cell).leaf;
        for (const auto neighbour : tree_.neighbours(cell)) {
            if (neighbour == no_cell) continue;
            if (!is_leaf) {
                mark_with_children(neighbour);
                continue;
            }
            mark(neighbour);
            mark_within(cell, neighbour);
        }
    }
    /// The cells of more than one rank, of which each has some boundary within it.
    void mark_shared(std::span<const std::int32_t> leaves, std::span<const LeafRange> within,
                     std::int32_t boundary) {
        if (boundary <= 0 || boundary >= std::ssize(leaves)) return;
        for (auto cell = leaves[static_cast<std::size_t>(boundary)]; cell != no_cell;
             cell = tree_.cell(cell).parent) {
            if (within[static_cast<std::size_t>(cell)].first >= boundary) continue;
            mark_with_children(cell);
        }
    }

    // Children have higher numbers than their parents.
    [[nodiscard]] EssentialCells marked() {
        EssentialCells out;
        out.new_numbers.assign(marked_.size(), no_cell);
        for (std::size_t cell = 0; cell < marked_.size(); ++cell) {
            if (marked_[cell] == 0) continue;
            out.new_numbers[cell] = static_cast<std::int32_t>(out.numbers.size());
            out.numbers.push_back(static_cast<std::int32_t>(cell));
            if (with_children_[cell] == 0) continue;
            for (const auto child : tree_.cells()[cell].children)
                if (child != no_cell) marked_[static_cast<std::size_t>(child)] = 1;
        }
        return out;
    }

private:
    // Most are set many times: those that are stay as they are, in every thread's cache.
    static void set(std::vector<char>& marks, std::int32_t cell) {
        const std::atomic_ref mark(marks[static_cast<std::size_t>(cell)]);
        if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
    /// The cells within a neighbour of a leaf that near_lists goes to.
    void mark_within(std::int32_t leaf, std::int32_t neighbour) {
        for (const auto child : tree_.cell(neighbour).children) {
            if (child == no_cell) continue;
            mark(child);
            if (!meet_by_expansions(tree_, tree_.cell(leaf), tree_.cell(child), few_))
                mark_within(leaf, child);
        }
    }

    const Octree& tree_;
    std::int32_t few_;
    std::vector<char> marked_, with_children_; ///< by cell: 1, or 0
};

} // namespace

// Cells of a level follow the curve, as leaves do: those that hold leaves of one rank follow each other.
EssentialCells find_essential_cells(Octree& tree, std::span<const LeafRange> within,
                                    std::span<const std::int32_t> leaves,
                                    std::span<const std::int32_t> first_leaves, int rank, std::int32_t few,
                                    int threads) {
    Marker marker(tree, few);
    if (tree.levels() == 0) return {};
    for (std::int32_t cell = 0; cell < tree.level_begin(1); ++cell) marker.mark(cell);
    for (const auto boundary : first_leaves) marker.mark_shared(leaves, within, boundary);
    const auto own_begin = first_leaves[static_cast<std::size_t>(rank)];
    const auto own_end = first_leaves[static_cast<std::size_t>(rank) + 1];
    for (int level = 0; level < tree.levels() && own_begin < own_end; ++level) {
        const auto first = within.begin() + tree.level_begin(level);
        const auto last = within.begin() + tree.level_begin(level + 1);
        const auto number = [&](auto place) { return static_cast<std::int32_t>(place - within.begin()); };
        const auto begin = number(std::partition_point(
            first, last, [&](const LeafRange& here) { return here.second <= own_begin; }));
        const auto end = number(
            std::partition_point(first, last, [&](const LeafRange& here) { return here.first < own_end; }));
        if (begin >= end) continue;
        tree.add_neighbours(begin, end, threads);
        parallel_parts(
            threads, static_cast<std::size_t>(end - begin),
            [&](std::size_t from, std::size_t to) {
                for (auto n = from; n < to; ++n) marker.mark_around(begin + static_cast<std::int32_t>(n));
            },
            marked_cells_a_task);
    }
    return marker.marked();
}

} // namespace farfield
