// Moments of clusters, compiled once for each instruction set: sources side by side in registers.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/gauss/clusters/cluster_tasks.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
constexpr int registers = 4; ///< of sources
using P = Pack<V, registers>;
constexpr std::ptrdiff_t lanes = Ops<V>::width;

/// Powers rise while coefficients are ordered by falling ones: places go from the last one down.
template <int D>
struct Moments {
    P a[D];
    double* place;

    /// Of the last `axes` axes, in which the degree is `degree` at most.
    template <int axes>
    FF_INLINE void add(P monomial, int degree) {
        for (int power = 0;; ++power) {
            if constexpr (axes > 1) {
                add<axes - 1>(monomial, degree - power);
            } else {
                place -= lanes;
                V sum = monomial.v[0];
                for (int n = 1; n < registers; ++n) sum = sum + monomial.v[n];
                Ops<V>::store(place, Ops<V>::load(place) + sum);
            }
            if (power == degree) return;
            monomial = monomial * a[D - axes];
        }
    }
};

template <int D>
void add_moments(const ClusterMomentTask& task) {
    const GaussTerm<V, registers> term(1.0);
    Moments<D> moments; // NOLINT(*-member-init): filled below
    alignas(64) double weight[registers * lanes];
    for (auto first = task.begin; first < task.end; first += registers * lanes) {
        const auto count = std::min<std::int64_t>(registers * lanes, task.end - first);
        P r2 = Ops<P>::set(0.0);
        for (int k = 0; k < D; ++k) {
            alignas(64) double x[registers * lanes];
            std::copy_n(task.x[k] + first, count, x);
            std::fill(x + count, x + registers * lanes, task.centre[k]);
            moments.a[k] = (Ops<P>::load(x) - Ops<P>::set(task.centre[k])) * Ops<P>::set(task.inverse_sigma);
            r2 = Ops<P>::fma(moments.a[k], moments.a[k], r2);
        }
        std::copy_n(task.strengths + first, count, weight);
        std::fill(weight + count, weight + registers * lanes, 0.0);
        moments.place = task.scratch + lanes * task.terms;
        moments.template add<D>(Ops<P>::load(weight) * term(r2), task.order - 1);
    }
}

template <int D>
void run(const ClusterMomentTask& task) {
    if constexpr (D > 1)
        if (task.dimension < D) return run<D - 1>(task);
    std::fill_n(task.scratch, task.terms * lanes, 0.0);
    add_moments<D>(task);
    for (std::int64_t n = 0; n < task.terms; ++n)
        task.moments[n] = Ops<V>::sum(Ops<V>::load(task.scratch + n * lanes));
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_cluster_moments)(const farfield::ClusterMomentTask* task) {
    farfield::run<farfield::most_dimensions>(*task);
}
