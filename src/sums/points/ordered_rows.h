// Rows of numbers in some order, called for ahead of their use: they lie anywhere in memory, and a loop that
// waited for each would do little else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace farfield {

class OrderedRows {
public:
    /// Row-major rows of `width` numbers; of an empty order as they lie.
    OrderedRows(std::span<const double> rows, std::size_t width, std::span<const std::int32_t> order)
        : rows_(rows), width_(width), order_(order) {}

    /// The row at a place of the order. @param end of the places that are looked at
    const double* at(std::size_t place, std::size_t end) const {
        if (order_.empty()) return rows_.data() + width_ * place;
        constexpr std::size_t ahead = 32;
        if (place + ahead < end) {
            const double* next = row(place + ahead);
            __builtin_prefetch(next);
            __builtin_prefetch(next + width_ - 1);
        }
        return row(place);
    }

private:
    [[nodiscard]] const double* row(std::size_t place) const {
        return rows_.data() + width_ * static_cast<std::size_t>(order_[place]);
    }
    std::span<const double> rows_;
    std::size_t width_;
    std::span<const std::int32_t> order_;
};

} // namespace farfield
