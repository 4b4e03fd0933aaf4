// Strategy `clusters` of method 'fgt' against sums in long double (fgt_checks.h): what strategies_test.cpp
// does not ask of every one.
#include "effort.h"
#include "oracle/gauss/fgt_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace farfield {
namespace {

using oracle::expect_within;
using oracle::gauss_case;
using oracle::GaussCase;
using oracle::Layout;

SumOptions by_clusters(SumOptions options = {}) {
    options.method = Method::fgt;
    options.strategy = GaussStrategy::clusters;
    return options;
}

TEST(GaussClusters, TakeExpansionsOfManyPoints) {
    const std::size_t n = test::fewer() ? 1000 : test::shorter() ? 2500 : 30000;
    const std::size_t step = n / 50;
    for (std::size_t d = 2; d <= 6; ++d)
        for (const double sigma : {0.1, 0.3, 1.0, 4.0})
            for (const auto layout : {Layout::uniform, Layout::clustered}) {
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                             ", sigma " + std::to_string(sigma));
                const auto points = gauss_case(d, sigma, layout, n, sigma == 0.3);
                const auto exact = points.exact(step);
                for (const double tolerance : {1e-2, 1e-3, 1e-5, 1e-7}) {
                    const auto report = expect_within(
                        points, exact, by_clusters({.tolerance = tolerance, .outputs = Output::potential}),
                        step);
                    if (sigma > 0.9) {
                        EXPECT_GT(report.fgt.order, 0);
                        EXPECT_LT(report.fgt.near_pairs, static_cast<std::int64_t>(n * n / 2));
                    }
                }
                expect_within(points, exact, by_clusters({.tolerance = 1e-4}), step);
            }
}

TEST(GaussClusters, AreTakenWhereTheyAreFaster) {
    const auto way_of = [](const GaussCase& points) {
        const auto report = points.computed({.method = Method::fgt, .tolerance = 1e-3}).report;
        EXPECT_LE(report.errors.front().relative, 1e-3);
        return report.fgt.strategy;
    };
    EXPECT_EQ(way_of(gauss_case(5, 0.5, Layout::clustered, 20000, false)), GaussStrategy::clusters);
    EXPECT_EQ(way_of(gauss_case(6, 2.0, Layout::uniform, 20000, false)), GaussStrategy::clusters);
    EXPECT_EQ(way_of(gauss_case(4, 0.02, Layout::uniform, 20000, false)), GaussStrategy::pairs);
    EXPECT_EQ(way_of(gauss_case(3, 0.2, Layout::uniform, 20000, false)), GaussStrategy::grid);
}

// Each clump is out of sight of the other, so far that e^(a·b) of their points is beyond a double.
TEST(GaussClusters, ClumpsFarApartWithoutATolerance) {
    auto points = gauss_case(4, 0.2, Layout::uniform, 4000, false);
    for (std::size_t i = 0; i < points.sources.size(); ++i)
        points.sources[i] += i % 8 < 4 ? 0.0 : 200.0; // of every other point
    const auto exact = points.exact(80);
    for (const auto strategy : {GaussStrategy::clusters, GaussStrategy::automatic}) {
        SumOptions options{.method = Method::fgt};
        options.strategy = strategy;
        const auto result = points.computed(options);
        const auto errors = oracle::errors_of(points, result, exact, 1e-6, 80);
        EXPECT_LE(errors.potential, 1e-6) << name_of(strategy);
        EXPECT_LE(errors.gradient, 1e-6) << name_of(strategy);
    }
}

// Neighbours add little beside a point's own value, which does not count.
TEST(GaussClusters, LeaveOneOutOfSparsePointsWithoutATolerance) {
    auto points = gauss_case(5, 0.08, Layout::uniform, 4000, false);
    points.without_own = true;
    const auto exact = points.exact(20);
    const auto result = points.computed(by_clusters());
    const auto errors = oracle::errors_of(points, result, exact, 1e-6, 20);
    EXPECT_LE(errors.potential, 1e-6);
    EXPECT_LE(errors.gradient, 1e-6);
}

} // namespace
} // namespace farfield
