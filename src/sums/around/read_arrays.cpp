#include "sums/around/read_arrays.h"

#include "backend/cuda/host_copy.h"
#include "base/arrays.h"
#include "base/machine.h"
#include "sums/kernels/exact.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {

int dimension_of(const ConstArrayView& points) {
    return static_cast<int>(
        std::clamp<std::int64_t>(points.ndim == 2 ? points.shape[1] : 1, 1, most_dimensions));
}

std::vector<double> read_rows(const ConstArrayView& points, int dimension, std::string_view what) {
    check_points(points, what, dimension);
    auto out = cuda::host_copy(points, points.shape[0], dimension);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!std::isfinite(out[i])) refuse_coordinate(what, static_cast<std::int64_t>(i), out[i], dimension);
    return out;
}

std::vector<double> read_numbers(const ConstArrayView& values, std::int64_t rows, std::string_view what,
                                 int columns) {
    check_values(values, rows, what, columns);
    auto out = cuda::host_copy(values, rows, columns);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!std::isfinite(out[i])) refuse_strength(what, static_cast<std::int64_t>(i) / columns, out[i]);
    return out;
}

void require_memory(double bytes, std::string_view what) {
    const auto memory = static_cast<double>(physical_memory());
    if (bytes > memory)
        throw InvalidArgument(fmt::format("the {} needs {:.1f} GiB of memory, and this machine has {:.1f}; "
                                          "use fewer points or targets",
                                          what, bytes / 0x1p30, memory / 0x1p30));
}

} // namespace farfield
