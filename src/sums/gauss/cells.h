// Truncated sums of Gaussians: pairs farther apart than a cut-off are left out, by cells.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/direct/gauss/gauss_pairs.h"
#include "sums/gauss/boxes/lattice.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class GaussCells {
public:
    GaussCells(const SumProblem& problem, Isa isa, int threads);

    /// `cutoff` and the side of cells in the frame.
    void set_points(std::span<const double> sources, std::span<const double> targets,
                    const GaussExtent& extent, const GaussFrame& frame, double cutoff, double side);

    /// Sums are in the order of `target_order`.
    void add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
             WorkWatch& watch);

    [[nodiscard]] std::span<const std::int32_t> target_order() const {
        return problem_.self ? sources_.from : targets_.from;
    }
    /// Pairs that are computed, for one vector of strengths.
    [[nodiscard]] double pairs() const { return pairs_; }
    [[nodiscard]] std::int64_t cells() const { return cells_; }

private:
    /// Targets of one cell, or a part of them.
    struct Block {
        BlockRange targets{};
        std::uint64_t key = 0;
    };
    void find_blocks();
    [[nodiscard]] std::vector<BlockRange> sources_near(std::uint64_t key) const;

    const SumProblem& problem_;
    int threads_;
    GaussPairs loops_;
    std::vector<GaussLattice> lattice_; ///< one, once there are points
    double cutoff_ = 0.0;
    SortedKeys sources_, targets_;
    std::vector<Block> blocks_;
    double pairs_ = 0.0;
    std::int64_t cells_ = 0;
};

} // namespace farfield
