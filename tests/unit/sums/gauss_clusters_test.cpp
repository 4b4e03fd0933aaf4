// The parts of the fast Gauss transform by clusters: bounds against remainders in long double, orders against
// bounds, expansions against e^t, clusters and blocks against the plainest loops, and sums whose every source
// keeps the bound.
#include "backend/simd/isa.h"
#include "sums/gauss/clusters/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Numbers = std::vector<double>;

Numbers random_points(std::mt19937_64& random, std::size_t n, int d, double spread) {
    std::normal_distribution<double> normal;
    Numbers centres, out;
    for (int k = 0; k < 5 * d; ++k) centres.push_back(3.0 * normal(random));
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < d; ++k)
            out.push_back(centres[i % 5 * static_cast<std::size_t>(d) + static_cast<std::size_t>(k)] +
                          spread * normal(random));
    return out;
}

/// Of length `length`.
Numbers random_direction(std::mt19937_64& random, int d, double length) {
    std::normal_distribution<double> normal;
    Numbers out;
    double square = 0.0;
    for (int k = 0; k < d; ++k) {
        out.push_back(normal(random));
        square += out.back() * out.back();
    }
    for (double& x : out) x *= length / std::sqrt(square);
    return out;
}

/// e^t − Σ_{n<p} tⁿ/n!, by its last terms where it is small.
long double remainder_of_exp(int p, long double t) {
    long double term = 1.0L, sum = 0.0L;
    for (int n = 0; n < p + 400; ++n, term *= t / n)
        if (n >= p) sum += term;
    return sum;
}

/// The errors of the potential and of the gradient for one source and one target, in the bound's units.
struct PairErrors {
    long double value, gradient;
};
PairErrors errors_of_pair(int order, const Numbers& a, const Numbers& b) {
    long double t = 0.0L, squares = 0.0L;
    for (std::size_t k = 0; k < a.size(); ++k) {
        t += static_cast<long double>(a[k]) * b[k];
        squares += static_cast<long double>(a[k]) * a[k] + static_cast<long double>(b[k]) * b[k];
    }
    const long double weight = std::exp(-0.5L * squares);
    const long double rest = remainder_of_exp(order, t);
    const long double lower = order > 0 ? remainder_of_exp(order - 1, t) : rest;
    long double gradient = 0.0L;
    for (std::size_t k = 0; k < a.size(); ++k) {
        const long double part = a[k] * lower - b[k] * rest;
        gradient += part * part;
    }
    return {weight * std::abs(rest), weight * std::sqrt(gradient) * std::exp(0.5L)};
}

TEST(ClusterBound, HoldsForEverySourceAndTarget) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int d = 1; d <= 6; ++d)
        for (int trial = 0; trial < 4000; ++trial) {
            const double radius = 3.0 * uniform(random), distance = 9.0 * uniform(random);
            const int order = static_cast<int>(25.0 * uniform(random));
            const auto b = random_direction(random, d, distance);
            auto a = random_direction(random, d, radius * (trial % 2 == 0 ? 1.0 : uniform(random)));
            if (trial % 3 == 0) // the worst direction
                for (std::size_t k = 0; k < a.size(); ++k) a[k] = b[k] * radius / distance;
            const auto errors = errors_of_pair(order, a, b);
            SCOPED_TRACE(testing::Message() << d << "-dimensional, order " << order << ", radius " << radius
                                            << ", distance " << distance);
            EXPECT_LE(errors.value, cluster_error(order, radius, distance) * (1.0 + 1e-9) + 1e-300);
            EXPECT_LE(errors.gradient,
                      cluster_gradient_error(order, radius, distance) * (1.0 + 1e-9) + 1e-300);
        }
}

TEST(ClusterBound, IsTheErrorOfTheWorstSource) {
    for (const double radius : {0.2, 1.0, 2.5})
        for (const double distance : {2.5, 4.0, 6.0})
            for (const int order : {0, 1, 5, 12}) {
                const auto errors = errors_of_pair(order, {radius}, {distance});
                EXPECT_NEAR(static_cast<double>(errors.value) / cluster_error(order, radius, distance), 1.0,
                            1e-9);
            }
}

