// Values and gradients of boxes' expansions, compiled once for each instruction set: targets side by side in
// registers, one axis summed up after the other from the last one on.
#include "sums/gauss/boxes/basis.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
constexpr int registers = 2; ///< of targets
using P = Pack<V, registers>;
using O = Ops<P>;

/// A sum over the last `axes` axes, and its slopes along them.
template <int axes, bool with_slopes>
struct Jet {
    P value;
    P slope[with_slopes ? axes : 1]; // NOLINT(bugprone-branch-clone): also of one axis
};

template <int D, bool with_gradient>
class BoxValues {
    static constexpr int columns = with_gradient ? 1 + D : 1;
    static constexpr int rows_at_once = with_gradient ? 2 : 4; ///< of the last axis: as registers allow
    template <int axes>
    using JetOf = Jet<axes, with_gradient>;

    const BoxValueTask& task_;
    P functions_[D][most_loop_order + 1];
    P slopes_[with_gradient ? D : 1][most_loop_order]; // NOLINT(bugprone-branch-clone)
    const double* next_ = nullptr;                     ///< number of the expansion

    template <int axes>
    FF_INLINE static JetOf<axes> zero() {
        JetOf<axes> out; // NOLINT(*-member-init): filled here
        out.value = O::set(0.0);
        if constexpr (with_gradient)
            for (int k = 0; k < axes; ++k) out.slope[k] = O::set(0.0);
        return out;
    }

    /// Rows of the last axis.
    template <int count>
    FF_INLINE void add_rows(JetOf<1> (&rows)[count]) {
        const auto p = static_cast<std::ptrdiff_t>(task_.order);
        for (auto& row : rows) row = zero<1>();
        for (std::ptrdiff_t n = 0; n < p; ++n)
            for (int r = 0; r < count; ++r) {
                const P number = O::set(next_[r * p + n]);
                rows[r].value = O::fma(number, functions_[D - 1][n], rows[r].value);
                if constexpr (with_gradient)
                    rows[r].slope[0] = O::fma(number, slopes_[D - 1][n], rows[r].slope[0]);
            }
        next_ += count * p;
    }

    /// out += part times function n of the first of the axes of `out`.
    template <int axes>
    FF_INLINE void append(JetOf<axes>& out, const JetOf<axes - 1>& part, int n) const {
        const P along = functions_[D - axes][n];
        if constexpr (with_gradient) {
            out.slope[0] = O::fma(part.value, slopes_[D - axes][n], out.slope[0]);
            for (int k = 1; k < axes; ++k) out.slope[k] = O::fma(part.slope[k - 1], along, out.slope[k]);
        }
        out.value = O::fma(part.value, along, out.value);
    }

    template <int axes>
    FF_INLINE JetOf<axes> sum() {
        if constexpr (axes == 1) {
            JetOf<1> rows[1];
            add_rows(rows);
            return rows[0];
        } else {
            auto out = zero<axes>();
            int n = 0;
            if constexpr (axes == 2)
                for (; n + rows_at_once <= task_.order; n += rows_at_once) {
                    JetOf<1> rows[rows_at_once];
                    add_rows(rows);
                    for (int r = 0; r < rows_at_once; ++r) append<2>(out, rows[r], n + r);
                }
            for (; n < task_.order; ++n) append<axes>(out, sum<axes - 1>(), n);
            return out;
        }
    }

    void set_functions(const P& v, int k, bool taylor) {
        P* const functions = functions_[k];
        if (taylor)
            box_powers(v, task_.order, *task_.roots, functions);
        else
            box_hermites(v, task_.order + (with_gradient ? 1 : 0), *task_.roots, functions);
        if constexpr (with_gradient)
            for (int n = 0; n < task_.order; ++n) {
                const P root = O::set(task_.roots->root[taylor ? n : n + 1]);
                const P zero = O::set(0.0);
                slopes_[k][n] =
                    taylor ? (n > 0 ? root * functions[n - 1] : zero) : O::fnma(root, functions[n + 1], zero);
            }
    }

    FF_INLINE void add(const BoxExpansion& expansion, const P (&x)[D], P (&sums)[columns]) {
        P r2 = O::set(0.0);
        for (int k = 0; k < D; ++k) {
            const P v = (x[k] - O::set(expansion.centre[k])) * O::set(task_.inverse_sigma);
            r2 = O::fma(v, v, r2);
            set_functions(v, k, expansion.taylor);
        }
        next_ = expansion.numbers;
        const auto jet = sum<D>();
        const P weight = expansion.taylor ? O::set(1.0) : GaussTerm<V, registers>(1.0)(r2);
        sums[0] = O::fma(weight, jet.value, sums[0]);
        for (int k = 1; k < columns; ++k) sums[k] = O::fma(weight, jet.slope[k - 1], sums[k]);
    }

    static void store(const P& sum, double factor, std::int64_t count, double* out) {
        alignas(64) double values[O::width];
        O::store(values, sum);
        for (std::int64_t lane = 0; lane < count; ++lane) out[lane] += factor * values[lane];
    }

    void run_group(std::int64_t first) {
        P x[D];
        for (int k = 0; k < D; ++k) x[k] = O::load(task_.x[k] + first);
        P sums[columns];
        for (auto& sum : sums) sum = O::set(0.0);
        for (std::int64_t e = 0; e < task_.count; ++e) add(task_.expansions[e], x, sums);
        const auto count = std::min<std::int64_t>(O::width, task_.end - first);
        if (task_.potential != nullptr) store(sums[0], 1.0, count, task_.potential + first);
        for (int k = 1; k < columns; ++k)
            store(sums[k], task_.inverse_sigma, count, task_.gradient[k - 1] + first);
    }

public:
    explicit BoxValues(const BoxValueTask& task) : task_(task) {} // NOLINT(*-member-init): filled by run

    void run() {
        for (auto first = task_.begin; first < task_.end; first += O::width) run_group(first);
    }
};

template <int D>
void run(const BoxValueTask& task) {
    if constexpr (D > 1)
        if (task.dimension < D) return run<D - 1>(task);
    if (task.gradient[0] != nullptr)
        BoxValues<D, true>(task).run();
    else
        BoxValues<D, false>(task).run();
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_box_values)(const farfield::BoxValueTask* task) {
    farfield::run<farfield::most_dimensions>(*task);
}
