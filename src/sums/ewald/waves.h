// The part of a periodic sum in waves: φ(x) = (1/V) Σ_{0<|k|≤cutoff} G(k) S(k) e^(ik·x) with structure
// factors S(k) = Σ q e^(−ik·y). Ranks share the waves of structure factors, each with all sources.
#pragma once

#include "sums/ewald/wave_table.h"
#include "sums/lattice/near_sum.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
} // namespace comm

class Waves {
public:
    /// `ranks`: null where this process is alone.
    Waves(const PeriodicFrame& frame, const Cutoffs& cutoffs, Isa isa, int threads,
          comm::Transport* ranks = nullptr);

    /// Σ q e^(−ik·y) of all waves. All ranks call it, and take part to the end whatever their watches say.
    void set_sources(const LatticePoints& sources, std::span<const double> strengths, WorkWatch& watch);
    /// *Adds* to all targets.
    void add(const LatticePoints& targets, const LatticeResults& results, WorkWatch& watch) const;

    [[nodiscard]] std::int64_t count() const { return table_.count(); }
    /// Of waves whose structure factors this rank sums.
    [[nodiscard]] std::int64_t own_count() const { return last_wave_ - first_wave_; }

private:
    struct Block;
    void divide();
    void share_structure();
    [[nodiscard]] WaveTile phases_of(const LatticePoints& points, std::int64_t first, Block& block) const;

    Isa isa_;
    int threads_;
    comm::Transport* ranks_;
    WaveTable table_;
    std::vector<WaveRow> own_rows_;               ///< of a rank, with places among its own waves
    std::int64_t first_wave_ = 0, last_wave_ = 0; ///< its own
    std::vector<std::int64_t> counts_;            ///< of waves, of each rank
    std::vector<double> wave_x_;                  ///< k_x
    std::vector<double> structure_;
    std::vector<double> coefficients_, x_coefficients_;
};

} // namespace farfield
