// The caller's arrays, of the host or of a GPU, on the host: checked, contiguous and finite.
#pragma once

#include <farfield/array.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace farfield {

/// False for an array that the caller left out.
inline bool is_there(const ConstArrayView& view) { return view.ndim > 0; }

/// The columns of points that a sum of Gaussians may take; of others one that `read_rows` refuses.
int dimension_of(const ConstArrayView& points);

/// @throws InvalidArgument for a wrong shape and a coordinate that is not finite (names the row).
std::vector<double> read_rows(const ConstArrayView& points, int dimension, std::string_view what);

/// @throws InvalidArgument for a wrong shape and a number that is not finite (names the row).
std::vector<double> read_numbers(const ConstArrayView& values, std::int64_t rows, std::string_view what,
                                 int columns);

/// @throws InvalidArgument where this machine has not as many bytes.
void require_memory(double bytes, std::string_view what);

} // namespace farfield
