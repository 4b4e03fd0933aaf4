#include "sums/fmm/plane/plane_passes.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace farfield {
namespace {

constexpr std::int64_t plane_cells_a_task = 64;
constexpr std::int64_t plane_leaves_a_task = 32;

int quadrant_of(const TreeCell& cell) { return (cell.index[0] & 1) | (cell.index[1] & 1) << 1; }

} // namespace

PlanePasses::PlanePasses(const Octree& tree, const NearLists& lists, const RankShare& share,
                         const LaurentOrder& order, Isa isa, int threads)
    : tree_(tree), lists_(lists), share_(share), order_(order), operators_(order), isa_(isa),
      threads_(threads) {}

LaurentCell PlanePasses::shape_of(const TreeCell& cell) const {
    const auto centre = tree_.centre(cell);
    const double width = tree_.width(cell.level);
    return {.x = centre[0],
            .y = centre[1],
            .width = width,
            .log_width = std::log(width),
            .order = order_.order,
            .sets = sets_,
            .size = operators_.size()};
}

double PlanePasses::point_work(double points, int sets) const {
    return 8.0 * sets * (order_.order + 1) * points;
}

double PlanePasses::work(int sets) const {
    double cell = 0.0; // of M2L
    const int reach = 2 * order_.separation + 1;
    for (int dy = -reach; dy <= reach; ++dy)
        for (int dx = -reach; dx <= reach; ++dx)
            if (std::max(std::abs(dx), std::abs(dy)) > order_.separation)
                cell += LaurentOperators::multiply_adds(operators_.across(dx, dy)) * sets;
    const int width = 2 * order_.separation + 1; // a cell has so many senders of those
    cell *= 3.0 * width * width / ((2.0 * reach + 1.0) * (2.0 * reach + 1.0) - width * width);
    const auto points = tree_.source_count() + tree_.target_count();
    return cell * static_cast<double>(tree_.count_cells()) + point_work(static_cast<double>(points), sets);
}

template <class Body>
void PlanePasses::each_cell(int level, const Body& body) {
    const auto first = tree_.level_begin(level);
    const auto last = tree_.level_begin(level + 1);
    parallel_for(threads_, (last - first + plane_cells_a_task - 1) / plane_cells_a_task,
                 [&](std::int64_t task) {
                     if (stopped()) return;
                     Senders senders;
                     const auto begin = first + static_cast<std::int32_t>(task * plane_cells_a_task);
                     const auto end = std::min(last, begin + static_cast<std::int32_t>(plane_cells_a_task));
                     for (auto cell = begin; cell < end; ++cell) {
                         senders.clear();
                         body(cell, senders);
                     }
                 });
}

template <class Body>
void PlanePasses::each_own_leaf(const Body& body) {
    const auto [first, last] = share_.own_leaves();
    parallel_for(threads_, (last - first + plane_leaves_a_task - 1) / plane_leaves_a_task,
                 [&, first = first, last = last](std::int64_t task) {
                     if (stopped()) return;
                     const auto begin = first + task * plane_leaves_a_task;
                     for (auto n = begin; n < std::min(last, begin + plane_leaves_a_task); ++n)
                         body(static_cast<std::size_t>(n));
                 });
}

// Adds the expansion of the points of a cell about the centre of another, or the same.
void PlanePasses::form(const TreeCell& cell, const TreeCell& points, bool outside, double* expansion,
                       double* constants) const {
    const auto first = static_cast<std::size_t>(points.sources.begin);
    const auto& sources = tree_.sources();
    const LaurentFormTask task{.cell = shape_of(cell),
                               .points = {&sources.x[0][first], &sources.x[1][first], points.sources.size()},
                               .strengths = {&strengths_.real[first], strengths_.imaginary.empty()
                                                                          ? nullptr
                                                                          : &strengths_.imaginary[first]},
                               .outside = outside,
                               .expansion = expansion,
                               .constants = strengths_.with_potential ? constants : nullptr};
    FF_ISA_FUNCTION(ff_laurent_form, isa_)(&task);
}

void PlanePasses::form_multipoles(const PlaneStrengths& strengths) {
    strengths_ = strengths;
    sets_ = strengths.sets();
    multipoles_.reset(tree_.cells().size(), numbers(), threads_,
                      [this](std::int32_t cell) { return share_.forms(cell); });
    each_own_leaf([&](std::size_t n) {
        const auto number = lists_.leaves[n];
        const auto& leaf = tree_.cell(number);
        if (leaf.sources.size() > 0) form(leaf, leaf, false, multipoles_.of(number), nullptr);
        done(point_work(leaf.sources.size(), sets_));
    });
}

void PlanePasses::send(const Senders& senders, int level, double* expansion, double* constants) const {
    if (senders.shifts.empty()) return;
    const LaurentShiftTask task{.size = operators_.size(),
                                .sets = sets_,
                                .log_width = std::log(tree_.width(level)),
                                .count = static_cast<std::int64_t>(senders.shifts.size()),
                                .shifts = senders.shifts.data(),
                                .sources = senders.sources.data(),
                                .source_constants =
                                    senders.constants.empty() ? nullptr : senders.constants.data(),
                                .expansion = expansion,
                                .constants = strengths_.with_potential ? constants : nullptr};
    FF_ISA_FUNCTION(ff_laurent_shift, isa_)(&task);
}

template <class Wanted>
void PlanePasses::gather_levels(const Wanted& wanted) {
    for (int level = tree_.levels() - 2; level >= 0; --level)
        each_cell(level, [&](std::int32_t number, Senders& senders) {
            if (!tree_.cell(number).leaf && wanted(number)) gather_children(number, senders);
        });
}

