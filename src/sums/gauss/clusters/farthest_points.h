// Farthest-point clustering (Gonzalez 1985): the next centre is the point that lies farthest from the centres
// so far. Its radius is at most twice that of the best clustering with as many centres.
#pragma once

#include "base/aligned.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// Clusters of points, and balls about them. Ties and orders depend on the points alone.
struct PointClusters {
    RawVector<std::int32_t> order;   ///< points of one cluster after those of another
    std::vector<std::int32_t> begin; ///< places of a cluster's points in `order`, and the end of the last
    std::vector<double> centre;      ///< K×d
    std::vector<double> radius;
    RawVector<std::int32_t> cluster; ///< of each point

    [[nodiscard]] std::size_t of(std::int32_t point) const {
        return static_cast<std::size_t>(cluster[static_cast<std::size_t>(point)]);
    }
    [[nodiscard]] std::size_t count() const { return radius.size(); }
    [[nodiscard]] std::int32_t size(std::size_t k) const { return begin[k + 1] - begin[k]; }
};

class FarthestPoints {
public:
    /// `points`: N×d, which outlive this object. @pre 0 < N < 2³¹
    FarthestPoints(std::span<const double> points, int dimension, int threads);

    /// Goes on to so many clusters, or to those whose radius is 0.
    void grow(std::size_t count);
    [[nodiscard]] std::size_t count() const { return members_.size(); }
    /// Distances computed so far, about.
    [[nodiscard]] double work() const { return work_; }
    /// As they stand. A ball's centre is the mean of its points or the middle of their box.
    [[nodiscard]] PointClusters clusters() const;

private:
    struct Member {
        double distance2; ///< from the centre
        std::int32_t point;
    };
    [[nodiscard]] const double* point(std::int32_t i) const { return points_.data() + stride_ * i; }
    void add_cluster(std::int32_t centre);
    void add_members(std::vector<Member> members, std::int32_t centre);
    template <int D>
    void take_from(std::size_t cluster, double apart2, std::vector<Member>& taken);
    template <int D>
    void set_ball(PointClusters& out, std::size_t k) const;

    std::span<const double> points_;
    std::size_t stride_;
    int threads_;
    std::vector<std::vector<Member>> members_;
    std::vector<std::int32_t> centre_, farthest_; ///< points of clusters
    std::vector<double> places_;                  ///< of centres, K×d
    std::vector<double> radius2_;
    double work_ = 0.0;
};

} // namespace farfield
