// Translations along one axis, compiled once for each instruction set: numbers of one matrix row side by side
// in registers, some rows of the expansion at a time.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/gauss/boxes/box_tasks.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
constexpr std::int64_t lanes = Ops<V>::width;
constexpr int rows_at_once = vector_registers > 16 ? 8 : 4;

/// Columns from `column` on, as many as a register has, of rows [first, first + count).
template <int count>
FF_INLINE void add_columns(const BoxTranslateTask& task, std::int64_t first, std::int64_t column, double* out,
                           std::int64_t stride) {
    const auto p = static_cast<std::int64_t>(task.order), row = box_row(p);
    V sums[count];
    for (auto& sum : sums) sum = Ops<V>::set(0.0);
    for (std::int64_t i = 0; i < task.count; ++i) {
        const double* in = task.in[i] + first;
        const double* matrix = task.matrices[i] + column;
        for (std::int64_t n = 0; n < p; ++n, in += task.rows, matrix += row) {
            const V numbers = Ops<V>::load(matrix);
            for (int r = 0; r < count; ++r) sums[r] = Ops<V>::fma(Ops<V>::set(in[r]), numbers, sums[r]);
        }
    }
    for (int r = 0; r < count; ++r) Ops<V>::store(out + r * stride + column, sums[r]);
}

template <int count>
void translate_rows(const BoxTranslateTask& task, std::int64_t first) {
    constexpr std::int64_t stride = most_loop_order;
    alignas(64) double rows[count * stride];
    for (std::int64_t column = 0; column < task.order; column += lanes)
        add_columns<count>(task, first, column, rows, stride);
    for (int r = 0; r < count; ++r)
        std::copy_n(rows + r * stride, task.order, task.out + (first + r) * task.order);
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_box_translate)(const farfield::BoxTranslateTask* task) {
    using namespace farfield;
    std::int64_t first = 0;
    for (; first + rows_at_once <= task->rows; first += rows_at_once)
        translate_rows<rows_at_once>(*task, first);
    for (; first < task->rows; ++first) translate_rows<1>(*task, first);
}
