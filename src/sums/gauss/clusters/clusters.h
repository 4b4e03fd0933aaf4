// Sums of Gaussians by clusters of sources (README.md): expansions about centres, of an order that the bound
// of bound.h asks for at each block of targets, or pairs where these cost less.
#pragma once

#include "sums/direct/gauss/gauss_pairs.h"
#include "sums/gauss/clusters/cluster_plan.h"
#include "sums/gauss/clusters/cluster_tasks.h"
#include "sums/gauss/clusters/expansion.h"
#include "sums/gauss/ways/turns_of_ranks.h"
#include "sums/gauss/ways/way.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class GaussClusters : public GaussWay {
public:
    GaussClusters(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks = nullptr);

    void set_points(const GaussShape& shape, const GaussPointSets& points) override;
    void add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
             std::vector<PassTime>& passes, WorkWatch& watch) override;

    [[nodiscard]] std::span<const std::int32_t> target_order() const override { return plan_.blocks().order; }
    /// Of this process, in picoseconds by the rates.
    [[nodiscard]] double work() const override;
    void describe(SumReport& report) const override;
    [[nodiscard]] const ClusterPlan& plan() const { return plan_; }

private:
    /// What acts on a block.
    struct Actors {
        std::vector<ClusterExpansion> expansions;
        std::vector<BlockRange> ranges; ///< of sources, for pairs
        double pairs = 0.0, terms = 0.0;
    };
    [[nodiscard]] Actors actors_on(std::size_t block) const;
    void lay_out();
    void make_moments(const double* strengths, WorkWatch& watch);
    void pack(std::size_t cluster);
    void take_values(std::int64_t vector, GaussSums& sums, WorkWatch& watch);
    void gather(GaussSums& sums, const WorkWatch& watch);
    [[nodiscard]] double part_work() const;
    [[nodiscard]] double block_work() const;
    [[nodiscard]] double value_seconds() const { return plan_.seconds() - plan_.moment_seconds(); }

    /// A run of one cluster's sources.
    struct Part {
        std::int32_t begin, end;
        std::size_t cluster;
        std::size_t place; ///< of its moments
    };

    const SumProblem& problem_;
    SumProblem apart_; ///< the same with targets of their own order
    TurnsOfRanks turns_;
    Isa isa_;
    int threads_;
    GaussPairs loops_;
    ClusterPlan plan_;
    GaussFrame frame_;
    GaussPoints<double> sources_, targets_;
    std::vector<double> centre_;          ///< of clusters, in the frame
    std::vector<ExpansionTables> tables_; ///< one, where there are expansions
    std::vector<Part> parts_;
    std::vector<std::size_t> first_part_; ///< of each cluster, and the end of the last
    std::vector<std::size_t> place_;      ///< of a cluster's coefficients
    std::vector<std::size_t> level_;      ///< of an order's coefficients, behind a cluster's first
    RawVector<double> moments_, coefficients_;
    double pairs_ = 0.0, terms_ = 0.0; ///< of the last sum, at all targets
};

} // namespace farfield
