// Complex expansions of points: powers of all points of a batch side by side, sums over lanes at the end.
#include "backend/simd/value.h"
#if !defined(FF_ISA_SCALAR)
#include "backend/simd/portable_lanes.h"
#endif
#include "sums/expansions/laurent_loops.h"
#include "sums/kernels/logarithm.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
using O = Ops<V>;
constexpr int chains = 4; ///< vectors of points at a time

/// What a strength is made of: a real number, a complex one, or two real ones with an expansion each.
enum class Strength { real, complex, two };

template <Strength Kind>
class LaurentForm {
    static constexpr int sets = Kind == Strength::two ? 2 : 1;
    static constexpr int batch = chains * O::width;
    const LaurentFormTask& task_;
    V sums_[most_laurent_size][2 * sets]; ///< of lanes
    double constants_[2] = {0.0, 0.0};

    struct Batch {
        V re[chains], im[chains]; ///< a power, times a strength unless there are two
        V step_re[chains], step_im[chains];
        V strength[2][chains];
    };

    // Points [first, first + batch) as powers of degree 0 (of points outside −1) and the factor to the next.
    FF_INLINE void load(std::int64_t first, Batch& out) {
        alignas(64) double u[2][batch];
        alignas(64) double q[2][batch];
        const auto count = std::min<std::int64_t>(batch, task_.points.count - first);
        const double inverse = 1.0 / task_.cell.width;
        for (std::int64_t i = 0; i < batch; ++i) {
            const bool any = i < count; // others are anywhere, of no strength
            u[0][i] = any ? (task_.points.x[first + i] - task_.cell.x) * inverse : 1.0;
            u[1][i] = any ? (task_.points.y[first + i] - task_.cell.y) * inverse : 0.0;
            q[0][i] = any ? task_.strengths[0][first + i] : 0.0;
            if constexpr (Kind != Strength::real) q[1][i] = any ? task_.strengths[1][first + i] : 0.0;
        }
        for (int c = 0; c < chains; ++c) {
            const std::ptrdiff_t at = c * std::ptrdiff_t{O::width};
            V re = O::load(u[0] + at);
            V im = O::load(u[1] + at);
            for (int k = 0; k < (Kind == Strength::real ? 1 : 2); ++k)
                out.strength[k][c] = O::load(q[k] + at);
            out.re[c] = O::set(1.0);
            out.im[c] = O::set(0.0);
            if (task_.outside) turn_out(re, im, c, out);
            out.step_re[c] = re;
            out.step_im[c] = im;
            if constexpr (Kind == Strength::real) {
                out.re[c] = out.re[c] * out.strength[0][c];
                out.im[c] = out.im[c] * out.strength[0][c];
            }
            if constexpr (Kind == Strength::complex) {
                const V a = out.re[c], b = out.im[c];
                out.re[c] = O::fnma(b, out.strength[1][c], a * out.strength[0][c]);
                out.im[c] = O::fma(b, out.strength[0][c], a * out.strength[1][c]);
            }
        }
    }

    // From u to 1/u, which is both the step and, but for its sign, the first power; and the logarithms.
    FF_INLINE void turn_out(V& re, V& im, int c, Batch& out) {
        const V r2 = O::fma(re, re, im * im);
        const auto terms = PlaneLogarithm<1>::of_value<true>(r2);
        const V inverse2 = terms.weight * O::set(1.0 / 16.0);
        re = re * inverse2;
        im = O::set(0.0) - im * inverse2;
        out.re[c] = O::set(0.0) - re;
        out.im[c] = O::set(0.0) - im;
        if (task_.constants == nullptr) return;
        const V log_r = O::fma(terms.potential, O::set(0.5), O::set(task_.cell.log_width));
        for (int set = 0; set < sets; ++set) constants_[set] += O::sum(out.strength[set][c] * log_r);
    }

    FF_INLINE void add_power(const Batch& of, V* sums) const {
        for (int c = 0; c < chains; ++c) {
            if constexpr (Kind == Strength::two) {
                for (std::ptrdiff_t set = 0; set < 2; ++set) {
                    sums[2 * set] = O::fma(of.strength[set][c], of.re[c], sums[2 * set]);
                    sums[2 * set + 1] = O::fma(of.strength[set][c], of.im[c], sums[2 * set + 1]);
                }
            } else {
                sums[0] = sums[0] + of.re[c];
                sums[1] = sums[1] + of.im[c];
            }
        }
    }

    FF_INLINE static void step(Batch& of) {
        for (int c = 0; c < chains; ++c) {
            const V re = O::fnma(of.im[c], of.step_im[c], of.re[c] * of.step_re[c]);
            of.im[c] = O::fma(of.im[c], of.step_re[c], of.re[c] * of.step_im[c]);
            of.re[c] = re;
        }
    }

    void add_to_expansion() {
        for (int first = 0; first <= task_.cell.order; first += O::width)
            for (int part = 0; part < 2 * sets; ++part) {
                V lanes[O::width];
                for (int k = 0; k < O::width; ++k) lanes[k] = sums_[first + k][part];
                O::transpose(lanes);
                V sum = lanes[0];
                for (int k = 1; k < O::width; ++k) sum = sum + lanes[k];
                double* out = task_.expansion + task_.cell.size * part + first;
                O::store(out, O::load(out) + sum);
            }
    }

public:
    explicit LaurentForm(const LaurentFormTask& task) : task_(task) { // NOLINT(*-member-init)
        for (std::int64_t k = 0; k < task.cell.size; ++k)
            for (auto& part : sums_[k]) part = O::set(0.0);
    }

    void run() {
        for (std::int64_t first = 0; first < task_.points.count; first += batch) {
            Batch points; // NOLINT(*-member-init): filled below
            load(first, points);
            for (int k = 0; k <= task_.cell.order; ++k) {
                V sums[2 * sets];
                for (int part = 0; part < 2 * sets; ++part) sums[part] = sums_[k][part];
                add_power(points, sums);
                for (int part = 0; part < 2 * sets; ++part) sums_[k][part] = sums[part];
                step(points);
            }
        }
        add_to_expansion();
        if (task_.constants == nullptr) return;
        for (int set = 0; set < sets; ++set) task_.constants[set] += constants_[set];
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_laurent_form)(const farfield::LaurentFormTask* task) {
    using farfield::Strength;
    if (task->cell.sets == 2)
        farfield::LaurentForm<Strength::two>(*task).run();
    else if (task->strengths[1] != nullptr)
        farfield::LaurentForm<Strength::complex>(*task).run();
    else
        farfield::LaurentForm<Strength::real>(*task).run();
}
