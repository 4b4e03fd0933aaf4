#include "sums/treecode/walk.h"

#include "backend/threads/parallel.h"
#include "math/portable/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield {
namespace {

bool holds(BlockRange outer, BlockRange inner) {
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

void add_near(BlockRange range, std::vector<BlockSource>& near, std::size_t first) {
    if (range.size() <= 0) return;
    if (near.size() > first && near.back().range.end == range.begin)
        near.back().range.end = range.end;
    else
        near.push_back({.range = range});
}

} // namespace

std::vector<TargetGroup> target_groups(const Octree& tree, std::int32_t most, int threads) {
    std::vector<TargetGroup> groups;
    std::vector<std::int32_t> stack;
    for (auto number = tree.levels() > 0 ? tree.level_begin(1) - 1 : -1; number >= 0; --number)
        stack.push_back(number);
    std::int32_t parent = no_cell; // of the cells of the last group
    while (!stack.empty()) {
        const auto& cell = tree.cell(stack.back());
        stack.pop_back();
        if (cell.targets.size() == 0) continue;
        if (cell.targets.size() > most && !cell.leaf) {
            for (auto child = cell.children.rbegin(); child != cell.children.rend(); ++child)
                if (*child != no_cell) stack.push_back(*child);
            parent = no_cell;
            continue;
        }
        if (parent == cell.parent && !groups.empty() && cell.parent != no_cell &&
            cell.targets.end - groups.back().targets.begin <= most) {
            groups.back().targets.end = cell.targets.end;
            continue;
        }
        for (auto begin = cell.targets.begin; begin < cell.targets.end; begin += most)
            groups.push_back({.targets = {begin, std::min(begin + most, cell.targets.end)}});
        parent = cell.targets.size() <= most ? cell.parent : no_cell;
    }
    const auto& points = tree.targets();
    parallel_parts(
        threads, groups.size(),
        [&](std::size_t begin, std::size_t end) {
            for (auto g = begin; g < end; ++g)
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const auto* x = points.x[axis].data();
                    const auto [low, high] =
                        std::minmax_element(x + groups[g].targets.begin, x + groups[g].targets.end);
                    groups[g].centre[axis] = 0.5 * (*low + *high);
                    groups[g].half[axis] = 0.5 * (*high - *low);
                }
        },
        256);
    return groups;
}

Walk::Walk(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape, double softening)
    : tree_(tree), cells_(cells), shape_(shape), softening2_(softening * softening),
      least_(shape.least_distance()) {}

void Walk::push_roots(std::vector<std::int32_t>& stack) const {
    stack.clear();
    for (auto number = tree_.level_begin(1) - 1; number >= 0; --number) stack.push_back(number);
}

void Walk::open(const SourceCell& cell, std::vector<std::int32_t>& stack) const {
    for (auto child = cell.first_child + cell.children - 1; child >= cell.first_child; --child)
        stack.push_back(child);
}

// From the box around the targets to the centre of the sources.
double Walk::square_distance(const TargetGroup& group, const SourceCell& cell) const {
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double apart =
            std::max(0.0, std::abs(cell.centre[axis] - group.centre[axis]) - group.half[axis]);
        sum += apart * apart;
    }
    return sum;
}

// Σ|q|/ρ² and Σ|q|/ρ, of cells as they come, from the corner of the group that is farthest from each: what
// errors are compared with.
Walk::Scales Walk::scales_of(const TargetGroup& group, std::vector<std::int32_t>& stack) const {
    double field = 0.0;
    double potential = 0.0;
    push_roots(stack);
    while (!stack.empty()) {
        const auto number = stack.back();
        const auto& cell = cells_.cell(number);
        stack.pop_back();
        if (cell.magnitude <= 0.0) continue;
        if (tree_.self() && holds(group.targets, cell.sources)) continue;
        double square = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double apart = std::abs(cell.centre[axis] - group.centre[axis]) + group.half[axis];
            square += apart * apart;
        }
        const double radius2 = cell.radius * cell.radius;
        if (cell.children > 0 && square < 2.0 * radius2) {
            open(cell, stack);
            continue;
        }
        // what lies nearer may be a point that meets another
        const double nearest = 0.5 * cells_.unit(number);
        const double rho2 = std::max({square, radius2, nearest * nearest}) + softening2_;
        field += cell.magnitude / rho2;
        potential += cell.magnitude / std::sqrt(rho2);
    }
    const double p = shape_.order;
    const auto scale = [](double sum, double power) {
        return sum > 0.0 ? portable::pow(sum, -1.0 / power) : std::numeric_limits<double>::infinity();
    };
    return {scale(field, p + 3.0), scale(potential, p + 2.0)};
}

void Walk::find(const TargetGroup& group, Interactions& out) const {
    out.clear();
    Scales scales;
    if (shape_.accuracy > 0.0) scales = scales_of(group, out.stack);
    const bool self = tree_.self();
    const auto own = group.targets;
    if (self) out.near.push_back({.range = own});
    const std::size_t first = out.near.size();
    push_roots(out.stack);
    while (!out.stack.empty()) {
        const auto number = out.stack.back();
        out.stack.pop_back();
        const auto& cell = cells_.cell(number);
        if (cell.sources.size() == 0) continue;
        if (self && holds(own, cell.sources)) continue; // a part of the group
        if (self && holds(cell.sources, own)) {
            if (cell.children > 0) {
                open(cell, out.stack);
                continue;
            }
            add_near({cell.sources.begin, own.begin}, out.near, first);
            add_near({own.end, cell.sources.end}, out.near, first);
            continue;
        }
        if (cell.sources.size() <= shape_.few) {
            add_near(cell.sources, out.near, first);
            continue;
        }
        const double reach = std::max(
            {least_ * cell.radius, scales.field * cell.field_reach, scales.potential * cell.potential_reach});
        if (square_distance(group, cell) + softening2_ > reach * reach)
            out.cells.push_back(number);
        else if (cell.children > 0)
            open(cell, out.stack);
        else
            add_near(cell.sources, out.near, first);
    }
}

} // namespace farfield
