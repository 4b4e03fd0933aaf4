#include "sums/treecode/walk.h"

#include "math/portable/functions.h"
#include "sums/expansions/local.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

// From the box around a node's targets to the centre of a cell's sources.
double square_distance(const TargetNode& node, const SourceCell& cell) {
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double apart = std::max(0.0, std::abs(cell.centre[axis] - node.centre[axis]) - node.half[axis]);
        sum += apart * apart;
    }
    return sum;
}

double square_distance_of_centres(const TargetNode& node, const SourceCell& cell) {
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double apart = cell.centre[axis] - node.centre[axis];
        sum += apart * apart;
    }
    return sum;
}

double power(double x, int n) {
    double out = 1.0;
    for (int k = 0; k < n; ++k) out *= x;
    return out;
}

} // namespace

/// A node with what is the same for all cells.
struct Walk::Judged {
    const TargetNode& node;
    Scales scales;
    double radius2 = 0.0;    ///< of its box, squared
    double local2 = 0.0;     ///< the distance at which local expansions begin, squared
    double local_part = 0.0; ///< estimate of a local expansion's error, times ρ^(q+2), for Σ|q| = 1
};

Walk::Walk(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape, double softening)
    : tree_(tree), cells_(cells), shape_(shape), softening2_(softening * softening),
      least_(shape.least_distance()), have_local_(cells.act_locally()) {}

std::vector<std::int32_t> Walk::roots() const {
    std::vector<std::int32_t> out(static_cast<std::size_t>(tree_.level_begin(1)));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

inline void Walk::open(const SourceCell& cell, std::vector<std::int32_t>& stack) const {
    for (auto child = cell.first_child + cell.children - 1; child >= cell.first_child; --child)
        stack.push_back(child);
}

// Σ|q|/ρ² and Σ|q|/ρ, of cells as they come, from the corner of the node that is farthest from each: what
// errors are compared with.
Walk::Scales Walk::scales_of(const TargetNode& node, std::vector<std::int32_t>& stack) const {
    Scales out;
    for (auto number = tree_.level_begin(1) - 1; number >= 0; --number) stack.push_back(number);
    while (!stack.empty()) {
        const auto number = stack.back();
        const auto& cell = cells_.cell(number);
        stack.pop_back();
        if (cell.magnitude <= 0.0) continue;
        if (tree_.self() && holds(node.targets, cell.sources)) continue;
        double square = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double apart = std::abs(cell.centre[axis] - node.centre[axis]) + node.half[axis];
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
        out.field += cell.magnitude / rho2;
        out.potential += cell.magnitude / std::sqrt(rho2);
    }
    const double p = shape_.order;
    const auto reach = [](double sum, double power) {
        return sum > 0.0 ? portable::pow(sum, -1.0 / power) : std::numeric_limits<double>::infinity();
    };
    out.field_reach = reach(out.field, p + 3.0);
    out.potential_reach = reach(out.potential, p + 2.0);
    return out;
}

inline bool Walk::acts_by_expansion(const Judged& judged, const SourceCell& cell) const {
    double reach = least_ * cell.radius;
    if (shape_.accuracy > 0.0)
        reach = std::max({reach, judged.scales.field_reach * cell.field_reach,
                          judged.scales.potential_reach * cell.potential_reach});
    return square_distance(judged.node, cell) + softening2_ > reach * reach;
}

// The distance is that of the centres: the series is one of the node's radius over it.
inline bool Walk::acts_through_local(const Judged& judged, const SourceCell& cell) const {
    const double rho2 = square_distance_of_centres(judged.node, cell) + softening2_;
    if (!(rho2 > judged.local2)) return false;
    if (shape_.accuracy <= 0.0) return true;
    return judged.local_part * cell.magnitude <= power(rho2, (local_order + 1) / 2) * std::sqrt(rho2);
}

void Walk::find(const TargetNode& node, const std::vector<std::int32_t>& from, Interactions& out) const {
    out.clear();
    Judged judged{.node = node, .scales = {}};
    for (const double half : node.half) judged.radius2 += half * half;
    judged.local2 = shape_.local_distance2() * judged.radius2;
    if (shape_.accuracy > 0.0) {
        judged.scales = scales_of(node, out.stack);
        const double radius = std::sqrt(judged.radius2);
        judged.local_part =
            power(radius, local_order) / shape_.accuracy *
            std::max((local_order + 1) / judged.scales.field, radius / judged.scales.potential);
    }
    const bool group = node.children == 0;
    const bool self = tree_.self();
    const auto own = node.targets;
    if (self && group) out.near.push_back({.range = own});
    const std::size_t first = out.near.size();
    for (const auto root : from) {
        out.stack.push_back(root);
        while (!out.stack.empty()) {
            const auto number = out.stack.back();
            out.stack.pop_back();
            const auto& cell = cells_.cell(number);
            if (cell.sources.size() == 0) continue;
            if (self && holds(own, cell.sources)) { // a part of the node
                if (!group) out.rest.push_back(number);
                continue;
            }
            if (self && holds(cell.sources, own)) {
                if (cell.children > 0) {
                    open(cell, out.stack);
                } else if (group) {
                    add_near({cell.sources.begin, own.begin}, out.near, first);
                    add_near({own.end, cell.sources.end}, out.near, first);
                } else {
                    out.rest.push_back(number);
                }
                continue;
            }
            const bool far = acts_by_expansion(judged, cell);
            if (far && have_local_ && acts_through_local(judged, cell)) {
                out.local.push_back(number);
            } else if (!group) {
                if (!far && cell.children > 0 && cell.radius * cell.radius > judged.radius2)
                    open(cell, out.stack);
                else
                    out.rest.push_back(number);
            } else if (cell.sources.size() <= shape_.few || (!far && cell.children == 0)) {
                add_near(cell.sources, out.near, first);
            } else if (far) {
                out.cells.push_back(number);
            } else {
                open(cell, out.stack);
            }
        }
    }
}

} // namespace farfield
