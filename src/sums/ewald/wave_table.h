// The waves of a periodic box up to a cut-off, k = 2π (n_x/L_x, n_y/L_y, n_z/L_z). k and −k count once, with
// their sum: n_x ≥ 0.
#pragma once

#include "sums/ewald/wave_tile.h"
#include "sums/lattice/cutoffs.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield {

struct WaveTable {
    std::array<double, 3> unit{};       ///< 2π/L of each axis
    std::array<std::int32_t, 3> last{}; ///< the largest n of each axis
    std::vector<WaveRow> rows;
    /// G(k)/V of each wave, row after row; twice that where −k is left out, and 0 for k = 0.
    std::vector<double> factors;

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(factors.size()); }
};

WaveTable wave_table(const PeriodicFrame& frame, const Cutoffs& cutoffs, int threads);

/// How many waves there are up to a cut-off, about.
double wave_count(const PeriodicFrame& frame, double cutoff);

} // namespace farfield
