#include "sums/gauss/clusters/clusters.h"

#include "backend/threads/parallel.h"
#include "base/stopwatch.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/points/power_of_two.h"

#include <algorithm>
#include <array>

namespace farfield {
namespace {

SumProblem with_targets_apart(SumProblem problem) {
    problem.self = false;
    return problem;
}

/// Points N×d in units of σ.
RawVector<double> in_sigmas(std::span<const double> points, int dimension, const GaussFrame& frame,
                            int threads) {
    const auto d = static_cast<std::size_t>(dimension);
    RawVector<double> out(points.size());
    const PowerOfTwo scale(frame.exponent);
    parallel_parts(threads, points.size() / d, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            for (std::size_t k = 0; k < d; ++k)
                out[d * i + k] = scale.product(points[d * i + k] - frame.centre[k]) / frame.sigma;
    });
    return out;
}

} // namespace

double GaussClusters::work() const {
    return picoseconds * (plan_.moment_seconds() + turns_.share() * value_seconds());
}

GaussClusters::GaussClusters(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks)
    : problem_(problem), apart_(with_targets_apart(problem)), turns_(ranks), isa_(isa), threads_(threads),
      loops_(apart_, isa, threads), plan_(problem.dimension, threads) {}

void GaussClusters::set_points(const GaussShape& shape, const GaussPointSets& points) {
    frame_ = points.frame;
    const int d = problem_.dimension;
    const auto self = !problem_.self           ? SelfTargets::none
                      : problem_.without_own() ? SelfTargets::without_own
                                               : SelfTargets::with_own;
    plan_.set_points(in_sigmas(points.sources, d, frame_, threads_),
                     in_sigmas(points.targets, d, frame_, threads_), self, shape.clusters);
    const auto targets = problem_.self ? points.sources : points.targets;
    const auto& source_order = plan_.clusters().order;
    sources_.set(points.sources, d, frame_, source_order, false, threads_);
    targets_.set(targets, d, frame_, target_order(), false, threads_);
    loops_.set_points(points.sources, targets, frame_, source_order, target_order());
    centre_ = plan_.clusters().centre;
    for (double& x : centre_) x *= frame_.sigma;
    lay_out();
}

// Where the moments of parts and the coefficients of clusters stand: those of orders 1, 2, … one after the
// other.
void GaussClusters::lay_out() {
    const auto& clusters = plan_.clusters();
    const int d = problem_.dimension, largest = plan_.largest_order();
    tables_.clear();
    if (largest > 0) tables_.emplace_back(d, largest);
    level_.assign(2, 0);
    for (int order = 1; order <= largest; ++order)
        level_.push_back(level_.back() + static_cast<std::size_t>(expansion_terms(d, order)));
    parts_.clear();
    first_part_.clear();
    place_.clear();
    std::size_t moments = 0, coefficients = 0;
    for (std::size_t k = 0; k < clusters.count(); ++k) {
        first_part_.push_back(parts_.size());
        place_.push_back(coefficients);
        const int order = plan_.order_of(k);
        if (order == 0) continue;
        coefficients += level_[static_cast<std::size_t>(order) + 1];
        for (auto begin = clusters.begin[k]; begin < clusters.begin[k + 1]; begin += sources_of_a_part) {
            parts_.push_back({begin, std::min(begin + sources_of_a_part, clusters.begin[k + 1]), k, moments});
            moments += static_cast<std::size_t>(expansion_terms(d, order));
        }
    }
    first_part_.push_back(parts_.size());
    moments_.resize(moments);
    coefficients_.resize(coefficients);
}

void GaussClusters::make_moments(const double* strengths, WorkWatch& watch) {
    const int d = problem_.dimension;
    const auto function = FF_ISA_FUNCTION(ff_cluster_moments, isa_);
    const auto view = sources_.view();
    parallel_for(threads_, static_cast<std::int64_t>(parts_.size()), [&](std::int64_t number) {
        if (watch.stopped()) return;
        const auto& part = parts_[static_cast<std::size_t>(number)];
        const int order = plan_.order_of(part.cluster);
        ClusterMomentTask task{.dimension = d,
                               .order = order,
                               .inverse_sigma = 1.0 / frame_.sigma,
                               .strengths = strengths,
                               .begin = part.begin,
                               .end = part.end,
                               .terms = expansion_terms(d, order),
                               .moments = moments_.data() + part.place};
        AlignedVector<double> scratch(static_cast<std::size_t>(task.terms * cluster_lanes));
        task.scratch = scratch.data();
        for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) {
            task.x[k] = static_cast<const double*>(view.high[k]);
            task.centre[k] = centre_[static_cast<std::size_t>(d) * part.cluster + k];
        }
        function(&task);
        watch.done(part_work());
    });
    if (watch.stopped()) return;
    parallel_for(threads_, static_cast<std::int64_t>(plan_.clusters().count()),
                 [&](std::int64_t k) { pack(static_cast<std::size_t>(k)); });
}

/// The sum of a cluster's parts, over factorials, in the order of each level.
void GaussClusters::pack(std::size_t cluster) {
    const int largest = plan_.order_of(cluster);
    if (largest == 0) return;
    const auto& tables = tables_.front();
    const auto places = tables.places(largest);
    const auto factors = tables.factors();
    std::vector<double> graded(places.size(), 0.0);
    for (auto part = first_part_[cluster]; part < first_part_[cluster + 1]; ++part)
        for (std::size_t n = 0; n < places.size(); ++n)
            graded[static_cast<std::size_t>(places[n])] += moments_[parts_[part].place + n];
    for (std::size_t n = 0; n < graded.size(); ++n) graded[n] *= factors[n];
    double* out = coefficients_.data() + place_[cluster];
    for (int order = 1; order <= largest; ++order)
        for (const auto place : tables.places(order)) *out++ = graded[static_cast<std::size_t>(place)];
}

