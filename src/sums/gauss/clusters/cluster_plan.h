// Which clusters of sources act on which blocks of targets how: by their expansion, pair by pair, or not at
// all; and how many clusters there are. Lengths in units of σ. Everything depends on the points and the aim
// alone.
#pragma once

#include "sums/gauss/clusters/bound.h"
#include "sums/gauss/clusters/farthest_points.h"
#include "sums/gauss/clusters/point_blocks.h"
#include "sums/gauss/ways/cluster_aim.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class ClusterSamples;

/// Whether the targets are the sources, and then whether each counts itself.
enum class SelfTargets : std::uint8_t { none, with_own, without_own };

class ClusterPlan {
public:
    explicit ClusterPlan(int dimension, int threads);

    /// Of sources (N×d) and targets (M×d), which are not looked at where they are the sources.
    void set_points(std::span<const double> sources, std::span<const double> targets, SelfTargets self,
                    const ClusterAim& aim);

    static constexpr int by_pairs = -1;
    static constexpr int not_at_all = 0;
    /// The order of the expansion, or one of those.
    [[nodiscard]] int act(std::size_t block, std::size_t cluster) const;
    /// Those of all clusters; those that do not act are left out.
    struct Act {
        std::int32_t cluster;
        std::int32_t act;
    };
    void acts(std::size_t block, std::vector<Act>& out) const;

    [[nodiscard]] const PointClusters& clusters() const { return clusters_; }
    [[nodiscard]] const PointBlocks& blocks() const { return blocks_; }
    /// The largest order of a cluster's expansions, 0 for none.
    [[nodiscard]] int order_of(std::size_t cluster) const { return order_[cluster]; }
    [[nodiscard]] int largest_order() const;
    [[nodiscard]] double tolerance() const { return tolerance_; }
    /// By the rates, on one thread, for one of the vectors.
    [[nodiscard]] double seconds() const { return seconds_; }
    [[nodiscard]] double moment_seconds() const;

private:
    void choose(std::span<const double> sources, std::span<const double> targets, SelfTargets self);
    void choose_clusters(std::span<const double> sources, const ClusterSamples& samples);
    void settle_tolerance(const ClusterSamples& samples);
    void set_slack(double slack);
    void set_tolerance(double tolerance);
    void set_clusters(PointClusters clusters);
    [[nodiscard]] double estimate() const;
    [[nodiscard]] int act_at(double distance2, std::size_t block, std::size_t cluster) const {
        const double reach = row_[cluster]->end + blocks_.radius[block];
        if (distance2 > reach * reach) return not_at_all;
        const double apart = std::sqrt(distance2);
        const int order = row_[cluster]->order(apart - blocks_.radius[block], apart + blocks_.radius[block]);
        return order > order_[cluster] ? by_pairs : order;
    }
    [[nodiscard]] double block_seconds(std::size_t block) const;
    [[nodiscard]] double numbers() const;
    [[nodiscard]] double expansion_seconds(int order) const;
    [[nodiscard]] double pair_seconds(std::size_t cluster) const;

    int dimension_, threads_, most_order_;
    ClusterAim aim_;
    double tolerance_ = 0.0;           ///< of a source's error
    double least_ = 0.0, slack_ = 1.0; ///< the one that the bound asks for, and what the samples allow of it
    double seconds_ = 0.0;
    PointBlocks blocks_;
    PointClusters clusters_;
    std::vector<ClusterOrders> orders_; ///< one
    std::vector<const ClusterOrders::Row*> row_;
    std::vector<std::uint8_t> order_;
    std::vector<double> terms_; ///< by order
};

} // namespace farfield
