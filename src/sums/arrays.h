// Between the caller's arrays (any strides, float or double) and contiguous double arrays: checks that name
// the array, the row and the remedy, and copies.
#pragma once

#include <farfield/array.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace farfield {

/// Copies an N×3 array. `what` names it in messages ("sources").
/// @throws InvalidArgument for a wrong shape, a missing pointer, memory on a device, a value that is not
/// finite.
std::vector<double> read_points(const ConstArrayView& view, std::string_view what);

/// Copies an array of `n` values, shape {n} or {n, 1}. @throws as `read_points`.
std::vector<double> read_values(const ConstArrayView& view, std::int64_t n, std::string_view what);

/// Checks that `view` can take rows×columns values (columns == 1: shape {rows} or {rows, 1}).
/// @throws InvalidArgument.
void check_output(const ArrayView& view, std::int64_t rows, std::int64_t columns, std::string_view what);

/// Writes row-major rows×columns values into a checked view.
void write_values(const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns);

} // namespace farfield