GaussClusters::Actors GaussClusters::actors_on(std::size_t block) const {
    Actors out;
    const auto& clusters = plan_.clusters();
    const auto d = static_cast<std::size_t>(problem_.dimension);
    std::vector<ClusterPlan::Act> acts;
    plan_.acts(block, acts);
    for (const auto& [cluster, order] : acts) {
        const auto k = static_cast<std::size_t>(cluster);
        if (order == ClusterPlan::by_pairs) {
            const BlockRange range{clusters.begin[k], clusters.begin[k + 1]};
            if (!out.ranges.empty() && out.ranges.back().end == range.begin)
                out.ranges.back().end = range.end;
            else
                out.ranges.push_back(range);
            out.pairs += range.size();
        } else {
            const auto level = static_cast<std::size_t>(order);
            out.expansions.push_back({.coefficients = coefficients_.data() + place_[k] + level_[level],
                                      .centre = centre_.data() + d * k,
                                      .order = order});
            out.terms += static_cast<double>(level_[level + 1] - level_[level]);
        }
    }
    out.pairs *= plan_.blocks().range[block].size();
    out.terms *= plan_.blocks().range[block].size();
    return out;
}

double GaussClusters::part_work() const {
    return picoseconds * plan_.moment_seconds() / static_cast<double>(parts_.size());
}

double GaussClusters::block_work() const {
    return picoseconds * value_seconds() / static_cast<double>(plan_.blocks().count());
}

/// Pairs are those of all vectors, with the first one.
void GaussClusters::take_values(std::int64_t vector, GaussSums& sums, WorkWatch& watch) {
    const auto function = FF_ISA_FUNCTION(ff_cluster_values, isa_);
    const auto view = targets_.view();
    ClusterValueTask all{.dimension = problem_.dimension,
                         .inverse_sigma = 1.0 / frame_.sigma,
                         .potential = sums.potential(vector)};
    for (int k = 0; k < problem_.dimension; ++k) {
        all.x[k] = static_cast<const double*>(view.high[static_cast<std::size_t>(k)]);
        all.gradient[k] = sums.gradient(vector, k);
    }
    const auto& blocks = plan_.blocks();
    std::vector<std::array<double, 2>> done(blocks.count());
    parallel_for(threads_, static_cast<std::int64_t>(blocks.count()), [&](std::int64_t number) {
        const auto b = static_cast<std::size_t>(number);
        if (!turns_.is_mine(b) || watch.stopped()) return;
        const auto actors = actors_on(b);
        auto task = all;
        task.begin = blocks.range[b].begin;
        task.end = blocks.range[b].end;
        task.expansions = actors.expansions.data();
        task.count = static_cast<std::int64_t>(actors.expansions.size());
        if (task.count > 0) function(&task);
        if (vector == 0 && !actors.ranges.empty()) loops_.add(blocks.range[b], actors.ranges, sums);
        done[b] = {actors.terms, actors.pairs};
        watch.done(block_work());
    });
    terms_ = pairs_ = 0.0;
    for (const auto& [terms, pairs] : done) {
        terms_ += terms;
        pairs_ += pairs;
    }
}

// Of all ranks.
void GaussClusters::gather(GaussSums& sums, const WorkWatch& watch) {
    terms_ = turns_.sum(terms_);
    pairs_ = turns_.sum(pairs_);
    const auto& ranges = plan_.blocks().range;
    turns_.gather(
        ranges.size(), [&](std::size_t b) -> const BlockRange& { return ranges[b]; }, sums, watch);
}

void GaussClusters::describe(SumReport& report) const {
    report.fgt = {.strategy = GaussStrategy::clusters,
                  .near_pairs = static_cast<std::int64_t>(pairs_),
                  .clusters = static_cast<std::int64_t>(plan_.clusters().count()),
                  .order = plan_.largest_order(),
                  .expansion_terms = static_cast<std::int64_t>(terms_)};
    if (pairs_ == 0.0) report.precision = Precision::float64;
}

void GaussClusters::add(std::span<const double> strengths, std::int64_t vectors, int exponent,
                        GaussSums& sums, std::vector<PassTime>& passes, WorkWatch& watch) {
    passes = {{"moments", 0.0}, {"values", 0.0}};
    Stopwatch clock;
    const auto& order = plan_.clusters().order;
    loops_.set_strengths(strengths, vectors, exponent, order);
    const auto columns = gauss_strengths<double>(strengths, vectors, exponent, order, threads_);
    for (std::int64_t v = 0; v < vectors && !watch.stopped(); ++v) {
        make_moments(columns[static_cast<std::size_t>(v)].data(), watch);
        passes[0].seconds += clock.lap();
        if (!watch.stopped()) take_values(v, sums, watch);
        passes[1].seconds += clock.lap();
    }
    gather(sums, watch);
    if (!problem_.without_own() || !sums.with_potential()) return;
    const auto own = gauss_strengths<double>(strengths, vectors, exponent, target_order(), threads_);
    for (std::int64_t v = 0; v < vectors; ++v)
        for (std::int64_t i = 0; i < problem_.targets; ++i)
            sums.potential(v)[i] -= own[static_cast<std::size_t>(v)][static_cast<std::size_t>(i)];
}

} // namespace farfield
