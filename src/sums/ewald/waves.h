// The part of a periodic sum in waves: φ(x) = (1/V) Σ_{0<|k|≤cutoff} G(k) S(k) e^(ik·x) with structure
// factors S(k) = Σ q e^(−ik·y).
#pragma once

#include "sums/ewald/wave_table.h"
#include "sums/lattice/near_sum.h"

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

    [[nodiscard]] std::int64_t count() const { return table_.count(); }

private:
    struct Block;
    [[nodiscard]] WaveTile phases_of(const LatticePoints& points, std::int64_t first, Block& block) const;

    Isa isa_;
    int threads_;
    WaveTable table_;
    std::vector<double> wave_x_; ///< k_x
    std::vector<double> structure_;
    std::vector<double> coefficients_, x_coefficients_;
};

} // namespace farfield
