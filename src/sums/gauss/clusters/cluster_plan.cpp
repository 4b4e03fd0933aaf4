#include "sums/gauss/clusters/cluster_plan.h"

#include "backend/threads/parallel.h"
#include "sums/gauss/clusters/cluster_samples.h"
#include "sums/gauss/clusters/expansion.h"
#include "sums/gauss/clusters/point_space.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr std::int32_t targets_of_a_block = 32;
constexpr std::size_t estimated_blocks = 32;
constexpr std::size_t few_sources = 512; ///< of a sample
constexpr double most_tolerance = 0.25;  ///< of a source, whatever the samples say
constexpr double most_slack = 16.0; // samples see few targets: there may be others where the bound is tight
constexpr double terms_of_a_start =
    25.0; ///< the Gaussian and the place of a target, in terms of an expansion

/// 1, 2, 3, 4, 6, 8, 12, …
std::size_t next_count(std::size_t count) {
    if (count < 2) return count + 1;
    const bool power_of_two = (count & (count - 1)) == 0;
    return power_of_two ? count + count / 2 : count + count / 3;
}

RawVector<double> in_order(std::span<const double> points, int dimension, std::span<const std::int32_t> order,
                           int threads) {
    const auto d = static_cast<std::size_t>(dimension);
    RawVector<double> out(points.size());
    parallel_parts(threads, order.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            std::copy_n(points.data() + d * static_cast<std::size_t>(order[i]), d, out.data() + d * i);
    });
    return out;
}

} // namespace

ClusterPlan::ClusterPlan(int dimension, int threads)
    : dimension_(dimension), threads_(threads), most_order_(most_expansion_order(dimension)) {
    for (int order = 0; order <= most_order_; ++order)
        terms_.push_back(order == 0 ? 0.0 : static_cast<double>(expansion_terms(dimension, order)));
}

void ClusterPlan::set_points(std::span<const double> sources, std::span<const double> targets,
                             SelfTargets self, const ClusterAim& aim) {
    aim_ = aim;
    const bool apart = self == SelfTargets::none;
    blocks_ = point_blocks(apart ? targets : sources, dimension_, targets_of_a_block, threads_);
    set_clusters({});
    seconds_ = 0.0;
    if (sources.empty() || blocks_.count() == 0) return;
    // of neighbours one after the other
    const auto order =
        apart ? point_blocks(sources, dimension_, targets_of_a_block, threads_).order : blocks_.order;
    choose(in_order(sources, dimension_, order, threads_), apart ? targets : sources, self);
    for (auto& point : clusters_.order) point = order[static_cast<std::size_t>(point)];
    clusters_.cluster = {}; // of points in another order, which nobody asks for again
}

void ClusterPlan::choose(std::span<const double> sources, std::span<const double> targets, SelfTargets self) {
    const ClusterSamples few(sources, targets, dimension_, blocks_, self, few_sources);
    least_ = aim_.tolerance * (aim_.relative_to_sum ? 1.0 : few.scale(aim_.with_gradient));
    choose_clusters(sources, few);
    constexpr double share = 1.0 / 30.0, seconds_of_a_source = 1e-5;
    const double more = std::min(8.0 * few_sources, share * seconds_ / seconds_of_a_source);
    if (aim_.by_bound || more < 2.0 * few_sources) return;
    settle_tolerance(
        ClusterSamples(sources, targets, dimension_, blocks_, self, static_cast<std::size_t>(more)));
    seconds_ = estimate();
}

void ClusterPlan::set_tolerance(double tolerance) {
    tolerance_ = tolerance;
    orders_.assign(1, ClusterOrders(tolerance, aim_.with_gradient, most_order_));
    if (clusters_.count() > 0) set_clusters(std::move(clusters_));
}

double ClusterPlan::pair_seconds(std::size_t cluster) const {
    constexpr double start = 8.0; // of a run of sources, in pairs
    const double runs = aim_.vectors > 1 ? 1.5 * std::ceil(aim_.vectors / 4.0) : 1.0;
    return runs * aim_.rates.pair * (start + clusters_.size(cluster));
}

double ClusterPlan::expansion_seconds(int order) const {
    const double each = aim_.with_gradient ? 2.5 : 1.0;
    return aim_.vectors * aim_.rates.term *
           (terms_of_a_start + each * terms_[static_cast<std::size_t>(order)]);
}

void ClusterPlan::set_clusters(PointClusters clusters) {
    clusters_ = std::move(clusters);
    row_.clear();
    order_.clear();
    for (std::size_t k = 0; k < clusters_.count(); ++k) {
        row_.push_back(&orders_.front().row(clusters_.radius[k]));
        int order = std::min(row_.back()->most(), most_order_);
        while (order > 0 && expansion_seconds(order) > pair_seconds(k)) --order;
        order_.push_back(static_cast<std::uint8_t>(order));
    }
}

