// Boxes' expansions from sources, compiled once for each instruction set: sources side by side in registers.
#include "sums/gauss/boxes/basis.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
constexpr int registers = 4; ///< of sources
using P = Pack<V, registers>;
using O = Ops<P>;
constexpr std::ptrdiff_t lanes = Ops<V>::width;

template <int D>
class BoxForm {
    const BoxFormTask& task_;
    P functions_[D][most_loop_order];
    double* place_;
    alignas(64) double x_[D][O::width], q_[O::width];
    int filled_ = 0;

    /// Of the last `axes` axes.
    template <int axes>
    FF_INLINE void add(const P& product) {
        const P* const along = functions_[D - axes];
        for (int n = 0; n < task_.order; ++n) {
            if constexpr (axes > 1) {
                add<axes - 1>(product * along[n]);
            } else {
                V sum = Ops<V>::load(place_);
                for (int i = 0; i < registers; ++i) sum = Ops<V>::fma(product.v[i], along[n].v[i], sum);
                Ops<V>::store(place_, sum);
                place_ += lanes;
            }
        }
    }

    void add_filled() {
        if (filled_ == 0) return;
        for (int k = 0; k < D; ++k) std::fill(x_[k] + filled_, x_[k] + O::width, task_.centre[k]);
        std::fill(q_ + filled_, q_ + O::width, 0.0);
        P r2 = O::set(0.0);
        for (int k = 0; k < D; ++k) {
            const P u = (O::load(x_[k]) - O::set(task_.centre[k])) * O::set(task_.inverse_sigma);
            r2 = O::fma(u, u, r2);
            if (task_.taylor)
                box_hermites(u, task_.order, *task_.roots, functions_[k]);
            else
                box_powers(u, task_.order, *task_.roots, functions_[k]);
        }
        P weight = O::load(q_);
        if (task_.taylor) weight = weight * GaussTerm<V, registers>(1.0)(r2);
        place_ = task_.scratch;
        add<D>(weight);
        filled_ = 0;
    }

public:
    explicit BoxForm(const BoxFormTask& task) // NOLINT(*-member-init): filled by run
        : task_(task), place_(task.scratch) {}

    void run() {
        std::fill_n(task_.scratch, task_.terms * lanes, 0.0);
        for (std::int64_t r = 0; r < task_.range_count; ++r)
            for (auto first = task_.ranges[r].begin; first < task_.ranges[r].end;) {
                const auto count = std::min<std::int32_t>(O::width - filled_, task_.ranges[r].end - first);
                for (int k = 0; k < D; ++k) std::copy_n(task_.x[k] + first, count, x_[k] + filled_);
                std::copy_n(task_.strengths + first, count, q_ + filled_);
                filled_ += count;
                first += count;
                if (filled_ == O::width) add_filled();
            }
        add_filled();
        for (std::int64_t n = 0; n < task_.terms; ++n)
            task_.expansion[n] += Ops<V>::sum(Ops<V>::load(task_.scratch + n * lanes));
    }
};

template <int D>
void run(const BoxFormTask& task) {
    if constexpr (D > 1)
        if (task.dimension < D) return run<D - 1>(task);
    BoxForm<D>(task).run();
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_box_form)(const farfield::BoxFormTask* task) {
    farfield::run<farfield::most_dimensions>(*task);
}
