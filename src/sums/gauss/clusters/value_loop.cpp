// Values and gradients of clusters' expansions, compiled once for each instruction set: targets side by side
// in registers, polynomials by Horner's rule along one axis after the other.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/gauss/clusters/cluster_tasks.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;

/// A polynomial in the last `axes` axes, and its derivatives along them.
template <class P, int axes, bool with_slopes>
struct Jet {
    P value;
    P slope[with_slopes ? axes : 1]; // NOLINT(bugprone-branch-clone): also of one axis
};

template <int D, int N, bool with_slopes>
struct Polynomial {
    using P = Pack<V, N>;
    using O = Ops<P>;
    P b[D];
    const double* next; ///< coefficient

    template <int axes>
    using JetOf = Jet<P, axes, with_slopes>;
    static constexpr int unrolled = 8; ///< rows of a polynomial in the last two axes

    /// The terms of total degree ≤ `degree`.
    FF_INLINE JetOf<1> row(int degree) {
        const P x = b[D - 1];
        JetOf<1> out; // NOLINT(*-member-init): filled here
        out.value = O::set(*next++);
        if constexpr (with_slopes) out.slope[0] = O::set(0.0);
        for (int n = 0; n < degree; ++n) {
            if constexpr (with_slopes) out.slope[0] = O::fma(out.slope[0], x, out.value);
            out.value = O::fma(out.value, x, O::set(*next++));
        }
        return out;
    }

    /// out·x + part, with x along the first of the axes of `out`.
    template <int axes>
    FF_INLINE void append(JetOf<axes>& out, const JetOf<axes - 1>& part) const {
        const P x = b[D - axes];
        if constexpr (with_slopes) {
            out.slope[0] = O::fma(out.slope[0], x, out.value);
            for (int k = 1; k < axes; ++k) out.slope[k] = O::fma(out.slope[k], x, part.slope[k - 1]);
        }
        out.value = O::fma(out.value, x, part.value);
    }
    template <int axes>
    FF_INLINE JetOf<axes> begun(const JetOf<axes - 1>& part) const {
        JetOf<axes> out; // NOLINT(*-member-init): filled here
        if constexpr (with_slopes) {
            out.slope[0] = O::set(0.0);
            for (int k = 1; k < axes; ++k) out.slope[k] = part.slope[k - 1];
        }
        out.value = part.value;
        return out;
    }

    /// Rows `first` to `degree` of the last two axes; the compiler knows the lengths of the first ones.
    template <int first>
    FF_INLINE void append_rows(JetOf<2>& out, int degree) {
        if constexpr (first < unrolled) {
            if (first > degree) return;
            append<2>(out, row(first));
            append_rows<first + 1>(out, degree);
        } else {
            for (int n = first; n <= degree; ++n) append<2>(out, row(n));
        }
    }

    template <int axes>
    FF_INLINE JetOf<axes> of(int degree) {
        if constexpr (axes == 1) {
            return row(degree);
        } else if constexpr (axes == 2) {
            auto out = begun<2>(row(0));
            append_rows<1>(out, degree);
            return out;
        } else {
            auto out = begun<axes>(of<axes - 1>(0));
            for (int n = 1; n <= degree; ++n) append<axes>(out, of<axes - 1>(n));
            return out;
        }
    }
};

template <int D, int N, bool with_gradient>
class ClusterValues {
    using P = Pack<V, N>;
    using O = Ops<P>;
    static constexpr int columns = with_gradient ? 1 + D : 1;
    const ClusterValueTask& task_;

    FF_INLINE void add(const ClusterExpansion& expansion, const P (&x)[D], P (&sums)[columns]) const {
        const GaussTerm<V, N> term(1.0);
        Polynomial<D, N, with_gradient> polynomial; // NOLINT(*-member-init): filled below
        polynomial.next = expansion.coefficients;
        P r2 = O::set(0.0);
        for (int k = 0; k < D; ++k) {
            polynomial.b[k] = (x[k] - O::set(expansion.centre[k])) * O::set(task_.inverse_sigma);
            r2 = O::fma(polynomial.b[k], polynomial.b[k], r2);
        }
        const auto jet = polynomial.template of<D>(expansion.order - 1);
        const P weight = term(r2);
        sums[0] = O::fma(weight, jet.value, sums[0]);
        for (int k = 1; k < columns; ++k)
            sums[k] = O::fma(weight, O::fnma(polynomial.b[k - 1], jet.value, jet.slope[k - 1]), sums[k]);
    }

    static void store(const P& sum, double factor, std::int64_t count, double* out) {
        alignas(64) double values[O::width];
        O::store(values, sum);
        for (std::int64_t lane = 0; lane < count; ++lane) out[lane] += factor * values[lane];
    }

public:
    static constexpr std::int64_t width = O::width;

    explicit ClusterValues(const ClusterValueTask& task) : task_(task) {}

    void run_group(std::int64_t first) const {
        P x[D];
        for (int k = 0; k < D; ++k) x[k] = O::load(task_.x[k] + first);
        P sums[columns];
        for (auto& sum : sums) sum = O::set(0.0);
        for (std::int64_t e = 0; e < task_.count; ++e) add(task_.expansions[e], x, sums);
        const auto count = std::min<std::int64_t>(width, task_.end - first);
        if (task_.potential != nullptr) store(sums[0], 1.0, count, task_.potential + first);
        for (int k = 1; k < columns; ++k)
            store(sums[k], task_.inverse_sigma, count, task_.gradient[k - 1] + first);
    }
};

template <int D, int N, bool with_gradient>
void run_values(const ClusterValueTask& task) {
    using Values = ClusterValues<D, N, with_gradient>;
    const Values values(task);
    for (auto first = task.begin; first < task.end; first += Values::width) values.run_group(first);
}

template <int D>
void run_values(const ClusterValueTask& task) {
    if constexpr (D > 1)
        if (task.dimension < D) return run_values<D - 1>(task);
    if (task.gradient[0] != nullptr)
        run_values<D, 2, true>(task);
    else
        run_values<D, 4, false>(task);
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_cluster_values)(const farfield::ClusterValueTask* task) {
    farfield::run_values<farfield::most_dimensions>(*task);
}
