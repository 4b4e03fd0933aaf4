// A mesh over a periodic box in blocks, and points sorted into them. A block is a rectangle of cells in y and
// z along all of x. Its points reach fewer than `order` cells beyond it, and blocks are at least as wide as
// that, so those of one colour (even or odd along y and z) never touch the same mesh points.
#pragma once

#include "base/aligned.h"
#include "sums/lattice/periodic_frame.h"
#include "sums/pme/splines.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield {

class MeshBlocks {
public:
    MeshBlocks(const std::array<std::int32_t, 3>& mesh, int order);

    struct Block {
        std::array<std::int64_t, 2> first, cells; ///< along y and z
    };

    [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
    /// The blocks of each colour; there is one colour where the mesh is too small for two.
    [[nodiscard]] const std::vector<std::vector<std::int64_t>>& colours() const { return colours_; }

    [[nodiscard]] std::int64_t block_of(std::int64_t y, std::int64_t z) const {
        return block_of_[1][static_cast<std::size_t>(z)] * count_[0] +
               block_of_[0][static_cast<std::size_t>(y)];
    }
    /// Of a copy of the mesh around a block: mesh points of a row, with those that pad it, and rows of a
    /// plane.
    [[nodiscard]] std::int64_t row() const { return row_; }
    [[nodiscard]] std::int64_t rows(const Block& block) const { return block.cells[0] + order_ - 1; }
    [[nodiscard]] std::int64_t planes(const Block& block) const { return block.cells[1] + order_ - 1; }
    [[nodiscard]] std::size_t size(const Block& block) const {
        return static_cast<std::size_t>(row_ * rows(block) * planes(block));
    }
    [[nodiscard]] const std::array<std::int32_t, 3>& mesh() const { return mesh_; }
    [[nodiscard]] int order() const { return order_; }

    /// Calls body(at, row) for each row of the copy: where it begins there, and the row of the mesh, z·n_y +
    /// y, that it stands for.
    template <class Body>
    void for_rows(const Block& block, const Body& body) const {
        const std::int64_t ny = mesh_[1], nz = mesh_[2], before = order_ / 2 - 1;
        for (std::int64_t z = 0; z < planes(block); ++z)
            for (std::int64_t y = 0; y < rows(block); ++y) {
                const auto of_z = (block.first[1] + z - before + nz) % nz;
                const auto of_y = (block.first[0] + y - before + ny) % ny;
                body((z * rows(block) + y) * row_, of_z * ny + of_y);
            }
    }

private:
    std::array<std::int32_t, 3> mesh_;
    int order_;
    std::int64_t row_;
    std::array<std::int64_t, 2> count_{};
    std::array<std::vector<std::int64_t>, 2> block_of_; ///< of each cell along y and z
    std::vector<Block> blocks_;
    std::vector<std::vector<std::int64_t>> colours_;
};

/// Points by block, and along x in each.
struct MeshPoints {
    std::vector<std::int64_t> start; ///< of each block, and the end
    RawVector<std::int32_t> order;   ///< the points' rows
    std::array<RawVector<double>, 3> fraction;
    RawVector<std::int32_t> offset; ///< in the copy around the block

    void sort(const PeriodicFrame& frame, const MeshBlocks& blocks, const LatticePoints& points, int threads);
};

} // namespace farfield
