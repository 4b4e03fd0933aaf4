// The part of a periodic sum in waves: φ(x) = (1/V) Σ_{0<|k|≤cutoff} G(k) S(k) e^(ik·x) with structure
// factors S(k) = Σ q e^(−ik·y), k = 2π (n_x/L_x, n_y/L_y, n_z/L_z). k and −k count once, with their sum: n_x
// ≥ 0.
#pragma once

#include "sums/ewald/wave_tile.h"
#include "sums/lattice/cutoffs.h"
#include "sums/lattice/near_sum.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class Waves {
public:
    Waves(const PeriodicFrame& frame, const Cutoffs& cutoffs, Isa isa, int threads);

    /// Σ q e^(−ik·y) of all waves.
    void set_sources(const LatticePoints& sources, std::span<const double> strengths, WorkWatch& watch);
    /// *Adds* to all targets.
    void add(const LatticePoints& targets, const LatticeResults& results, WorkWatch& watch) const;

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(factors_.size()); }

private:
    struct Block;
    [[nodiscard]] WaveTile phases_of(const LatticePoints& points, std::int64_t first, Block& block) const;

    PeriodicFrame frame_;
    Isa isa_;
    int threads_;
    std::array<std::int32_t, 3> last_{}; ///< n of each axis
    std::vector<WaveRow> rows_;
    std::vector<double> factors_; ///< G(k)/V, twice that where −k is left out
    std::vector<double> wave_x_;  ///< k_x
    std::vector<double> structure_;
    std::vector<double> coefficients_, x_coefficients_;
};

/// How many waves there are up to a cut-off, about.
double wave_count(const PeriodicFrame& frame, double cutoff);

} // namespace farfield
