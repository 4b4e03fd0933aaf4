// Where the cpu target keeps the values of buffers: rows of aligned starts, a little apart from each other so
// that rows of several fields do not fall on the same places of the caches.
#pragma once

#include "stencil/ir/ir.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace farfield::stencil::cpu {

/// Rows of one copy of a buffer, as a cell's kernel sees them: pointers to the row at an offset.
struct Rows {
    std::byte* base = nullptr;
    std::int64_t row_pitch = 0; ///< bytes; 0 where the values do not depend on the index
    std::int64_t plane_pitch = 0;
    std::int64_t rows = 1; ///< along axis 1
    std::int64_t planes = 1;
    Boundary row_boundary = Boundary::none;
    Boundary plane_boundary = Boundary::none;
    std::byte* zeros = nullptr; ///< a row of 0, which nobody writes

    /// The row at index y along axis 1 and z along axis 2, which may lie outside the grid.
    std::byte* at(std::int64_t y, std::int64_t z) const {
        if (y < 0 || y >= rows || z < 0 || z >= planes) return outside(y, z);
        return base + y * row_pitch + z * plane_pitch;
    }

private:
    std::byte* outside(std::int64_t y, std::int64_t z) const;
};

class Storage {
public:
    /// All values are 0. `threads` share the first touch of the memory.
    Storage(const ir::Program& program, int threads);
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    Rows rows(int buffer, int copy) const;
    /// Bytes of the rows of all copies of a buffer at one index along its grid's last axis.
    std::int64_t slab_bytes(int buffer) const;

    /// Values without gaps, x fastest; of an array those along its axis.
    void read(int buffer, int copy, std::span<double> values) const;
    void write(int buffer, int copy, std::span<const double> values);
    /// Cells [first, first + values.size()) of a row.
    void write_row(int buffer, int copy, std::int64_t row, std::int64_t first,
                   std::span<const double> values);

private:
    struct Block;
    struct Place {
        std::byte* base = nullptr;
        std::int64_t length = 0; ///< values of a row
        std::int64_t rows = 1;
        std::int64_t planes = 1;
        std::int64_t pitch = 0;
    };
    std::size_t value_size(int buffer) const;
    template <class T>
    void read_as(const Place& place, std::span<double> values) const;
    template <class T>
    void write_as(const Place& place, std::span<const double> values);

    const ir::Program& program_;
    int threads_;
    std::vector<std::vector<Place>> places_; ///< by buffer and copy
    std::vector<std::unique_ptr<Block>> blocks_;
    std::byte* zeros_ = nullptr;
};

} // namespace farfield::stencil::cpu
