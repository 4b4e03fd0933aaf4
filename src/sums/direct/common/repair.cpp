#include "sums/direct/common/repair.h"

#include "base/spelling.h"
#include "sums/direct/common/in_turn.h"
#include "sums/kernels/inverse_distance_wide.h"
#include "sums/method/refuse.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace farfield {
namespace {

struct Row {
    std::int64_t index = 0;
    std::int64_t skipped = 0;
    std::int64_t coincident_with = -1; ///< the first such source
};

bool is_finite(const double* rows, std::int64_t width, std::int64_t i) {
    if (rows == nullptr) return true;
    return std::all_of(rows + width * i, rows + width * (i + 1),
                       [](double value) { return std::isfinite(value); });
}

bool is_finite_row(const RepairTask& task, std::int64_t i) {
    return is_finite(task.potential, 1, i) && is_finite(task.field, 3, i) && is_finite(task.hessian, 6, i);
}

void compute_row(const RepairTask& task, Row& row) {
    const double* x = task.target_points + 3 * row.index;
    WideSums sums;
    for (std::int64_t j = 0; j < task.sources; ++j) {
        if (task.self && j == row.index) continue;
        const double* y = task.source_points + 3 * j;
        const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        const WideRange pair(d, task.softening);
        if (pair.r == 0.0) {
            if (row.coincident_with < 0) row.coincident_with = j;
            ++row.skipped;
            continue;
        }
        const double q = task.sign * std::ldexp(task.strengths[j], -task.strength_exponent);
        sums.add(pair, d, q, -task.frame_exponent);
        if (task.dipoles == nullptr) continue;
        double p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = task.sign *
                   std::ldexp(task.dipoles[3 * j + k], -task.strength_exponent - task.frame_exponent);
        sums.add_dipole(pair, d, p, -task.frame_exponent);
    }
    if (task.potential != nullptr) task.potential[row.index] = sums.potential;
    if (task.field != nullptr) std::copy(sums.field, sums.field + 3, task.field + 3 * row.index);
    if (task.hessian != nullptr) std::copy(sums.hessian, sums.hessian + 6, task.hessian + 6 * row.index);
}

} // namespace

std::int64_t repair_rows(const RepairTask& task) {
    std::vector<Row> rows;
    for (std::int64_t i = 0; i < task.targets; ++i)
        if (!is_finite_row(task, i)) rows.push_back({.index = i});
    std::int64_t skipped = 0;
    in_turn(
        task.threads, rows.size(), [&](std::size_t k) { compute_row(task, rows[k]); },
        [&](std::size_t k) {
            if (task.stop_requested && task.stop_requested())
                throw Interrupted("the sum was given up before its end");
            const auto& row = rows[k];
            if (row.coincident_with >= 0 && task.coincident == Coincident::error)
                refuse_coincident(task.self, task.first_target + row.index, row.coincident_with,
                                  task.precision == Precision::float32);
            if (!is_finite_row(task, row.index))
                throw InvalidArgument(fmt::format(
                    "row {} of the result is not finite: a pair is so close, or a strength so large, "
                    "that the sum leaves the range of a double; set {} > 0 or rescale the input",
                    task.first_target + row.index, spelled("softening")));
            skipped += row.skipped;
        });
    return skipped;
}

} // namespace farfield
