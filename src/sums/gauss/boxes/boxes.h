// Sums of Gaussians by the expansions of boxes (README.md): the classical fast Gauss transform, in which each
// pair of near boxes takes the cheapest of four interactions.
#pragma once

#include "sums/direct/gauss/gauss_pairs.h"
#include "sums/gauss/boxes/box_plan.h"
#include "sums/gauss/boxes/box_tasks.h"
#include "sums/gauss/ways/turns_of_ranks.h"
#include "sums/gauss/ways/way.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class GaussBoxes : public GaussWay {
public:
    GaussBoxes(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks = nullptr);

    void set_points(const GaussShape& shape, const GaussPointSets& points) override;
    void add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
             std::vector<PassTime>& passes, WorkWatch& watch) override;

    [[nodiscard]] std::span<const std::int32_t> target_order() const override { return plan_.targets().from; }
    /// Picoseconds by the rates.
    [[nodiscard]] double work() const override;
    void describe(SumReport& report) const override;
    [[nodiscard]] const BoxPlan& plan() const { return plan_; }

private:
    /// Points of one box, or some of them.
    struct Part {
        BlockRange points;
        std::size_t box = 0;
    };
    /// What acts on a block.
    struct Actors {
        std::vector<BoxExpansion> expansions;
        std::vector<BlockRange> ranges; ///< of sources, for pairs
        bool own = false;               ///< an expansion has the targets' own strengths
    };
    void lay_out();
    void form_hermite(const double* strengths, WorkWatch& watch);
    void translate(WorkWatch& watch);
    void form_taylor(const double* strengths, WorkWatch& watch);
    void take_values(std::int64_t vector, const double* strengths, GaussSums& sums, WorkWatch& watch);
    [[nodiscard]] Actors actors_on(const Part& block) const;
    [[nodiscard]] BoxFormTask form_task(std::uint64_t key, const double* strengths) const;
    void set_centre(std::uint64_t key, double* centre) const;

    const SumProblem& problem_;
    TurnsOfRanks turns_;
    Isa isa_;
    int threads_;
    GaussPairs loops_;
    BoxPlan plan_;
    GaussFrame frame_;
    GaussPoints<double> sources_, targets_; ///< no targets: the sources
    std::vector<Part> parts_;               ///< of sources: those of a box add up in their order
    std::vector<Part> blocks_;              ///< of targets
    std::vector<std::size_t> taylor_boxes_; ///< target boxes that gather sources
    std::vector<std::size_t> hermite_place_, taylor_place_; ///< of a box's expansion
    RawVector<double> hermite_, taylor_, parts_sums_;
};

} // namespace farfield