TEST(ClusterOrders, AreTheLeastThatKeepTheTolerance) {
    constexpr int most = 24;
    for (const bool with_gradient : {false, true})
        for (const double tolerance : {0.1, 1e-3, 1e-6, 1e-12}) {
            ClusterOrders orders(tolerance, with_gradient, most);
            for (const double radius : {1e-4, 0.03, 0.4, 1.1, 3.0}) {
                const auto& row = orders.row(radius);
                for (double low = 0.0; low < radius + 10.0; low += 0.037)
                    for (const double width : {0.0, 0.1, 1.5}) {
                        const int order = row.order(low, low + width);
                        SCOPED_TRACE(testing::Message() << "tolerance " << tolerance << ", radius " << radius
                                                        << ", from " << low << " on " << width);
                        double needed = 0.0, needed_before = 0.0;
                        for (double s = low; s <= low + width; s += 0.01) {
                            const auto error = [&](int p) {
                                const double value = cluster_error(p, radius, s);
                                return with_gradient ? std::max(value, cluster_gradient_error(p, radius, s))
                                                     : value;
                            };
                            needed = std::max(needed, error(order));
                            needed_before = std::max(needed_before, error(std::max(0, order - 3)));
                        }
                        if (order <= most) {
                            EXPECT_LE(needed, tolerance);
                        }
                        // of a bin of distances, and of a radius that is 3 % larger at most
                        if (width == 0.0 && low >= 1.0 && order > 4 && radius > 0.01) {
                            EXPECT_GT(needed_before, 0.3 * tolerance);
                        }
                    }
            }
        }
}

TEST(ExpansionTables, MakeUpTheExponential) {
    std::mt19937_64 random(3);
    for (int d = 1; d <= 6; ++d) {
        const int most = 8;
        const ExpansionTables tables(d, most);
        const auto a = random_direction(random, d, 1.3), b = random_direction(random, d, 1.7);
        for (int order = 1; order <= most; ++order) {
            const auto places = tables.places(order);
            ASSERT_EQ(static_cast<std::int64_t>(places.size()), expansion_terms(d, order));
            // powers fall along each axis, the first one slowest
            std::vector<int> powers(static_cast<std::size_t>(d), 0);
            powers[0] = order - 1;
            long double sum = 0.0L;
            for (const auto place : places) {
                long double term = tables.factors()[static_cast<std::size_t>(place)];
                for (std::size_t k = 0; k < powers.size(); ++k)
                    term *= std::pow(static_cast<long double>(a[k]) * b[k], powers[k]);
                sum += term;
                std::size_t k = powers.size() - 1;
                while (k > 0 && powers[k] == 0) --k;
                if (powers[k] > 0) --powers[k];
                const int used =
                    std::accumulate(powers.begin(), powers.begin() + static_cast<std::ptrdiff_t>(k) + 1, 0);
                std::fill(powers.begin() + static_cast<std::ptrdiff_t>(k) + 1, powers.end(), 0);
                if (k + 1 < powers.size()) powers[k + 1] = order - 1 - used;
            }
            long double t = 0.0L;
            for (std::size_t k = 0; k < a.size(); ++k) t += static_cast<long double>(a[k]) * b[k];
            EXPECT_NEAR(static_cast<double>(sum + remainder_of_exp(order, t)),
                        static_cast<double>(std::exp(t)), 1e-14 * std::exp(2.3));
            auto sorted = std::vector<std::int32_t>(places.begin(), places.end());
            std::sort(sorted.begin(), sorted.end());
            for (std::size_t n = 0; n < sorted.size(); ++n) // a lower order's come first
                ASSERT_EQ(sorted[n], static_cast<std::int32_t>(n));
        }
    }
}

