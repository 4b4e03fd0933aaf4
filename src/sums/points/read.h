// Arrays of the caller as contiguous numbers, read by many threads.
#pragma once

#include "base/aligned.h"

#include <farfield/array.h>

#include <cstdint>
#include <string_view>

namespace farfield {

/// Row-major copy of a checked host view.
RawVector<double> copy_on(int threads, const ConstArrayView& view, std::int64_t rows, std::int64_t columns);

/// As those of base/arrays.h, with the same messages; `values` keeps its memory.
RawVector<double> read_points_on(int threads, const ConstArrayView& view, std::string_view what,
                                 int dimension = 3);
void read_values_on(int threads, const ConstArrayView& view, std::int64_t n, std::string_view what,
                    RawVector<double>& values, int columns = 1);

} // namespace farfield
