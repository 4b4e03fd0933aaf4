// Truncated sums of Gaussians: pairs farther apart than a cut-off are left out, by cells.
#pragma once

#include "sums/direct/gauss/gauss_pairs.h"
#include "sums/gauss/boxes/near_cells.h"
#include "sums/gauss/ways/turns_of_ranks.h"
#include "sums/gauss/ways/way.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

class GaussCells : public GaussWay {
public:
    GaussCells(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks = nullptr);

    void set_points(const GaussShape& shape, const GaussPointSets& points) override;
    void add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
             std::vector<PassTime>& passes, WorkWatch& watch) override;

    [[nodiscard]] std::span<const std::int32_t> target_order() const override {
        return problem_.self ? sources_.from : targets_.from;
    }
    /// Pairs that this process computes.
    [[nodiscard]] double work() const override { return turns_.share() * pairs_; }
    void describe(SumReport& report) const override;

private:
    /// Targets of one cell, or a part of them.
    struct Block {
        BlockRange targets{};
        std::uint64_t key = 0;
    };
    void find_blocks(const std::optional<BlockRange>& own);

    const SumProblem& problem_;
    comm::Transport* ranks_;
    TurnsOfRanks turns_;
    int threads_;
    GaussPairs loops_;
    NearCells near_;
    double sigma_ = 1.0; ///< in the frame
    SortedKeys sources_, targets_;
    std::vector<Block> blocks_;
    double pairs_ = 0.0;
    std::int64_t cells_ = 0;
};

} // namespace farfield