double distance_of(const double* a, const double* b, std::size_t d) {
    double sum = 0.0;
    for (std::size_t k = 0; k < d; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
}

/// The radius of K farthest-point clusters by comparing all points with all centres.
double radius_of_plain_clusters(const Numbers& points, std::size_t d, std::size_t count) {
    const auto n = points.size() / d;
    Numbers nearest(n, HUGE_VAL);
    std::size_t centre = 0;
    for (std::size_t k = 0; k <= count; ++k) {
        if (k == count) return nearest[centre];
        for (std::size_t i = 0; i < n; ++i)
            nearest[i] = std::min(nearest[i], distance_of(&points[d * i], &points[d * centre], d));
        centre = static_cast<std::size_t>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    }
    return 0.0;
}

TEST(FarthestPoints, AreThoseOfThePlainAlgorithm) {
    std::mt19937_64 random(4);
    for (const int dimension : {1, 2, 5, 6}) {
        const auto d = static_cast<std::size_t>(dimension);
        const auto points = random_points(random, 1500, dimension, 0.7);
        FarthestPoints clusters(points, dimension, 1);
        for (const std::size_t count : {1U, 2U, 7U, 40U, 200U}) {
            clusters.grow(count);
            const auto found = clusters.clusters();
            ASSERT_EQ(found.count(), count);
            const double radius = radius_of_plain_clusters(points, d, count);
            auto order = std::vector<std::int32_t>(found.order.begin(), found.order.end());
            double widest = 0.0;
            for (std::size_t k = 0; k < count; ++k)
                for (auto i = found.begin[k]; i < found.begin[k + 1]; ++i) {
                    const auto point = found.order[static_cast<std::size_t>(i)];
                    EXPECT_EQ(found.of(point), k);
                    const double apart =
                        distance_of(&points[d * static_cast<std::size_t>(point)], &found.centre[d * k], d);
                    EXPECT_LE(apart, found.radius[k] * (1.0 + 1e-14));
                    widest = std::max(widest, apart);
                }
            EXPECT_LE(widest, 2.0 * radius); // about other centres than points
            EXPECT_GE(widest, 0.25 * radius);
            std::sort(order.begin(), order.end());
            for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<std::int32_t>(i));
        }
    }
}

TEST(FarthestPoints, EndAtPointsThatCoincide) {
    const Numbers points = {1.0, 2.0, 1.0, 2.0, 5.0, 2.0, 5.0, 2.0, 1.0, 2.0};
    FarthestPoints clusters(points, 2, 1);
    clusters.grow(5);
    EXPECT_EQ(clusters.count(), 2U);
    EXPECT_EQ(clusters.clusters().radius, Numbers({0.0, 0.0}));
}

TEST(PointBlocks, HoldEachPointOnceInBalls) {
    std::mt19937_64 random(5);
    for (const std::size_t n : {0U, 1U, 32U, 33U, 1000U}) {
        const auto points = random_points(random, n, 3, 1.0);
        const auto blocks = point_blocks(points, 3, 32, 1);
        EXPECT_EQ(blocks.count(), (n + 31) / 32);
        std::vector<int> seen(n, 0);
        for (std::size_t b = 0; b < blocks.count(); ++b) {
            EXPECT_LE(blocks.range[b].size(), 32);
            for (auto i = blocks.range[b].begin; i < blocks.range[b].end; ++i) {
                const auto row = static_cast<std::size_t>(blocks.order[static_cast<std::size_t>(i)]);
                ++seen[row];
                EXPECT_LE(distance_of(&points[3 * row], &blocks.centre[3 * b], 3),
                          blocks.radius[b] * (1.0 + 1e-14));
            }
        }
        EXPECT_EQ(seen, std::vector<int>(n, 1));
    }
}

