// Complex expansions from cell to cell: a real matrix times real and imaginary parts, with diagonal factors
// before and behind. Rows of the matrix lie in lanes.
#include "backend/simd/value.h"
#include "sums/expansions/laurent_loops.h"

#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
using O = Ops<V>;
constexpr int most_vectors = vector_registers > 16 ? 4 : 2; ///< of rows, in registers

template <int Sets>
class LaurentShifts {
    const LaurentShiftTask& task_;
    alignas(64) double x_[2 * Sets][most_laurent_size]; ///< D_in x: parts of each set

    [[nodiscard]] FF_INLINE static int padded(int count) {
        return (count + O::width - 1) / O::width * O::width;
    }

    void multiply_in(const LaurentShift& shift, const double* source) {
        for (int set = 0; set < Sets; ++set) {
            const double* re = source + task_.size * 2 * set;
            const double* im = re + task_.size;
            for (int k = 0; k < shift.columns; k += O::width) {
                const V a = O::load(re + k), b = O::load(im + k);
                const V c = O::load(shift.in[0] + k), d = O::load(shift.in[1] + k);
                O::store(x_[2 * set] + k, O::fnma(b, d, a * c));
                O::store(x_[2 * set + 1] + k, O::fma(b, c, a * d));
            }
        }
    }

    template <int Vectors>
    FF_INLINE void add_rows(const LaurentShift& shift, int row) const {
        V sum[Vectors][2 * Sets];
        for (auto& of_vector : sum)
            for (auto& part : of_vector) part = O::set(0.0);
        const double* column = shift.matrix + row;
        for (int k = 0; k < shift.columns; ++k, column += task_.size) {
            V h[Vectors];
            for (int v = 0; v < Vectors; ++v) h[v] = O::load(column + v * std::ptrdiff_t{O::width});
            for (int part = 0; part < 2 * Sets; ++part) {
                const V x = O::set(x_[part][k]);
                for (int v = 0; v < Vectors; ++v) sum[v][part] = O::fma(h[v], x, sum[v][part]);
            }
        }
        for (int v = 0; v < Vectors; ++v) {
            const std::ptrdiff_t at = row + v * std::ptrdiff_t{O::width};
            const V c = O::load(shift.out[0] + at), d = O::load(shift.out[1] + at);
            for (int set = 0; set < Sets; ++set) {
                double* re = task_.expansion + task_.size * 2 * set + at;
                double* im = re + task_.size;
                const V a = sum[v][2 * set], b = sum[v][2 * set + 1];
                O::store(re, O::fma(a, c, O::fnma(b, d, O::load(re))));
                O::store(im, O::fma(a, d, O::fma(b, c, O::load(im))));
            }
        }
    }

    void multiply(const LaurentShift& shift) const {
        const int rows = padded(shift.rows);
        int row = 0;
        for (; row + most_vectors * O::width <= rows; row += most_vectors * O::width)
            add_rows<most_vectors>(shift, row);
        if constexpr (most_vectors > 2)
            for (; row + 2 * O::width <= rows; row += 2 * O::width) add_rows<2>(shift, row);
        for (; row < rows; row += O::width) add_rows<1>(shift, row);
    }

    void add_constants(const LaurentShift& shift, const double* source, const double* constants) const {
        for (int set = 0; set < Sets; ++set) {
            V re = O::set(0.0), im = O::set(0.0);
            for (int k = 0; k < shift.columns; k += O::width) {
                const V weight = O::load(shift.row + k);
                re = O::fma(weight, O::load(x_[2 * set] + k), re);
                im = O::fma(weight, O::load(x_[2 * set + 1] + k), im);
            }
            double sum = shift.factor[0] * O::sum(re) - shift.factor[1] * O::sum(im);
            if (shift.has_logarithm)
                sum += source[task_.size * 2 * set] * (shift.log_distance + task_.log_width);
            if (constants != nullptr) sum += constants[set];
            task_.constants[set] += sum;
        }
    }

public:
    explicit LaurentShifts(const LaurentShiftTask& task) : task_(task) {} // NOLINT(*-member-init)

    void run() {
        for (std::int64_t n = 0; n < task_.count; ++n) {
            const auto& shift = *task_.shifts[n];
            multiply_in(shift, task_.sources[n]);
            multiply(shift);
            if (shift.row != nullptr && task_.constants != nullptr)
                add_constants(shift, task_.sources[n],
                              task_.source_constants != nullptr ? task_.source_constants[n] : nullptr);
        }
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_laurent_shift)(const farfield::LaurentShiftTask* task) {
    if (task->sets == 2)
        farfield::LaurentShifts<2>(*task).run();
    else
        farfield::LaurentShifts<1>(*task).run();
}
