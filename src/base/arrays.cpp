#include "base/arrays.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <cmath>
#include <string>

namespace farfield {
namespace {

template <class View>
std::string shape_text(const View& view) {
    if (view.ndim == 1) return fmt::format("{{{}}}", view.shape[0]);
    if (view.ndim == 2) return fmt::format("{{{}, {}}}", view.shape[0], view.shape[1]);
    return fmt::format("with {} dimensions", view.ndim);
}

template <class View>
void check_memory(const View& view, std::string_view what) {
    if (view.device.type != DeviceType::cpu && view.device.type != DeviceType::cuda)
        throw InvalidArgument(
            fmt::format("{}: the array is on a device of type {}; memory of the host and of "
                        "CUDA GPUs is allowed",
                        what, static_cast<int>(view.device.type)));
    if (view.dtype != DType::float32 && view.dtype != DType::float64)
        throw InvalidArgument(fmt::format("{}: unknown element type {}; float32 and float64 are allowed",
                                          what, static_cast<int>(view.dtype)));
    if (view.data == nullptr && view.shape[0] > 0)
        throw InvalidArgument(
            fmt::format("{}: the pointer is null though the shape is {}; pass the array's memory", what,
                        shape_text(view)));
}

template <class View>
bool is_column(const View& view, std::int64_t n) {
    return (view.ndim == 1 && view.shape[0] == n) ||
           (view.ndim == 2 && view.shape[0] == n && view.shape[1] == 1);
}

template <class T>
void copy_in(const T* data, const ConstArrayView& view, std::int64_t rows, std::int64_t columns,
             double* out) {
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k < columns; ++k)
            *out++ = static_cast<double>(data[i * view.strides[0] + k * view.strides[1]]);
}

template <class T>
void copy_out(T* data, const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k < columns; ++k)
            data[i * view.strides[0] + k * view.strides[1]] = static_cast<T>(*values++);
}

} // namespace

std::vector<double> copy_of(const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    std::vector<double> out;
    copy_to(out, view, rows, columns);
    return out;
}

void copy_to(double* out, const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    if (view.dtype == DType::float32)
        copy_in(static_cast<const float*>(view.data), view, rows, columns, out);
    else
        copy_in(static_cast<const double*>(view.data), view, rows, columns, out);
}

void copy_to(std::vector<double>& out, const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    out.resize(static_cast<std::size_t>(rows * columns));
    copy_to(out.data(), view, rows, columns);
}

namespace {

/// Names of the axes: "xyz", beyond three dimensions by number.
std::string axis_name(std::int64_t axis, int dimension) {
    return dimension <= 3 ? std::string(1, "xyz"[axis]) : fmt::format("x{}", axis + 1);
}

std::string axes_text(int dimension) {
    std::string out = axis_name(0, dimension);
    for (int axis = 1; axis < dimension; ++axis) {
        out += ' ';
        out += axis_name(axis, dimension);
    }
    return out;
}

template <class View>
bool is_matrix(const View& view, std::int64_t rows, std::int64_t columns) {
    return columns == 1 ? is_column(view, rows)
                        : view.ndim == 2 && view.shape[0] == rows && view.shape[1] == columns;
}

} // namespace

void check_points(const ConstArrayView& view, std::string_view what, int dimension) {
    if (view.ndim != 2 || view.shape[1] != dimension || view.shape[0] < 0)
        throw InvalidArgument(fmt::format("{}: the shape is {}; points are N×{}, one row {} a point", what,
                                          shape_text(view), dimension, axes_text(dimension)));
    check_memory(view, what);
}

void check_values(const ConstArrayView& view, std::int64_t n, std::string_view what, int columns) {
    if (!is_matrix(view, n, columns))
        throw InvalidArgument(
            columns == 1 ? fmt::format("{}: the shape is {}; it must be {{{}}}, one value for each source",
                                       what, shape_text(view), n)
                         : fmt::format("{}: the shape is {}; it must be {{{}, {}}}, one row for each source",
                                       what, shape_text(view), n, columns));
    check_memory(view, what);
}

void refuse_coordinate(std::string_view what, std::int64_t flat, double value, int dimension) {
    throw InvalidArgument(
        fmt::format("{}: row {} has {} = {}; coordinates must be finite: remove or repair the row", what,
                    flat / dimension, axis_name(flat % dimension, dimension), value));
}

void refuse_strength(std::string_view what, std::int64_t row, double value) {
    throw InvalidArgument(fmt::format(
        "{}: row {} is {}; masses and charges must be finite: remove or repair the row", what, row, value));
}

void require_host(const ConstArrayView& view, std::string_view what) {
    if (view.device.type != DeviceType::cpu)
        throw InvalidArgument(fmt::format("{}: the array is on device cuda:{}, but the sum runs on the CPU; "
                                          "ask for device 'cuda', or copy the array to host memory first",
                                          what, view.device.index));
}

std::vector<double> read_points(const ConstArrayView& view, std::string_view what, int dimension) {
    std::vector<double> points;
    read_points(view, what, points, dimension);
    return points;
}

void read_points(const ConstArrayView& view, std::string_view what, std::vector<double>& points,
                 int dimension) {
    check_points(view, what, dimension);
    require_host(view, what);
    copy_to(points, view, view.shape[0], dimension);
    for (std::size_t i = 0; i < points.size(); ++i)
        if (!std::isfinite(points[i]))
            refuse_coordinate(what, static_cast<std::int64_t>(i), points[i], dimension);
}

std::vector<double> read_values(const ConstArrayView& view, std::int64_t n, std::string_view what,
                                int columns) {
    std::vector<double> values;
    read_values(view, n, what, values, columns);
    return values;
}

void read_values(const ConstArrayView& view, std::int64_t n, std::string_view what,
                 std::vector<double>& values, int columns) {
    check_values(view, n, what, columns);
    require_host(view, what);
    copy_to(values, view, n, columns);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            refuse_strength(what, static_cast<std::int64_t>(i) / columns, values[i]);
}

void check_output(const ArrayView& view, std::int64_t rows, std::int64_t columns, std::string_view what) {
    if (!is_matrix(view, rows, columns))
        throw InvalidArgument(
            columns == 1
                ? fmt::format("{}: the output's shape is {}; it must be {{{}}}", what, shape_text(view), rows)
                : fmt::format("{}: the output's shape is {}; it must be {{{}, {}}}", what, shape_text(view),
                              rows, columns));
    check_memory(view, what);
}

void write_values(const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns) {
    if (view.dtype == DType::float32)
        copy_out(static_cast<float*>(view.data), view, values, rows, columns);
    else
        copy_out(static_cast<double*>(view.data), view, values, rows, columns);
}

} // namespace farfield