/// Potential and gradient errors over Σ|q| and Σ|q|/(σ√e), of a sum by clusters that keep the bound.
struct SumErrors {
    double value = 0.0, gradient = 0.0;
    double pairs = 0.0;
    int order = 0;
};
SumErrors errors_by_bound(const Numbers& points, int dimension, double sigma, double tolerance,
                          bool with_gradient) {
    const auto d = static_cast<std::size_t>(dimension);
    const auto n = points.size() / d;
    SumProblem problem{.kernel = &gauss_kernel(),
                       .dimension = dimension,
                       .outputs = {},
                       .sources = static_cast<std::int64_t>(n),
                       .targets = static_cast<std::int64_t>(n),
                       .sigma = sigma};
    const auto extent = gauss_extent(points, {}, dimension, 1);
    const auto frame = choose_gauss_frame(problem, extent);
    GaussShape shape;
    shape.clusters = {.tolerance = tolerance,
                      .relative_to_sum = true,
                      .with_gradient = with_gradient,
                      .by_bound = true,
                      .rates = {.pair = 1.0, .term = 1e-3, .distance = 1e-9}}; // few pairs
    GaussClusters clusters(problem, resolve_isa(Isa::automatic), 1);
    clusters.set_points(shape, {points, {}, extent, frame});
    Numbers strengths(n), potential(n), gradient(n * d);
    for (std::size_t i = 0; i < n; ++i) strengths[i] = i % 3 == 0 ? -1.0 : 0.5;
    SumOutputs outputs{.potential = matrix_view(std::span<double>(potential), 1)};
    if (with_gradient) outputs.gradient = matrix_view(std::span<double>(gradient), dimension);
    GaussSums sums;
    sums.take(problem, outputs, 1, 1);
    std::vector<PassTime> passes;
    WorkWatch watch(clusters.work(), {}, {});
    clusters.add(strengths, 1, 0, sums, passes, watch);
    write_gauss_sums(problem, sums, frame, 0, clusters.target_order(), outputs, 1);
    SumReport report;
    clusters.describe(report);
    SumErrors out{.pairs = static_cast<double>(report.fgt.near_pairs), .order = report.fgt.order};
    long double all = 0.0L;
    for (const double q : strengths) all += std::abs(q);
    for (std::size_t i = 0; i < n; ++i) {
        long double exact = 0.0L, square = 0.0L;
        std::vector<long double> slope(d, 0.0L);
        for (std::size_t j = 0; j < n; ++j) {
            long double r2 = 0.0L;
            for (std::size_t k = 0; k < d; ++k) {
                const long double u = static_cast<long double>(points[d * j + k]) - points[d * i + k];
                r2 += u * u;
            }
            const long double value = strengths[j] * std::exp(-r2 / (2.0L * sigma * sigma));
            exact += value;
            for (std::size_t k = 0; k < d; ++k)
                slope[k] += value / (static_cast<long double>(sigma) * sigma) *
                            (static_cast<long double>(points[d * j + k]) - points[d * i + k]);
        }
        out.value = std::max(out.value, static_cast<double>(std::abs(potential[i] - exact) / all));
        for (std::size_t k = 0; k < d && with_gradient; ++k)
            square += (gradient[d * i + k] - slope[k]) * (gradient[d * i + k] - slope[k]);
        out.gradient =
            std::max(out.gradient, static_cast<double>(std::sqrt(square) * sigma * std::exp(0.5L) / all));
    }
    return out;
}

TEST(GaussClusters, KeepTheBoundOfEverySource) {
    std::mt19937_64 random(6);
    bool any_expansion = false;
    for (int d = 2; d <= 6; ++d)
        for (const double sigma : {0.5, 2.0, 8.0})
            for (const double tolerance : {1e-2, 1e-4, 1e-8}) {
                const auto points = random_points(random, 400, d, 0.3);
                for (const bool with_gradient : {false, true}) {
                    SCOPED_TRACE(testing::Message()
                                 << d << "-dimensional, sigma " << sigma << ", tolerance " << tolerance);
                    const auto errors = errors_by_bound(points, d, sigma, tolerance, with_gradient);
                    EXPECT_LE(errors.value, tolerance);
                    EXPECT_LE(errors.gradient, tolerance);
                    any_expansion = any_expansion || errors.order > 4;
                }
            }
    EXPECT_TRUE(any_expansion);
}

} // namespace
} // namespace farfield
