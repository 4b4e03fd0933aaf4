// Points sorted by the boxes of a lattice, the last axis slowest.
#pragma once

#include "sums/direct/gauss/gauss_points.h"
#include "sums/tree/sort_keys.h"

#include <array>
#include <cstdint>
#include <span>

namespace farfield {

struct GaussLattice {
    int dimension = 1;
    std::array<double, most_dimensions> low{}, side{}; ///< in the frame
    std::array<std::int64_t, most_dimensions> count{}; ///< boxes along each axis

    GaussLattice() = default;
    /// Boxes of `side`, or longer ones where there would be too many for a key.
    GaussLattice(const GaussExtent& extent, const GaussFrame& frame, int dimension, double side);

    [[nodiscard]] std::array<std::int64_t, most_dimensions> box_of(std::uint64_t key) const;
    /// Of the points (N×dimension), in the caller's units.
    [[nodiscard]] SortedKeys sorted(std::span<const double> points, const GaussFrame& frame,
                                    int threads) const;
};

} // namespace farfield
