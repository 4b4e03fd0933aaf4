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

/// Coefficients in their places of a basis of a higher order.
template <class T, class From>
void raise_order(const HarmonicBasis& from, const HarmonicBasis& to, const From& values,
                 AlignedVector<T>& out) {
    out.assign(static_cast<std::size_t>(to.size()), T(0));
    for (int place = 0; place < from.size(); ++place) {
        const auto& h = from.at(place);
        if (h.degree >= 0)
            out[static_cast<std::size_t>(to.place(h.degree, h.order, h.sine))] =
                values[static_cast<std::size_t>(place)];
    }
}

} // namespace

// Sets: 1, the expansion itself; 4, with first derivatives; all of them.
template <class T>
void FmmPasses<T>::derive(const T* expansion, bool inverted, std::size_t sets, PointScratch& scratch) const {
    const auto& own = operators_->basis;
    const auto& basis = inverted ? operators_->higher : own;
    raise_order(own, basis, expansion, scratch.derivative[0]);
    for (std::size_t axis = 0; axis < 3 && sets > 1; ++axis) {
        auto& out = scratch.derivative[axis + 1];
        out.assign(static_cast<std::size_t>(basis.size()), T(0));
        apply_terms(inverted ? operators_->multipole_derivatives[axis] : operators_->local_derivatives[axis],
                    expansion, out);
    }
    if (sets == derivative_sets) add_second_derivatives(inverted, scratch);
}

template <class T>
void FmmPasses<T>::add_second_derivatives(bool inverted, PointScratch& scratch) const {
    const auto& basis = inverted ? operators_->highest : operators_->basis;
    const auto& derivatives = inverted ? operators_->higher_derivatives : operators_->local_derivatives;
    constexpr std::size_t pairs[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}};
    for (std::size_t k = 0; k < std::size(pairs); ++k) {
        auto& out = scratch.derivative[4 + k];
        out.assign(static_cast<std::size_t>(basis.size()), T(0));
        apply_terms(derivatives[pairs[k][1]], scratch.derivative[1 + pairs[k][0]], out);
    }
    for (std::size_t set = 0; set < 4 && inverted; ++set) {
        std::swap(scratch.lower, scratch.derivative[set]);
        raise_order(operators_->higher, basis, scratch.lower, scratch.derivative[set]);
    }
}

// Values of the sets at the points of `scratch`; four sets at a time share the functions.
template <class T>
void FmmPasses<T>::evaluate_sets(bool inverted, std::size_t sets, PointScratch& scratch) const {
    const auto& table = !inverted                 ? operators_->table
                        : sets == derivative_sets ? operators_->highest_table
                                                  : operators_->higher_table;
    const auto places = table.places();
    for (std::size_t first = 0; first < sets; first += 4) {
        const std::size_t some = std::min<std::size_t>(sets - first, 4);
        scratch.packed.resize(places.size() * some);
        for (std::size_t n = 0; n < places.size(); ++n)
            for (std::size_t k = 0; k < some; ++k)
                scratch.packed[n * some + k] =
                    places[n] >= 0 ? scratch.derivative[first + k][static_cast<std::size_t>(places[n])]
                                   : T(0);
        EvaluateTask task{.harmonics = table.loop(),
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
