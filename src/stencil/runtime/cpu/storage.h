// Where the cpu target keeps the values of buffers: rows of aligned starts, a little apart from each other so
// that rows of several fields do not fall on the same places of the caches. Where kernels touch a part of
// each row only, these parts lie one behind the other and the other cells elsewhere: what is fetched ahead
// behind the end of a part is then the next one.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/runtime/cpu/extents.h"

#include <array>
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
    /// Of the rows y + rows·z: bytes from `base` to where x = 0 is or would be. Null where pitches say it.
    const std::int64_t* starts = nullptr;
    std::int64_t rows = 1; ///< along axis 1
    std::int64_t planes = 1;
    Boundary row_boundary = Boundary::none;
    Boundary plane_boundary = Boundary::none;
    std::byte* zeros = nullptr; ///< a row of 0, which nobody writes

    /// The row at index y along axis 1 and z along axis 2, which may lie outside the grid.
    std::byte* at(std::int64_t y, std::int64_t z) const {
        if (y < 0 || y >= rows || z < 0 || z >= planes) return outside(y, z);
        return base + (starts != nullptr ? starts[y + rows * z] : y * row_pitch + z * plane_pitch);
    }

private:
    std::byte* outside(std::int64_t y, std::int64_t z) const;
};

class Storage {
public:
    /// All values are 0. `threads` share the first touch of the memory.
    /// @param extents of each row what rows() is used for, by buffer; empty: all of all rows
    Storage(const ir::Program& program, int threads, const std::vector<Extents>& extents = {});
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    Rows rows(int buffer, int copy) const;
    /// Bytes of the rows of all copies of a buffer at one index along its grid's last axis, where they are
    /// most.
    std::int64_t slab_bytes(int buffer) const;

    /// Values without gaps, x fastest; of an array those along its axis.
    void read(int buffer, int copy, std::span<double> values) const;
    void write(int buffer, int copy, std::span<const double> values);
    /// Cells [first, first + values.size()) of a row.
    void write_row(int buffer, int copy, std::int64_t row, std::int64_t first,
                   std::span<const double> values);
    /// The cells of a box, x fastest, in the buffer's precision.
    void read_cells(int buffer, int copy, const ir::CellBox& cells, std::span<std::byte> values) const;
    void write_cells(int buffer, int copy, const ir::CellBox& cells, std::span<const std::byte> values);

private:
    struct Block;
    struct Layout {
        std::byte* base = nullptr;
        std::int64_t length = 0; ///< values of a row
        std::int64_t rows = 1;
        std::int64_t planes = 1;
        std::int64_t pitch = 0;
        std::int64_t slab = 0; ///< bytes at one index along the last axis, at most
        // Where rows are in parts: the parts that kernels touch, where they start (see Rows), and where the
        // other cells are, those before the part before those behind it.
        Extents parts;
        std::vector<std::int64_t> starts;
        std::vector<std::int64_t> others;
    };
    /// Cells of a row that lie one behind the other.
    struct Piece {
        ir::Interval cells;
        std::byte* at = nullptr; ///< of the first
    };
    using Pieces = std::array<Piece, 3>;
    std::size_t value_size(int buffer) const;
    /// Calls visit(cells in memory, offset in the values of the box, bytes) for the pieces of a box.
    template <class Visit>
    void for_each_piece(int buffer, int copy, const ir::CellBox& cells, Visit&& visit) const;
    /// Cuts the rows of a layout in parts. Returns its bytes.
    static std::int64_t split_rows(Layout& layout, std::int64_t size, const Extents& extents, int rank);
    static Pieces pieces(const Layout& layout, std::int64_t row, std::int64_t size);
    template <class T>
    static void write_cells(const Layout& layout, std::int64_t row, std::int64_t first,
                            std::span<const double> values);
    template <class T>
    void read_as(const Layout& layout, std::span<double> values) const;
    template <class T>
    void write_as(const Layout& layout, int grid, std::span<const double> values);

    const ir::Program& program_;
    int threads_;
    std::vector<std::vector<Layout>> layouts_; ///< by buffer and copy
    std::vector<std::unique_ptr<Block>> blocks_;
    std::byte* zeros_ = nullptr;
};

} // namespace farfield::stencil::cpu
