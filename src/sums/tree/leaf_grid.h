// Grids of leaves, as a tree over evenly spread points has them.
#pragma once

#include <algorithm>
#include <cmath>

namespace farfield {

/// k·2^level cells an axis.
struct LeafGrid {
    int coarse = 1, level = 0;
    int dimension = 3; ///< 2: of points in the plane
    bool periodic = false;

    [[nodiscard]] double across() const { return std::ldexp(coarse, level); }
    [[nodiscard]] double cells() const { return std::pow(across(), dimension); }
    /// Some cells are no neighbours of each other.
    [[nodiscard]] bool has_far_cells(int separation) const { return periodic || across() > separation + 1.0; }
    /// Pairs of cells that are neighbours, both directions and each cell with itself: those at the faces have
    /// fewer where space is open.
    [[nodiscard]] double neighbours(int separation) const {
        if (periodic) return std::pow(across() * (2.0 * separation + 1.0), dimension);
        const double reach = std::min<double>(separation, across() - 1.0);
        return std::pow(across() * (2.0 * reach + 1.0) - reach * (reach + 1.0), dimension);
    }
};

} // namespace farfield
