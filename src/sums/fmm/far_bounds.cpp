#include "sums/fmm/far_bounds.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace farfield {
namespace {

constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2.0;

int square(const std::array<int, 3>& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

std::array<int, 3> offset_between(const TreeCell& from, const TreeCell& to) {
    return {to.index[0] - from.index[0], to.index[1] - from.index[1], to.index[2] - from.index[2]};
}

bool is_apart(const std::array<int, 3>& d, int separation) {
    return std::max({std::abs(d[0]), std::abs(d[1]), std::abs(d[2])}) > separation;
}

/// Additions that a term of the largest expansion may pass, and as many units of rounding: M2L over all
/// offsets, M2M and L2L over all levels, P2M of the largest leaf; `lone` covers functions and operators,
/// whose recurrences are of length p.
double additions(const FarBoundsTask& task) {
    double sum = 64.0;
    for (const auto& offsets : offset_classes(task.order)) {
        const double degree = graded_degree(task.order, offsets.offset);
        sum += (degree + 1.0) * (degree + 1.0) + 8.0;
    }
    const double functions = std::pow(task.order.order + 1.0, 2);
    const double lone = 8.0 * functions;
    std::int32_t points = 0;
    for (const auto leaf : task.lists->leaves)
        points = std::max(points, task.tree->cell(leaf).sources.size());
    return sum + 2.0 * task.tree->levels() * (functions + 8.0) + lone + points;
}

/// Value of the chords through values at the nodes.
double interpolated(const std::array<double, radius_nodes>& values, const RadiusShare& share) {
    return values[share.node] + share.upper * (values[share.node + 1] - values[share.node]);
}

} // namespace

FarBounds::FarBounds(const FarBoundsTask& task) : task_(task), rounding_(additions(task) * unit_roundoff) {
    weigh_sources();
}

double FarBounds::radius(const TreePoints& points, std::size_t point, const TreeCell& cell) const {
    const auto centre = task_.tree->centre(cell);
    double square = 0.0;
    for (std::size_t axis = 0; axis < 3; ++axis) square += std::pow(points.x[axis][point] - centre[axis], 2);
    return std::sqrt(square) / task_.tree->width(cell.level);
}

double FarBounds::dipole(std::size_t source) const {
    return std::hypot(task_.dipoles[3 * source], task_.dipoles[3 * source + 1],
                      task_.dipoles[3 * source + 2]);
}

void FarBounds::weigh_sources() {
    const auto& tree = *task_.tree;
    weights_.resize(tree.cells().size());
    parallel_for(task_.threads, static_cast<std::int64_t>(weights_.size()), [&](std::int64_t number) {
        const auto& cell = tree.cell(static_cast<std::int32_t>(number));
        auto& weights = weights_[static_cast<std::size_t>(number)];
        for (auto i = static_cast<std::size_t>(cell.sources.begin);
             i < static_cast<std::size_t>(cell.sources.end); ++i) {
            const auto share = radius_share(radius(tree.sources(), i, cell));
            const double of[2] = {std::abs(task_.strengths[i]), kinds() > 1 ? dipole(i) : 0.0};
            for (std::size_t m = 0; m < kinds(); ++m) {
                weights.total[m] += of[m];
                weights.at[m][share.node] += (1.0 - share.upper) * of[m];
                weights.at[m][share.node + 1] += share.upper * of[m];
            }
        }
    });
}

void FarBounds::make_tables() {
    std::vector<int> degrees; // by the square of the distance; −1: no such offset
    for (const auto& offsets : offset_classes(task_.order)) {
        const auto place = static_cast<std::size_t>(square(offsets.offset));
        if (degrees.size() <= place) degrees.resize(place + 1, -1);
        degrees[place] = graded_degree(task_.order, offsets.offset);
    }
    tables_.assign(degrees.size(), {});
    parallel_for(task_.threads, static_cast<std::int64_t>(degrees.size()), [&](std::int64_t number) {
        const auto place = static_cast<std::size_t>(number);
        const int degree = degrees[place];
        if (degree < 0) return;
        const double distance = std::sqrt(static_cast<double>(number));
        for (std::size_t m = 0; m < kinds(); ++m)
            for (std::size_t n = 0; n < bounded_outputs; ++n) {
                if (!wanted_[n]) continue;
                for (std::size_t a = 0; a < radius_nodes; ++a)
                    for (std::size_t b = 0; b < radius_nodes; ++b)
                        tables_[place].error[m][n][a][b] =
                            translation_error(degree, radius_node(a), radius_node(b), distance, {m, n});
                tables_[place].size[m][n] =
                    translation_size(degree, corner_radius, corner_radius, distance, {m, n});
            }
    });
}

// In units of the tree: each derivative is one by a length, and 1/r is one, too.
void FarBounds::add_translation(const TreeCell& from, const TreeCell& to, const Weights& weights,
                                Bounds& out) const {
    const auto& table = tables_[static_cast<std::size_t>(square(offset_between(from, to)))];
    const double per_length = 1.0 / task_.tree->width(to.level);
    // centres come out rounded, too, all the more beside small cells
    const double moved =
        8.0 * (task_.order.order + 1.0) * unit_roundoff * std::ldexp(task_.order.coarse, to.level);
    for (std::size_t m = 0; m < kinds(); ++m)
        for (std::size_t n = 0; n < bounded_outputs; ++n) {
            if (!wanted_[n]) continue;
            const double unit = std::pow(per_length, 1 + static_cast<int>(m + n));
            out.rounding[n] += (rounding_ + moved) * unit * weights.total[m] * table.size[m][n];
            for (std::size_t a = 0; a < radius_nodes; ++a) {
                const double weight = unit * weights.at[m][a];
                if (weight == 0.0) continue;
                for (std::size_t b = 0; b < radius_nodes; ++b)
                    out.truncation[n][b] += weight * table.error[m][n][a][b];
            }
        }
}

FarBounds::Points FarBounds::points_around(const TreeCell& points, const TreeCell& cell) const {
    const auto& sources = task_.tree->sources();
    Points out{.least = HUGE_VAL};
    const auto begin = static_cast<std::size_t>(points.sources.begin);
    const auto end = static_cast<std::size_t>(points.sources.end);
    for (auto i = begin; i < end; ++i) out.least = std::min(out.least, radius(sources, i, cell));
    for (auto i = begin; i < end; ++i) {
        const double of[2] = {std::abs(task_.strengths[i]), kinds() > 1 ? dipole(i) : 0.0};
        const double nearness = out.least / radius(sources, i, cell);
        for (std::size_t m = 0; m < kinds(); ++m) {
            out.total[m] += of[m];
            out.weight[m] += of[m] * std::pow(nearness, task_.order.order + 2 + static_cast<int>(m));
        }
    }
    return out;
}

void FarBounds::add_points(const TreeCell& points, const TreeCell& cell, Bounds& out) const {
    const auto around = points_around(points, cell);
    const double per_length = 1.0 / task_.tree->width(cell.level);
    const int p = task_.order.order;
    for (std::size_t m = 0; m < kinds(); ++m)
        for (std::size_t n = 0; n < bounded_outputs; ++n) {
            if (!wanted_[n]) continue;
            const double unit = std::pow(per_length, 1 + static_cast<int>(m + n));
            for (std::size_t b = 0; b < radius_nodes; ++b)
                out.truncation[n][b] +=
                    unit * around.weight[m] * local_error(p, radius_node(b), around.least, {m, n});
            out.rounding[n] += 2.0 * rounding_ * unit * around.total[m] *
                               expansion_size(p, corner_radius, around.least, n, m);
        }
}

FarBounds::Bounds FarBounds::of_cell(std::int32_t number) const {
    const auto& tree = *task_.tree;
    const auto& cell = tree.cell(number);
    Bounds out;
    if (cell.targets.size() == 0) return out;
    const auto add = [&](std::int32_t other) {
        if (other == no_cell || tree.cell(other).sources.size() == 0) return;
        const auto& from = tree.cell(other);
        if (is_apart(offset_between(from, cell), task_.order.separation))
            add_translation(from, cell, weights_[static_cast<std::size_t>(other)], out);
    };
    if (cell.parent == no_cell) {
        for (auto other = tree.level_begin(0); other < tree.level_begin(1); ++other) add(other);
    } else {
        for (const auto uncle : tree.neighbours(cell.parent))
            if (uncle != no_cell)
                for (const auto child : tree.cell(uncle).children) add(child);
    }
    const auto& rows = task_.lists->sources;
    for (auto k = rows.first[static_cast<std::size_t>(number)];
         k < rows.first[static_cast<std::size_t>(number) + 1]; ++k)
        add_points(tree.cell(rows.partners[static_cast<std::size_t>(k)]), cell, out);
    return out;
}

void FarBounds::add_multipole(const TreeCell& leaf, std::int32_t from, OutputBounds& bounds) const {
    const auto& tree = *task_.tree;
    const auto& cell = tree.cell(from);
    const auto& weights = weights_[static_cast<std::size_t>(from)];
    const double per_length = 1.0 / tree.width(cell.level);
    const int p = task_.order.order;
    for (std::size_t m = 0; m < kinds(); ++m) {
        std::size_t last = radius_nodes - 1;
        while (last > 0 && weights.at[m][last] == 0.0) --last;
        const double most = radius_node(last);
        double weight = weights.at[m][0];
        for (std::size_t a = 1; a <= last; ++a)
            weight += weights.at[m][a] * std::pow(radius_node(a) / most, p + 1 - static_cast<int>(m));
        for (std::size_t n = 0; n < bounded_outputs; ++n) {
            if (!wanted_[n]) continue;
            const double unit = std::pow(per_length, 1 + static_cast<int>(m + n));
            for (auto i = static_cast<std::size_t>(leaf.targets.begin);
                 i < static_cast<std::size_t>(leaf.targets.end); ++i) {
                const double distance = radius(tree.targets(), i, cell);
                bounds[n].truncation[i] += unit * weight * multipole_error(p, most, distance, {m, n});
                bounds[n].rounding[i] += 2.0 * rounding_ * unit * weights.total[m] *
                                         expansion_size(p, corner_radius, distance, m, n);
            }
        }
    }
}

// What acts on a leaf's targets: the local expansions of the leaf and of all cells around it, and multipoles.
void FarBounds::add_leaf(std::size_t leaf, const std::vector<Bounds>& cells, OutputBounds& bounds) const {
    const auto& tree = *task_.tree;
    const auto& own = tree.cell(task_.lists->leaves[leaf]);
    for (auto number = task_.lists->leaves[leaf]; number != no_cell; number = tree.cell(number).parent) {
        const auto& of = cells[static_cast<std::size_t>(number)];
        for (auto i = static_cast<std::size_t>(own.targets.begin);
             i < static_cast<std::size_t>(own.targets.end); ++i) {
            const auto share = radius_share(radius(tree.targets(), i, tree.cell(number)));
            for (std::size_t n = 0; n < bounded_outputs; ++n) {
                if (!wanted_[n]) continue;
                bounds[n].truncation[i] += interpolated(of.truncation[n], share);
                bounds[n].rounding[i] += of.rounding[n];
            }
        }
    }
    const auto& rows = task_.lists->multipoles;
    for (auto k = rows.first[leaf]; k < rows.first[leaf + 1]; ++k)
        add_multipole(own, rows.partners[static_cast<std::size_t>(k)], bounds);
}

void FarBounds::add_to(OutputBounds& bounds) {
    for (std::size_t n = 0; n < bounded_outputs; ++n) wanted_[n] = !bounds[n].truncation.empty();
    make_tables();
    std::vector<Bounds> cells(task_.tree->cells().size());
    parallel_for(task_.threads, static_cast<std::int64_t>(cells.size()), [&](std::int64_t number) {
        cells[static_cast<std::size_t>(number)] = of_cell(static_cast<std::int32_t>(number));
    });
    parallel_for(task_.threads, static_cast<std::int64_t>(task_.lists->leaves.size()),
                 [&](std::int64_t leaf) { add_leaf(static_cast<std::size_t>(leaf), cells, bounds); });
}

} // namespace farfield
