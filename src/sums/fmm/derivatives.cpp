// Expansions at points, with their derivatives: coefficients of the derivatives, and the loop that evaluates
// them. A multipole expansion (`inverted` points) has derivatives of higher orders; it is then padded to the
// highest.
#include "sums/fmm/passes.h"

#include "sums/direct/cpu/isa_function.h"
#include "sums/fmm/point_scratch.h"

#include <algorithm>

namespace farfield {
namespace {

template <class T, class From>
void apply_terms(const std::vector<SparseTerm>& terms, const From& from, AlignedVector<T>& out) {
    for (const auto& term : terms)
        out[static_cast<std::size_t>(term.to)] +=
            static_cast<T>(term.weight) * from[static_cast<std::size_t>(term.from)];
}

/// Coefficients in their places of the higher basis.
template <class T, class Outside, class From>
void raise_order(const Outside& outside, const From& values, AlignedVector<T>& out) {
    out.assign(static_cast<std::size_t>(outside.size), T(0));
    for (std::size_t place = 0; place < outside.places.size(); ++place)
        if (const auto to = outside.places[place]; to >= 0) out[static_cast<std::size_t>(to)] = values[place];
}

} // namespace

// Sets: 1, the expansion itself; 4, with first derivatives; more, with second ones.
template <class T>
void FmmPasses<T>::derive(const T* expansion, bool inverted, std::size_t sets, PointScratch& scratch) const {
    const auto own = static_cast<std::size_t>(operators_->size);
    const auto size = inverted ? static_cast<std::size_t>(operators_->outside[0].size) : own;
    const auto& derivatives = inverted ? operators_->outside[0].derivatives : operators_->derivatives;
    if (inverted)
        raise_order(operators_->outside[0], expansion, scratch.derivative[0]);
    else
        scratch.derivative[0].assign(expansion, expansion + own);
    for (std::size_t axis = 0; axis < 3 && sets > 1; ++axis) {
        auto& out = scratch.derivative[axis + 1];
        out.assign(size, T(0));
        apply_terms(derivatives[axis], expansion, out);
    }
    if (sets > 4) add_second_derivatives(inverted, sets, scratch);
}

template <class T>
void FmmPasses<T>::add_second_derivatives(bool inverted, std::size_t sets, PointScratch& scratch) const {
    const auto size = static_cast<std::size_t>(inverted ? operators_->outside[1].size : operators_->size);
    const auto& derivatives = inverted ? operators_->outside[1].derivatives : operators_->derivatives;
    constexpr std::size_t pairs[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    for (std::size_t k = 0; 4 + k < sets; ++k) {
        auto& out = scratch.derivative[4 + k];
        out.assign(size, T(0));
        apply_terms(derivatives[pairs[k][1]], scratch.derivative[1 + pairs[k][0]], out);
    }
    for (std::size_t set = 0; set < 4 && inverted; ++set) {
        std::swap(scratch.lower, scratch.derivative[set]);
        raise_order(operators_->outside[1], scratch.lower, scratch.derivative[set]);
    }
}

// Values of the sets at the points of `scratch`; four sets at a time share the functions.
template <class T>
void FmmPasses<T>::evaluate_sets(bool inverted, std::size_t sets, PointScratch& scratch) const {
    const auto& table = inverted ? operators_->outside[sets > 4 ? 1 : 0].table : operators_->table;
    const auto places = table.places();
    for (std::size_t first = 0, some = 0; first < sets; first += some) {
        some = sets - first < 4 ? 1 : 4;
        scratch.packed.resize(places.size() * some);
        for (std::size_t n = 0; n < places.size(); ++n)
            for (std::size_t k = 0; k < some; ++k)
                scratch.packed[n * some + k] =
                    places[n] >= 0 ? scratch.derivative[first + k][static_cast<std::size_t>(places[n])]
                                   : T(0);
        EvaluateTask task{.functions = table.loop(),
                          .points = scratch.points(),
                          .sets = static_cast<int>(some),
                          .coefficients = scratch.packed.data()};
        for (std::size_t k = 0; k < some; ++k) {
            scratch.values[first + k].resize(static_cast<std::size_t>(scratch.padded));
            task.values[k] = scratch.values[first + k].data();
        }
        FF_ISA_FUNCTION(ff_evaluate, isa_)(&task);
    }
}

template void FmmPasses<float>::derive(const float*, bool, std::size_t, PointScratch&) const;
template void FmmPasses<double>::derive(const double*, bool, std::size_t, PointScratch&) const;
template void FmmPasses<float>::evaluate_sets(bool, std::size_t, PointScratch&) const;
template void FmmPasses<double>::evaluate_sets(bool, std::size_t, PointScratch&) const;

} // namespace farfield
