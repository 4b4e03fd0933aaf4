// Cells of points for pairs up to a cut-off, and which of them are near another.
#pragma once

#include "sums/direct/gauss/gauss_points.h"
#include "sums/gauss/boxes/lattice.h"
#include "sums/gauss/ways/shape.h"
#include "sums/tree/sort_keys.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class NearCells {
public:
    NearCells() = default;
    /// Of the shape's side and cut-off.
    NearCells(const GaussShape& shape, const GaussExtent& extent, const GaussFrame& frame, int dimension);

    [[nodiscard]] const GaussLattice& lattice() const { return lattice_; }
    [[nodiscard]] double cutoff() const { return cutoff_; } ///< in the frame
    /// Of sources with these sorted keys those in cells that the cut-off reaches from a cell.
    [[nodiscard]] std::vector<BlockRange> sources(std::span<const std::uint64_t> keys,
                                                  std::uint64_t key) const;
    /// A range with all cells that the cut-off reaches from cells of a range, which it holds: whole layers
    /// along the last axis.
    [[nodiscard]] KeyRange layers_near(const KeyRange& keys) const;

private:
    GaussLattice lattice_;
    double cutoff_ = 0.0;
};

} // namespace farfield
