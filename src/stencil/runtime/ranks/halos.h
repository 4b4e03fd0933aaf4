// How far beyond its block a rank needs values, for several steps between two exchanges: derived from which
// cells kernels read. In a pass of steps a rank computes a rim of its neighbours' cells as well, from the
// same values in the same way, so that ranks exchange once a pass. The rim is as wide in every step as in the
// first; what later steps make of its outermost cells is wrong, and nobody reads it.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/runtime/ranks/division.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield::stencil::ranks {

/// Cells beyond the low and the high side of a block, along each axis.
struct Width {
    std::array<std::int64_t, 3> low = {};
    std::array<std::int64_t, 3> high = {};
    friend bool operator==(const Width&, const Width&) = default;
};

struct Halos {
    std::vector<Width> buffers; ///< by buffer: what must be right before a pass; 0 where nothing is written
    std::vector<Width> kernels; ///< by grid: the rim that kernels compute
    std::vector<Width> held;    ///< by grid: what they or records touch
    std::vector<std::array<bool, 3>> wraps; ///< by grid: some buffer is periodic along the axis
};

Halos halos_of(const ir::Program& program, int steps);

/// A block with a rim, as boxes apart from each other: the rim ends with the grid or comes in at its other
/// end. Empty for an empty block.
std::vector<ir::CellBox> grown(const ir::CellBox& block, const Width& rim, const ir::Shape& shape,
                               const std::array<bool, 3>& wraps);

/// The most steps a pass for which rims cost little beside the blocks.
/// @param wanted 0: chosen; else no more than so many.
int steps_a_pass(const ir::Program& program, const std::vector<Division>& divisions, int wanted);

} // namespace farfield::stencil::ranks
