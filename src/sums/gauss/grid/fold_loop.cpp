// Folds lines of a grid with a short symmetric row of taps, compiled once for each instruction set.
#include "backend/simd/value.h"
#include "sums/gauss/grid/grid_tasks.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
using O = Ops<V>;
constexpr std::ptrdiff_t lanes = O::width;

/// Numbers [at, at + N vectors) of the folded lines; neighbours lie `step` apart.
template <int N>
FF_INLINE void fold(const GridFoldTask& task, const double* at, std::int64_t step, double* out) {
    V sum[N];
    for (int n = 0; n < N; ++n) sum[n] = O::set(task.taps[0]) * O::load(at + n * lanes);
    for (std::int64_t j = 1; j <= task.reach; ++j) {
        const V tap = O::set(task.taps[j]);
        const double* up = at + j * step;
        const double* down = at - j * step;
        for (int n = 0; n < N; ++n)
            sum[n] = O::fma(tap, O::load(up + n * lanes) + O::load(down + n * lanes), sum[n]);
    }
    for (int n = 0; n < N; ++n) O::store(out + n * lanes, sum[n]);
}

void fold_one_line(const GridFoldTask& task) {
    double* line = task.scratch + task.reach;
    std::fill_n(task.scratch, task.reach, 0.0);
    std::copy_n(task.first, task.length, line);
    std::fill_n(line + task.length, task.reach + grid_lines, 0.0);
    std::int64_t at = 0;
    for (; at + 4 * lanes <= task.length; at += 4 * lanes) fold<4>(task, line + at, 1, task.first + at);
    alignas(64) double last[lanes];
    for (; at < task.length; at += lanes) {
        fold<1>(task, line + at, 1, last);
        std::copy_n(last, std::min<std::int64_t>(lanes, task.length - at), task.first + at);
    }
}

void fold_lines(const GridFoldTask& task) {
    const std::int64_t margin = task.reach * grid_lines;
    double* lines = task.scratch + margin;
    std::fill_n(task.scratch, margin, 0.0);
    for (std::int64_t i = 0; i < task.length; ++i)
        std::copy_n(task.first + i * task.stride, task.lines, lines + i * grid_lines);
    std::fill_n(lines + task.length * grid_lines, margin, 0.0);
    for (std::int64_t i = 0; i < task.length; ++i) {
        const double* at = lines + i * grid_lines;
        double* out = task.first + i * task.stride;
        std::int64_t first = 0;
        for (; first + 4 * lanes <= task.lines; first += 4 * lanes)
            fold<4>(task, at + first, grid_lines, out + first);
        for (; first < task.lines; first += lanes) fold<1>(task, at + first, grid_lines, out + first);
    }
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_grid_fold)(const farfield::GridFoldTask* task) {
    if (task->stride == 1)
        farfield::fold_one_line(*task);
    else
        farfield::fold_lines(*task);
}