void PlanePasses::gather_multipoles() {
    arriving_ = share_.begin_gather(multipoles_.all(), [&](const auto& wanted) { gather_levels(wanted); });
}

void PlanePasses::receive_multipoles() {
    share_.end_gather(arriving_, multipoles_.all(), [&](const auto& wanted) { gather_levels(wanted); });
}

void PlanePasses::gather_children(std::int32_t parent, Senders& senders) {
    const auto& cell = tree_.cell(parent);
    for (const auto child : cell.children) {
        if (child == no_cell || tree_.cell(child).sources.size() == 0) continue;
        senders.shifts.push_back(&operators_.up(quadrant_of(tree_.cell(child))));
        senders.sources.push_back(multipoles_.of(child));
    }
    send(senders, cell.level, multipoles_.of(parent), nullptr);
}

void PlanePasses::add_sender(const TreeCell& target, std::int32_t source, Senders& out, double& work) {
    if (source == no_cell || tree_.cell(source).sources.size() == 0) return;
    const int dx = target.index[0] - tree_.cell(source).index[0];
    const int dy = target.index[1] - tree_.cell(source).index[1];
    if (std::max(std::abs(dx), std::abs(dy)) <= order_.separation) return;
    const auto& shift = operators_.across(dx, dy);
    out.shifts.push_back(&shift);
    out.sources.push_back(multipoles_.of(source));
    work += LaurentOperators::multiply_adds(shift) * sets_;
}

// Cells of the target's level that are not its neighbours, although their parents are; their work.
double PlanePasses::find_senders(std::int32_t target, Senders& out) {
    const auto& cell = tree_.cell(target);
    double work = 0.0;
    if (cell.level == 0) {
        const int k = tree_.shape().coarse;
        for (int y = 0; y < k; ++y)
            for (int x = 0; x < k; ++x) add_sender(cell, tree_.coarse_cell(x, y, cell.index[2]), out, work);
        return work;
    }
    const auto around = tree_.neighbours(cell.parent);
    const int w = order_.separation;
    for (int dy = -w; dy <= w; ++dy)
        for (int dx = -w; dx <= w; ++dx) {
            const auto near = around[static_cast<std::size_t>(tree_.neighbour_slot(dx, dy, 0))];
            if (near == no_cell) continue;
            for (const auto child : tree_.cell(near).children) add_sender(cell, child, out, work);
        }
    return work;
}

void PlanePasses::translate_cell(std::int32_t cell, Senders& senders) {
    const auto& target = tree_.cell(cell);
    if (!share_.receives(cell)) return;
    const double work = find_senders(cell, senders);
    send(senders, target.level, locals_.of(cell), constant(cell));
    const auto row = static_cast<std::size_t>(cell);
    for (auto k = lists_.sources.first[row]; k < lists_.sources.first[row + 1]; ++k)
        form(target, tree_.cell(lists_.sources.partners[static_cast<std::size_t>(k)]), true, locals_.of(cell),
             constant(cell));
    done(work);
}

void PlanePasses::translate() {
    locals_.reset(tree_.cells().size(), numbers(), threads_,
                  [this](std::int32_t cell) { return share_.receives(cell); });
    constants_.assign(tree_.cells().size() * static_cast<std::size_t>(sets_), 0.0);
    for (int level = 0; level < tree_.levels(); ++level)
        each_cell(level, [&](std::int32_t cell, Senders& senders) { translate_cell(cell, senders); });
}

void PlanePasses::spread_locals() {
    for (int level = 1; level < tree_.levels(); ++level)
        each_cell(level, [&](std::int32_t number, Senders& senders) {
            const auto& cell = tree_.cell(number);
            if (!share_.receives(number)) return;
            senders.shifts.push_back(&operators_.down(quadrant_of(cell)));
            senders.sources.push_back(locals_.of(cell.parent));
            senders.constants.push_back(constant(cell.parent));
            send(senders, level, locals_.of(number), constant(number));
        });
}

// Adds the values of a cell's expansion, local or (`outside`) multipole, at the targets of a leaf.
void PlanePasses::add_values(const TreeCell& leaf, std::int32_t of, bool outside, const TileSums& sums) {
    const auto first = static_cast<std::size_t>(leaf.targets.begin);
    const auto& targets = tree_.targets();
    const auto at = [&](double* values) { return values != nullptr ? values + first : nullptr; };
    const LaurentValueTask task{.cell = shape_of(tree_.cell(of)),
                                .points = {&targets.x[0][first], &targets.x[1][first], leaf.targets.size()},
                                .outside = outside,
                                .expansion = outside ? multipoles_.of(of) : locals_.of(of),
                                .constants = outside ? nullptr : constant(of),
                                .potential = {at(sums.potential), at(sums.potential_imaginary)},
                                .field = {at(sums.field[0]), at(sums.field[1])}};
    FF_ISA_FUNCTION(ff_laurent_value, isa_)(&task);
}

void PlanePasses::evaluate_leaf(std::size_t leaf, const TileSums& sums) {
    const auto number = lists_.leaves[leaf];
    const auto& cell = tree_.cell(number);
    if (cell.targets.size() == 0) return;
    add_values(cell, number, false, sums);
    for (auto k = lists_.multipoles.first[leaf]; k < lists_.multipoles.first[leaf + 1]; ++k)
        add_values(cell, lists_.multipoles.partners[static_cast<std::size_t>(k)], true, sums);
    done(point_work(cell.targets.size(), sets_));
}

void PlanePasses::evaluate(const TileSums& sums) {
    each_own_leaf([&](std::size_t leaf) { evaluate_leaf(leaf, sums); });
}

} // namespace farfield
