// The cells that points are sorted into for near images.
#pragma once

#include "sums/lattice/periodic_frame.h"

#include <array>
#include <cstdint>

namespace farfield {

struct NearCells {
    std::array<std::int64_t, 3> count{1, 1, 1}; ///< along each axis
    std::array<double, 3> width{1.0, 1.0, 1.0}; ///< of a cell
};

/// Of about eight sources, or wider where the cut-off is long.
NearCells near_cells(const PeriodicFrame& frame, double cutoff, std::int64_t sources);

} // namespace farfield
