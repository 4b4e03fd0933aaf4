// The stretch of memory that a strided array lies in.
#pragma once

#include "base/arrays.h"

#include <farfield/array.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield::cuda {

struct Stretch {
    const std::byte* begin;
    std::size_t bytes;

    /// Of a checked view with at least one row.
    Stretch(const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
        const auto row_span = (rows - 1) * view.strides[0];
        const auto column_span = (columns - 1) * view.strides[1];
        const auto first = std::min<std::int64_t>(row_span, 0) + std::min<std::int64_t>(column_span, 0);
        const auto last = std::max<std::int64_t>(row_span, 0) + std::max<std::int64_t>(column_span, 0);
        const auto size = size_of(view.dtype);
        begin = static_cast<const std::byte*>(view.data) + first * static_cast<std::int64_t>(size);
        bytes = static_cast<std::size_t>(last - first + 1) * size;
    }
    /// The view of a copy of the stretch.
    [[nodiscard]] ConstArrayView moved_to(const std::byte* copy, ConstArrayView view) const {
        view.data = copy + (static_cast<const std::byte*>(view.data) - begin);
        return view;
    }
};

} // namespace farfield::cuda