int ClusterPlan::act(std::size_t block, std::size_t cluster) const {
    const auto d = static_cast<std::size_t>(dimension_);
    double apart2 = 0.0;
    with_dimension(dimension_, [&](auto axes) {
        apart2 =
            square_distance<axes()>(blocks_.centre.data() + d * block, clusters_.centre.data() + d * cluster);
    });
    return act_at(apart2, block, cluster);
}

void ClusterPlan::acts(std::size_t block, std::vector<Act>& out) const {
    out.clear();
    with_dimension(dimension_, [&](auto axes) {
        constexpr int d = axes();
        const double* at = blocks_.centre.data() + d * block;
        const double* centre = clusters_.centre.data();
        for (std::size_t k = 0; k < clusters_.count(); ++k, centre += d) {
            const int act = act_at(square_distance<d>(at, centre), block, k);
            if (act != not_at_all) out.push_back({static_cast<std::int32_t>(k), act});
        }
    });
}

int ClusterPlan::largest_order() const {
    return order_.empty() ? 0 : *std::max_element(order_.begin(), order_.end());
}

double ClusterPlan::block_seconds(std::size_t block) const {
    std::vector<Act> all;
    acts(block, all);
    double seconds = 0.0;
    for (const auto& one : all)
        seconds += one.act == by_pairs ? pair_seconds(static_cast<std::size_t>(one.cluster))
                                       : expansion_seconds(one.act);
    return seconds * blocks_.range[block].size();
}

double ClusterPlan::moment_seconds() const {
    double seconds = 0.0;
    for (std::size_t k = 0; k < clusters_.count(); ++k)
        seconds += terms_[order_[k]] * (clusters_.size(k) + 32.0);
    return aim_.rates.moment * seconds;
}

double ClusterPlan::numbers() const {
    double out = 0.0;
    for (const auto order : order_) out += terms_[order] * (order + dimension_) / (dimension_ + 1.0);
    return out;
}

double ClusterPlan::estimate() const {
    const auto seen = std::min(blocks_.count(), estimated_blocks);
    double seconds = 0.0, targets = 0.0;
    for (std::size_t j = 0; j < seen; ++j) {
        const auto block = j * blocks_.count() / seen;
        seconds += block_seconds(block);
        targets += blocks_.range[block].size();
    }
    const auto pairs = static_cast<double>(blocks_.count()) * static_cast<double>(clusters_.count());
    return seconds * static_cast<double>(blocks_.order.size()) / targets / aim_.vectors + moment_seconds() +
           aim_.rates.act * pairs;
}

// The largest slack beyond the bound that the samples allow.
void ClusterPlan::settle_tolerance(const ClusterSamples& samples) {
    constexpr double step = 1.5;
    // Of the tolerance. Plans compute again what exceeds `kept_share`, and samples miss the largest errors.
    constexpr double share = 0.3;
    double slack = aim_.by_bound ? 1.0 : most_slack;
    const auto is_allowed = [&] {
        set_slack(slack);
        return slack == 1.0 ||
               samples.error(*this, aim_.relative_to_sum, aim_.with_gradient) <= share * aim_.tolerance;
    };
    while (!is_allowed()) slack = std::max(1.0, slack / step);
}

void ClusterPlan::set_slack(double slack) {
    slack_ = slack;
    set_tolerance(std::min(most_tolerance, slack * least_));
}

// More clusters as long as to find them costs little beside the best sum so far.
void ClusterPlan::choose_clusters(std::span<const double> sources, const ClusterSamples& samples) {
    constexpr double share = 0.15;        // of the sum, for clustering
    constexpr double little = 0.02;       // of it: so much is spent whether or not sums get faster
    constexpr double look_seconds = 2e-3; // at one number of clusters
    FarthestPoints points(sources, dimension_, threads_);
    PointClusters best;
    double slack = slack_;
    seconds_ = HUGE_VAL;
    int looks = 0, worse = 0;
    for (std::size_t count = 1;; count = next_count(count), ++looks) {
        const double spent = points.work() * aim_.rates.distance + looks * look_seconds;
        if (worse >= 3 && spent > little * std::min(seconds_, aim_.most_seconds)) break;
        const double next = 1.5 * points.work() + 0.5 * static_cast<double>(count * count);
        if (count > 1 && next * aim_.rates.distance > share * std::min(seconds_, aim_.most_seconds)) break;
        points.grow(count);
        clusters_ = points.clusters();
        settle_tolerance(samples);
        if (count > 1 && numbers() > aim_.most_numbers) break;
        const double seconds = estimate();
        worse = seconds > 1.1 * seconds_ ? worse + 1 : 0;
        if (seconds < seconds_) {
            seconds_ = seconds;
            slack = slack_;
            best = clusters_;
        }
        if (points.count() < count) break; // as many as there are places
    }
    clusters_ = std::move(best);
    set_slack(slack);
}

} // namespace farfield
