// From local expansions to points: a cell takes its parent's expansion (L2L), leaves evaluate theirs at their
// points (L2P), and where a leaf lies beside smaller cells, the multipole expansions of these (M2P).
#include "sums/fmm/passes.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/fmm/point_scratch.h"

namespace farfield {

template <class T>
void FmmPasses<T>::spread_locals() {
    constexpr std::int32_t cells_a_task = 32;
    for (int level = 0; level + 1 < tree_.levels(); ++level) {
        const auto first = tree_.level_begin(level);
        const auto last = tree_.level_begin(level + 1);
        parallel_for(threads_, (last - first + cells_a_task - 1) / cells_a_task, [&](std::int64_t number) {
            std::vector<const void*> sources;
            std::vector<void*> targets;
            const auto begin = first + static_cast<std::int32_t>(number) * cells_a_task;
            for (auto cell = begin; cell < std::min(last, begin + cells_a_task); ++cell) {
                const auto& parent = tree_.cell(cell);
                if (parent.leaf || !share_.receives(cell)) continue;
                sources.push_back(locals_.of(cell));
                for (const auto child : parent.children)
                    targets.push_back(child != no_cell && share_.receives(child) ? locals_.of(child)
                                                                                 : nullptr);
            }
            AlignedVector<T> scratch(static_cast<std::size_t>(translate_scratch(operators_->size)));
            const SpreadTask task{.translation = operators_->down.task(),
                                  .count = static_cast<std::int64_t>(sources.size()),
                                  .sources = sources.data(),
                                  .targets = targets.data(),
                                  .scratch = scratch.data()};
            FF_ISA_FUNCTION(ff_spread, isa_)(&task);
        });
    }
}

// Adds the values of a cell's expansion, local or (`inverted`) multipole, at the targets of a leaf.
template <class T>
void FmmPasses<T>::add_values(const TreeCell& leaf, const TreeCell& of, bool inverted, const TileSums& sums,
                              PointScratch& scratch) const {
    const bool with_field = sums.field[0] != nullptr;
    const bool with_hessian = sums.hessian[0] != nullptr;
    const double width = tree_.width(of.level);
    const auto number = static_cast<std::int32_t>(&of - tree_.cells().data());
    const std::size_t sets = with_hessian
                                 ? (operators_->are_harmonic() ? derivative_sets - 1 : derivative_sets)
                             : with_field ? 4
                                          : 1;
    derive(inverted ? multipoles_.of(number) : locals_.of(number), inverted, sets, scratch);
    scratch.set_points(tree_.targets(), leaf.targets, tree_.centre(of, leaf), width, inverted);
    evaluate_sets(inverted, sets, scratch);
    const double potential_factor = 1.0 / width;
    const double field_factor = -potential_factor / width;
    const double hessian_factor = -field_factor / width;
    const auto add = [&](double* out, std::size_t set, double factor) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(scratch.count); ++i)
            out[static_cast<std::size_t>(leaf.targets.begin) + i] +=
                factor * static_cast<double>(scratch.weight[i]) * static_cast<double>(scratch.values[set][i]);
    };
    if (sums.potential != nullptr) add(sums.potential, 0, potential_factor);
    for (std::size_t axis = 0; axis < 3 && with_field; ++axis) add(sums.field[axis], axis + 1, field_factor);
    if (!with_hessian) return;
    for (std::size_t k = 0; 4 + k < sets; ++k) add(sums.hessian[k], 4 + k, hessian_factor);
    if (!operators_->are_harmonic()) return;
    add(sums.hessian[5], 4, -hessian_factor); // zz = −xx − yy
    add(sums.hessian[5], 7, -hessian_factor);
}

template <class T>
void FmmPasses<T>::evaluate_leaf(std::size_t leaf, const TileSums& sums, PointScratch& scratch) const {
    const auto& cell = tree_.cell(lists_.leaves[leaf]);
    if (cell.targets.size() == 0) return;
    add_values(cell, cell, false, sums, scratch);
    for (auto k = lists_.multipoles.first[leaf]; k < lists_.multipoles.first[leaf + 1]; ++k)
        add_values(cell, tree_.cell(lists_.multipoles.partners[static_cast<std::size_t>(k)]), true, sums,
                   scratch);
}

template <class T>
void FmmPasses<T>::evaluate(const TileSums& sums) {
    each_own_leaf([&](std::size_t begin, std::size_t end) {
        PointScratch scratch;
        double points = 0.0;
        for (auto n = begin; n < end; ++n) {
            evaluate_leaf(n, sums, scratch);
            points += tree_.cell(lists_.leaves[n]).targets.size();
        }
        done(point_work(points));
    });
}

template void FmmPasses<float>::spread_locals();
template void FmmPasses<double>::spread_locals();
template void FmmPasses<float>::evaluate(const TileSums&);
template void FmmPasses<double>::evaluate(const TileSums&);

} // namespace farfield
