// Which cells of a grid each rank computes: a pure function of the program and the number of ranks.
#pragma once

#include "stencil/ir/ir.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield::stencil::ranks {

struct Division {
    /// By rank: apart from each other, together the grid. Ranks for which it is too small have none.
    std::vector<ir::CellBox> blocks;
    /// Into how many parts each axis is cut.
    std::array<int, 3> parts = {1, 1, 1};
};

/// Into how many parts along each axis blocks are cut for the smallest surface between them. Rows are kept
/// whole, because they lie in memory as they are computed; only a grid of one axis is cut along x.
/// @param most of each axis, at least 1. @returns parts whose product is `ranks`, or as many as there can be.
std::array<int, 3> smallest_surface(const ir::Shape& shape, int rank, int ranks,
                                    const std::array<std::int64_t, 3>& most);

/// Planes are shared out first, then the rows of each share, both so that the ranks have about as many cells
/// to compute: where kernels have no cells costs nothing.
/// @param costs of the rows i_1 + shape[1]·i_2. @param unit cuts along x lie at its multiples.
Division divide(const ir::Shape& shape, int rank, int ranks, const std::vector<std::int64_t>& costs,
                std::int64_t unit = 1);

/// Of each grid, by the cells of all its kernels. Where a record sums, cuts along x keep its atoms whole
/// (ir/reduction.h).
std::vector<Division> divide(const ir::Program& program, int ranks);

} // namespace farfield::stencil::ranks
