#include "sums/lattice/near_cells.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

/// Sources of a cell, about: fewer make gathering dear, more look at images beyond the cut-off.
constexpr double points_of_a_cell = 8.0;
constexpr double most_cells_to_the_cutoff = 4.0;
constexpr double most_cells = 1 << 29;

} // namespace

NearCells near_cells(const PeriodicFrame& frame, double cutoff, std::int64_t sources) {
    const auto n = static_cast<double>(std::max<std::int64_t>(sources, 1));
    const double by_points = std::cbrt(frame.volume() * points_of_a_cell / n);
    // a whole number of cells to the cut-off: a little more would be looked at for nothing
    const double to_cutoff = std::clamp(std::floor(cutoff / by_points + 0.3), 1.0, most_cells_to_the_cutoff);
    double side = std::max({by_points, cutoff / to_cutoff, 1e-9});
    const auto cells_of = [&](std::size_t k) { return std::max(1.0, std::floor(frame.length[k] / side)); };
    while (cells_of(0) * cells_of(1) * cells_of(2) > most_cells) side *= 2.0; // of very flat boxes
    NearCells out;
    for (std::size_t k = 0; k < 3; ++k) {
        out.count[k] = static_cast<std::int64_t>(cells_of(k));
        out.width[k] = frame.length[k] / static_cast<double>(out.count[k]);
    }
    return out;
}

} // namespace farfield
