// Expansions of dipoles, which act as −p·∇ of a unit charge does where it moves: with lengths in widths h,
//     P2M  M_i = Σ p/h·∇R_i(v),   P2L  L_i = Σ p/h·∇I_i(v),   I_i(v) = R_i(v/|v|²)/|v|.
// Gradients of functions are functions of one degree less, or more: the matrices that differentiate
// expansions say which, read from their columns.
#include "sums/fmm/passes.h"

#include "sums/fmm/point_scratch.h"

namespace farfield {

template <class T>
void FmmPasses<T>::form_dipoles(const TreeCell& cell, const TreeCell& points, bool inverted, T* expansion,
                                PointScratch& scratch) const {
    const auto& table = inverted ? operators_->outside[0].table : operators_->table;
    const auto size = static_cast<std::size_t>(inverted ? operators_->outside[0].size : operators_->size);
    const auto& derivatives = inverted ? operators_->outside[0].derivatives : operators_->derivatives;
    const double width = tree_.width(cell.level);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        scratch.set_points(tree_.sources(), points.sources, tree_.centre(cell), width, inverted);
        for (std::size_t i = 0; i < static_cast<std::size_t>(scratch.count); ++i) {
            const auto row = static_cast<std::size_t>(points.sources.begin) + i;
            scratch.weight[i] *= static_cast<T>(dipoles_[3 * row + axis] / width);
        }
        sum_functions(table, scratch);
        scratch.lower.assign(size, T(0));
        const auto places = table.places();
        for (std::size_t n = 0; n < places.size(); ++n)
            if (places[n] >= 0) scratch.lower[static_cast<std::size_t>(places[n])] = scratch.sums[n];
        for (const auto& term : derivatives[axis])
            expansion[term.from] +=
                static_cast<T>(term.weight) * scratch.lower[static_cast<std::size_t>(term.to)];
    }
}

template void FmmPasses<float>::form_dipoles(const TreeCell&, const TreeCell&, bool, float*,
                                             PointScratch&) const;
template void FmmPasses<double>::form_dipoles(const TreeCell&, const TreeCell&, bool, double*,
                                              PointScratch&) const;

} // namespace farfield
