#include "sums/treecode/target_tree.h"

#include "backend/threads/parallel.h"
#include "sums/treecode/group_rule.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

namespace farfield {
namespace {

/// Nodes as they are found, with the cell whose targets are to be divided, or no_cell for groups.
struct Found {
    std::vector<TargetNode> nodes;
    std::vector<std::int32_t> cells;

    void add(BlockRange targets, std::int32_t cell) {
        nodes.push_back({.targets = targets});
        cells.push_back(cell);
    }
};

// What holds too many targets is a node of its own.
void add_cells(const Octree& tree, std::span<const std::int32_t> numbers, bool family, std::int32_t most,
               Found& out) {
    const auto number_of = [&](int k) { return numbers[static_cast<std::size_t>(k)]; };
    const auto targets_of = [&](int k) {
        return number_of(k) == no_cell ? BlockRange{0, 0} : tree.cell(number_of(k)).targets;
    };
    for_runs(
        static_cast<int>(numbers.size()), family, most, targets_of,
        [&](BlockRange range) { out.add(range, no_cell); },
        [&](int k) { out.add(targets_of(k), number_of(k)); });
}

void set_box(const std::array<RawVector<double>, 3>& of_axes, std::int32_t first, TargetNode& node) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto* x = of_axes[axis].data();
        const auto [low, high] =
            std::minmax_element(x + (node.targets.begin - first), x + (node.targets.end - first));
        node.centre[axis] = 0.5 * (*low + *high);
        node.half[axis] = 0.5 * (*high - *low);
    }
}

void set_box_of_children(std::span<TargetNode> nodes, TargetNode& node) {
    for (int axis = 0; axis < 3; ++axis) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (auto child = node.first_child; child < node.first_child + node.children; ++child) {
            const auto& of = nodes[static_cast<std::size_t>(child)];
            low = std::min(low, of.centre[axis] - of.half[axis]);
            high = std::max(high, of.centre[axis] + of.half[axis]);
        }
        node.centre[axis] = 0.5 * (low + high);
        node.half[axis] = 0.5 * (high - low);
    }
}

} // namespace

std::vector<TargetNode> target_nodes(const Octree& tree, std::int32_t most) {
    Found found;
    const auto all = static_cast<std::int32_t>(tree.target_count());
    if (all == 0) return {};
    found.add({0, all}, no_cell);
    std::vector<std::int32_t> roots(static_cast<std::size_t>(tree.level_begin(1)));
    std::iota(roots.begin(), roots.end(), 0);
    for (std::size_t n = 0; n < found.nodes.size(); ++n) {
        const auto number = found.cells[n];
        if (n > 0 && number == no_cell) continue;
        const auto first = found.nodes.size();
        const auto targets = found.nodes[n].targets;
        if (n == 0)
            add_cells(tree, roots, false, most, found);
        else if (!tree.cell(number).leaf)
            add_cells(tree, tree.cell(number).children, true, most, found);
        else
            for_parts(targets, most, [&](BlockRange range) { found.add(range, no_cell); });
        found.nodes[n].first_child = static_cast<std::int32_t>(first);
        found.nodes[n].children = static_cast<std::int32_t>(found.nodes.size() - first);
    }
    return std::move(found.nodes);
}

void set_boxes_of_groups(std::span<TargetNode> nodes, const std::array<RawVector<double>, 3>& x,
                         BlockRange rows, int threads) {
    parallel_parts(
        threads, nodes.size(),
        [&](std::size_t begin, std::size_t end) {
            for (auto n = begin; n < end; ++n) {
                auto& node = nodes[n];
                const bool here = rows.begin <= node.targets.begin && node.targets.end <= rows.end;
                if (node.children == 0 && here) set_box(x, rows.begin, node);
            }
        },
        256);
}

void set_boxes_of_others(std::span<TargetNode> nodes) {
    for (auto n = nodes.size(); n-- > 0;)
        if (nodes[n].children > 0) set_box_of_children(nodes, nodes[n]);
}

} // namespace farfield
