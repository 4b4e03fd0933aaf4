// Values of complex expansions at points, by Horner's rule with points in lanes.
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
constexpr int chains = 2; ///< vectors of points at a time

/// One polynomial: real and imaginary parts of its coefficients, from the lowest.
struct Polynomial {
    alignas(64) double re[most_laurent_size];
    alignas(64) double im[most_laurent_size];
};

struct ComplexValues {
    V re[chains], im[chains];
};

template <bool WithPotential, bool WithField, int Sets>
class LaurentValues {
    static constexpr int batch = chains * O::width;
    const LaurentValueTask& task_;
    Polynomial field_;           ///< h w, or outside h w u
    Polynomial potential_[Sets]; ///< (F − what has no power)/u, or outside times u
    int terms_;                  ///< of all of them

    void prepare() { // NOLINT(*-member-init)
        const auto& cell = task_.cell;
        for (int k = 0; k < terms_; ++k) {
            const double* at = task_.expansion + k;
            const double* second = at + cell.size * 2 * (Sets - 1); // of the second set, if there is one
            field_.re[k] = at[0] - (Sets == 2 ? second[cell.size] : 0.0);
            field_.im[k] = at[cell.size] + (Sets == 2 ? second[0] : 0.0);
            for (int set = 0; set < Sets && WithPotential; ++set) {
                const double* of_set = task_.expansion + cell.size * 2 * set;
                const bool any = !task_.outside || k < cell.order;
                const int from = task_.outside ? k + 1 : k;
                const double factor = (task_.outside ? -1.0 : 1.0) / (k + 1);
                potential_[set].re[k] = any ? factor * of_set[from] : 0.0;
                potential_[set].im[k] = any ? factor * of_set[cell.size + from] : 0.0;
            }
        }
    }

    FF_INLINE ComplexValues horner_start(const Polynomial& of) const {
        ComplexValues out; // NOLINT(*-member-init): filled below
        for (int c = 0; c < chains; ++c) {
            out.re[c] = O::set(of.re[terms_ - 1]);
            out.im[c] = O::set(of.im[terms_ - 1]);
        }
        return out;
    }

    // value·u + coefficient k
    FF_INLINE static void horner_step(const Polynomial& of, int k, const ComplexValues& u,
                                      ComplexValues& value) {
        const V re = O::set(of.re[k]);
        const V im = O::set(of.im[k]);
        for (int c = 0; c < chains; ++c) {
            const V a = O::fma(value.re[c], u.re[c], O::fnma(value.im[c], u.im[c], re));
            value.im[c] = O::fma(value.re[c], u.im[c], O::fma(value.im[c], u.re[c], im));
            value.re[c] = a;
        }
    }

    struct Results {
        alignas(64) double potential[2][batch];
        alignas(64) double field[2][batch];
    };

    void evaluate(std::int64_t first, std::int64_t count, Results& out) const {
        alignas(64) double u[2][batch];
        const double inverse = 1.0 / task_.cell.width;
        for (std::int64_t i = 0; i < batch; ++i) {
            const bool any = i < count; // others are anywhere
            u[0][i] = any ? (task_.points.x[first + i] - task_.cell.x) * inverse : 0.5;
            u[1][i] = any ? (task_.points.y[first + i] - task_.cell.y) * inverse : 0.0;
        }
        ComplexValues z; // NOLINT(*-member-init): filled below
        V log_r[chains];
        for (int c = 0; c < chains; ++c) {
            z.re[c] = O::load(u[0] + c * std::ptrdiff_t{O::width});
            z.im[c] = O::load(u[1] + c * std::ptrdiff_t{O::width});
            log_r[c] = O::set(0.0);
            if (!task_.outside) continue;
            const auto terms = PlaneLogarithm<1>::of_value<true>(O::fma(z.re[c], z.re[c], z.im[c] * z.im[c]));
            const V inverse2 = terms.weight * O::set(1.0 / 16.0);
            z.re[c] = z.re[c] * inverse2;
            z.im[c] = O::set(0.0) - z.im[c] * inverse2;
            log_r[c] = O::fma(terms.potential, O::set(0.5), O::set(task_.cell.log_width));
        }
        auto field = horner_start(field_);
        ComplexValues potential[Sets];
        for (int set = 0; set < Sets; ++set)
            potential[set] = horner_start(WithPotential ? potential_[set] : field_);
        for (int k = terms_ - 2; k >= 0; --k) {
            if constexpr (WithField) horner_step(field_, k, z, field);
            if constexpr (WithPotential)
                for (int set = 0; set < Sets; ++set) horner_step(potential_[set], k, z, potential[set]);
        }
        store(z, log_r, inverse, field, potential, out);
    }

    FF_INLINE void store(const ComplexValues& z, const V* log_r, double inverse, const ComplexValues& field,
                         const ComplexValues* potential, Results& out) const {
        for (int c = 0; c < chains; ++c) {
            const std::ptrdiff_t at = c * std::ptrdiff_t{O::width};
            if constexpr (WithField) {
                V re = field.re[c];
                V im = field.im[c];
                if (task_.outside) {
                    const V turned = O::fnma(im, z.im[c], re * z.re[c]);
                    im = O::fma(im, z.re[c], re * z.im[c]);
                    re = turned;
                }
                O::store(out.field[0] + at, re * O::set(inverse));
                O::store(out.field[1] + at, im * O::set(-inverse));
            }
            for (int set = 0; set < Sets && WithPotential; ++set) {
                const double* of_set = task_.expansion + task_.cell.size * 2 * set;
                const V constant =
                    task_.outside ? O::set(of_set[0]) * log_r[c] : O::set(task_.constants[set]);
                const V value =
                    O::fma(potential[set].re[c], z.re[c], O::fnma(potential[set].im[c], z.im[c], constant));
                O::store(out.potential[set] + at, value);
            }
        }
    }

public:
    explicit LaurentValues(const LaurentValueTask& task) // NOLINT(*-member-init): in prepare
        : task_(task), terms_(task.cell.order + 1) {
        prepare();
    }

    void run() const {
        for (std::int64_t first = 0; first < task_.points.count; first += batch) {
            const auto count = std::min<std::int64_t>(batch, task_.points.count - first);
            Results out; // NOLINT(*-member-init): filled below
            evaluate(first, count, out);
            for (int set = 0; set < Sets && WithPotential; ++set)
                for (std::int64_t i = 0; i < count; ++i)
                    task_.potential[set][first + i] += out.potential[set][i];
            for (int axis = 0; axis < 2 && WithField; ++axis)
                for (std::int64_t i = 0; i < count; ++i) task_.field[axis][first + i] += out.field[axis][i];
        }
    }
};

template <int Sets>
void laurent_values(const LaurentValueTask& task) {
    const bool potential = task.potential[0] != nullptr;
    const bool field = task.field[0] != nullptr;
    if (potential && field) return LaurentValues<true, true, Sets>(task).run();
    if (potential) return LaurentValues<true, false, Sets>(task).run();
    if (field) LaurentValues<false, true, Sets>(task).run();
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_laurent_value)(const farfield::LaurentValueTask* task) {
    if (task->cell.sets == 2)
        farfield::laurent_values<2>(*task);
    else
        farfield::laurent_values<1>(*task);
}
