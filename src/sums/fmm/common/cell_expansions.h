// Expansions of the cells of a tree, one after the other.
#pragma once

#include "backend/threads/parallel.h"
#include "base/aligned.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace farfield {

template <class T>
class CellExpansions {
public:
    /// So many, of zeros where a cell is wanted(cell), and of anything elsewhere: memory that nobody touches
    /// costs nothing.
    template <class Wanted>
    void reset(std::size_t cells, std::size_t size, int threads, const Wanted& wanted) {
        size_ = size;
        values_.resize(cells * size_);
        parallel_parts(threads, cells, [&](std::size_t begin, std::size_t end) {
            for (auto cell = begin; cell < end; ++cell)
                if (wanted(static_cast<std::int32_t>(cell)))
                    std::fill_n(values_.data() + cell * size_, size_, T(0));
        });
    }
    [[nodiscard]] T* of(std::int32_t cell) { return values_.data() + static_cast<std::size_t>(cell) * size_; }
    [[nodiscard]] const T* of(std::int32_t cell) const {
        return values_.data() + static_cast<std::size_t>(cell) * size_;
    }
    [[nodiscard]] std::span<T> all() { return values_; }

private:
    std::size_t size_ = 0;
    RawVector<T> values_;
};

} // namespace farfield
