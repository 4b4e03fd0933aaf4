#include "sums/points/read.h"

#include "backend/threads/parallel.h"
#include "base/arrays.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace farfield {
namespace {

// False where a number is not finite.
bool copy_on(int threads, const ConstArrayView& view, std::int64_t rows, std::int64_t columns,
             RawVector<double>& out) {
    out.resize(static_cast<std::size_t>(rows * columns));
    std::atomic<bool> finite = true;
    parallel_parts(threads, static_cast<std::size_t>(rows), [&](std::size_t begin, std::size_t end) {
        const auto first = static_cast<std::int64_t>(begin);
        const auto count = static_cast<std::int64_t>(end) - first;
        double* const numbers = out.data() + first * columns;
        copy_to(numbers, rows_of(view, first, count), count, columns);
        if (!std::all_of(numbers, numbers + count * columns, [](double x) { return std::isfinite(x); }))
            finite = false;
    });
    return finite;
}

} // namespace

RawVector<double> copy_on(int threads, const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    RawVector<double> out;
    copy_on(threads, view, rows, columns, out);
    return out;
}

RawVector<double> read_points_on(int threads, const ConstArrayView& view, std::string_view what,
                                 int dimension) {
    check_points(view, what, dimension);
    require_host(view, what);
    RawVector<double> points;
    if (!copy_on(threads, view, view.shape[0], dimension, points))
        read_points(view, what, dimension); // names the first row
    return points;
}

void read_values_on(int threads, const ConstArrayView& view, std::int64_t n, std::string_view what,
                    RawVector<double>& values, int columns) {
    check_values(view, n, what, columns);
    require_host(view, what);
    if (!copy_on(threads, view, n, columns, values)) read_values(view, n, what, columns);
}

} // namespace farfield
