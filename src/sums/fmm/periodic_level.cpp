// Level 0 of a periodic tree: all its cells, and all images of them that are not neighbours, send each other
// their expansions through sums over the lattice (lattice/images/image_operator.h), which has complex
// harmonics.
#include "sums/fmm/periodic_level.h"

#include "sums/fmm/passes.h"

#include "backend/threads/parallel.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace farfield {
namespace {

/// Calls visit(place, l, m, sine, scale) for each function of an expansion: √2 scale times the real or the
/// imaginary part of R_l^m.
template <class Visit>
void each_function(const HarmonicBasis& basis, const HarmonicScales& scales, const Visit& visit) {
    for (int place = 0; place < basis.size(); ++place)
        if (const auto& h = basis.at(place); h.degree >= 0)
            visit(static_cast<std::size_t>(place), ComplexExpansion::place(h.degree, h.order), h,
                  scales.of({h.degree, h.order, false}));
}

} // namespace

bool has_periodic_tree(const SumProblem& problem) {
    const auto& period = problem.period;
    return period[0] > 0.0 && period[0] == period[1] && period[0] == period[2];
}

ImageGrid periodic_level(int coarse, int separation) {
    ImageGrid grid{.width = 1.0, .around_cells = true};
    grid.period = grid.extent = {1.0 * coarse, 1.0 * coarse, 1.0 * coarse};
    grid.cells = {coarse, coarse, coarse};
    grid.rim = {separation, separation, separation};
    return grid;
}

PeriodicCosts periodic_costs(const SumProblem& problem, int coarse, const ImageShape& shape) {
    auto hard = problem;
    hard.softening = 0.0;
    return {.harmonics = far_costs(hard, periodic_level(coarse, shape.separation), shape),
            .polynomials = soft_tree_costs(problem, shape)};
}

template <class T>
void FmmPasses<T>::translate_images() {
    const HarmonicBasis basis(images_->order(), numbers_a_line<T>);
    const HarmonicScales scales(basis.order());
    const auto& grid = images_->grid();
    const auto number_of = [&](const TreeCell& cell) {
        return grid.number_of({cell.index[0], cell.index[1], cell.index[2]});
    };
    const auto cells = static_cast<std::size_t>(tree_.level_begin(1));
    std::vector<ComplexExpansion> sent(cells);
    for (std::size_t n = 0; n < cells; ++n) {
        const T* const multipole = multipole_of(static_cast<std::int32_t>(n));
        if (multipole == nullptr) continue;
        sent[n] = ComplexExpansion(basis.order());
        each_function(basis, scales, [&](std::size_t place, std::size_t at, const Harmonic& h, double scale) {
            (h.sine ? sent[n].imag : sent[n].real)[at] =
                static_cast<double>(multipole[place]) / (std::numbers::sqrt2 * scale);
        });
        sent[n].mirror(basis.order());
    }
    parallel_for(threads_, static_cast<std::int64_t>(cells), [&](std::int64_t number) {
        const auto target = static_cast<std::int32_t>(number);
        if (stopped() || !share_.receives(target)) return;
        ComplexExpansion got(basis.order());
        for (std::size_t n = 0; n < cells; ++n)
            if (!sent[n].real.empty())
                images_->add(number_of(tree_.cell(target)),
                             number_of(tree_.cell(static_cast<std::int32_t>(n))), sent[n], got);
        T* const local = locals_.of(target);
        each_function(basis, scales, [&](std::size_t place, std::size_t at, const Harmonic& h, double scale) {
            const double factor = (h.order > 0 ? std::numbers::sqrt2 : std::sqrt(0.5)) / scale;
            local[place] += static_cast<T>(factor * (h.sine ? got.imag : got.real)[at]);
        });
        done(images_->work() / static_cast<double>(cells));
    });
}

template void FmmPasses<float>::translate_images();
template void FmmPasses<double>::translate_images();

} // namespace farfield
