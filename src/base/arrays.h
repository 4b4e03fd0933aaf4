// Between the caller's arrays (any strides, float or double) and contiguous double arrays: checks that name
// the array, the row and the remedy, and copies.
#pragma once

#include <farfield/array.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace farfield {

/// Checks shape, type and pointer of an N×`dimension` array, wherever it lives. `what` names it in messages
/// ("sources").
/// @throws InvalidArgument.
void check_points(const ConstArrayView& view, std::string_view what, int dimension = 3);

/// The same for `n` strengths of `columns` numbers, shape {n, columns}, or {n} for one column.
void check_values(const ConstArrayView& view, std::int64_t n, std::string_view what, int columns = 1);

/// @throws InvalidArgument that names row and coordinate `flat` of a row-major N×`dimension` array.
[[noreturn]] void refuse_coordinate(std::string_view what, std::int64_t flat, double value,
                                    int dimension = 3);

/// @throws InvalidArgument that names the row of a strength.
[[noreturn]] void refuse_strength(std::string_view what, std::int64_t row, double value);

/// Some rows of a view.
template <class View>
View rows_of(View view, std::int64_t first, std::int64_t rows) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>,
                                    const std::byte, std::byte>;
    const std::int64_t bytes = view.dtype == DType::float32 ? 4 : 8;
    view.data = static_cast<Byte*>(view.data) + first * view.strides[0] * bytes;
    view.shape[0] = rows;
    return view;
}

/// True where rows×columns elements lie one after the other.
template <class View>
bool is_contiguous(const View& view, std::int64_t rows, std::int64_t columns) {
    return (columns == 1 || view.strides[1] == 1) && (rows <= 1 || view.strides[0] == columns);
}

/// Row-major copy of a checked host view.
std::vector<double> copy_of(const ConstArrayView& view, std::int64_t rows, std::int64_t columns);
/// The same into rows×columns numbers.
void copy_to(double* out, const ConstArrayView& view, std::int64_t rows, std::int64_t columns);
/// The same into `out`, whose memory is kept where it suffices.
void copy_to(std::vector<double>& out, const ConstArrayView& view, std::int64_t rows, std::int64_t columns);

/// Copies an N×`dimension` array. `what` names it in messages ("sources").
/// @throws InvalidArgument for a wrong shape, a missing pointer, memory on a device, a value that is not
/// finite.
std::vector<double> read_points(const ConstArrayView& view, std::string_view what, int dimension = 3);
/// The same into `points`, whose memory is kept where it suffices.
void read_points(const ConstArrayView& view, std::string_view what, std::vector<double>& points,
                 int dimension = 3);

/// Copies `n` strengths of `columns` numbers, row by row. @throws as `read_points`.
std::vector<double> read_values(const ConstArrayView& view, std::int64_t n, std::string_view what,
                                int columns = 1);
/// The same into `values`, whose memory is kept where it suffices.
void read_values(const ConstArrayView& view, std::int64_t n, std::string_view what,
                 std::vector<double>& values, int columns = 1);

/// Checks that `view`, wherever it lives, can take rows×columns values (columns == 1: shape {rows} or {rows,
/// 1}).
/// @throws InvalidArgument.
void check_output(const ArrayView& view, std::int64_t rows, std::int64_t columns, std::string_view what);

/// @throws InvalidArgument where the memory is not the host's, which a sum on the CPU needs.
void require_host(const ConstArrayView& view, std::string_view what);

/// Writes row-major rows×columns values into a checked host view.
void write_values(const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns);

} // namespace farfield
