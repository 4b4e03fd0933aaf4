// Strategy `clusters` of method 'fgt' against sums in long double (gauss_oracle.h): whatever the layout of
// the points, σ, the dimension and the signs, the largest error is within the tolerance of the largest value,
// or of Σ|q|.
#include "effort.h"
#include "oracle/gauss/fgt_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

namespace farfield {
namespace {

using oracle::expect_within;
using oracle::gauss_case;
using oracle::GaussCase;
using oracle::GaussRandom;
using oracle::Layout;

SumOptions by_clusters(SumOptions options = {}) {
    options.method = Method::fgt;
    options.strategy = GaussStrategy::clusters;
    return options;
}

TEST(GaussClusters, KeepEveryToleranceWhateverThePoints) {
    const std::size_t n = test::shorter() ? 150 : 500;
    bool any_expansion = false;
    for (std::size_t d = 1; d <= 6; ++d)
        for (const double sigma : {1e-4, 0.05, 0.2, 1.0, 10.0})
            for (const auto layout : oracle::layouts)
                for (const bool is_signed : {false, true}) {
                    SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                                 (is_signed ? ", signed" : "") + ", sigma " + std::to_string(sigma));
                    const auto points = gauss_case(d, sigma, layout, n, is_signed);
                    const auto exact = points.exact();
                    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
                        const auto report =
                            expect_within(points, exact, by_clusters({.tolerance = tolerance}));
                        any_expansion = any_expansion || report.fgt.expansion_terms > 0;
                    }
                }
    EXPECT_TRUE(any_expansion);
}

TEST(GaussClusters, TakeExpansionsOfManyPoints) {
    const std::size_t n = test::shorter() ? 2500 : 30000;
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

TEST(GaussClusters, ErrorsRelativeToTheSumOfStrengths) {
    for (const std::size_t d : {2U, 4U, 5U})
        for (const double sigma : {0.1, 0.5}) {
            const auto points = gauss_case(d, sigma, Layout::uniform, 4000, false);
            const auto exact = points.exact(80);
            const double all = std::accumulate(points.strengths.begin(), points.strengths.end(), 0.0);
            for (const double tolerance : {1e-2, 1e-3, 1e-6}) {
                auto options = by_clusters({.tolerance = tolerance});
                options.relative_to = RelativeTo::sum;
                const auto result = points.computed(options);
                const auto few = oracle::sampled(points, result, 80);
                for (std::size_t i = 0; i < exact.potential.size(); ++i)
                    EXPECT_LE(std::abs(static_cast<double>(few.potential[i] - exact.potential[i])),
                              tolerance * all);
                for (std::size_t i = 0; i < exact.gradient.size(); ++i)
                    EXPECT_LE(std::abs(static_cast<double>(few.gradient[i] - exact.gradient[i])),
                              tolerance * all / (sigma * std::exp(0.5)));
            }
        }
}

TEST(GaussClusters, SeparateTargetsSeveralVectorsAndLeaveOneOut) {
    for (const double sigma : {0.1, 0.6})
        for (const std::size_t d : {2U, 4U, 5U, 6U}) {
            SCOPED_TRACE(std::to_string(d) + "-dimensional, sigma " + std::to_string(sigma));
            auto points = gauss_case(d, sigma, Layout::uniform, test::shorter() ? 1200 : 3000, false, 6);
            const std::size_t step = 40;
            points.without_own = true;
            for (const double tolerance : {1e-3, 1e-8})
                expect_within(points, points.exact(step), by_clusters({.tolerance = tolerance}), step);
            points.without_own = false;
            points.targets = GaussRandom(5).points(Layout::circle, 1000, d);
            for (double& x : points.targets) x = 1.5 * x - 0.25; // some beyond the sources
            for (const auto output : {Output::potential, Output::gradient})
                expect_within(points, points.exact(step), by_clusters({.tolerance = 1e-6, .outputs = output}),
                              step);
        }
}

TEST(GaussClusters, FarOffPointsAndUnitsOfAnySize) {
    for (const double scale : {1e-100, 1.0, 1e100})
        for (const double offset : {0.0, 100.0, 1e9}) {
            auto points = gauss_case(4, 0.5 * scale, Layout::uniform, 3000, false);
            for (double& x : points.sources) x = (x + offset) * scale;
            for (double& q : points.strengths) q *= scale;
            expect_within(points, points.exact(60), by_clusters({.tolerance = 1e-9}), 60);
        }
}

TEST(GaussClusters, FewPointsAndNone) {
    for (const std::size_t n : {0U, 1U, 2U, 33U}) {
        const auto points = gauss_case(5, 0.3, Layout::uniform, n, true);
        if (n > 0)
            expect_within(points, points.exact(), by_clusters({.tolerance = 1e-12}));
        else
            EXPECT_TRUE(points.computed(by_clusters()).potential.empty());
    }
}

TEST(GaussClusters, BitsDoNotDependOnThreads) {
    for (const double sigma : {0.05, 0.4})
        for (const std::size_t d : {2U, 4U, 6U}) {
            const auto points = gauss_case(d, sigma, Layout::clustered, 20000, true, 2);
            auto options = by_clusters({.tolerance = 1e-4});
            options.threads = 1;
            const auto one = points.computed(options);
            options.threads = 3;
            const auto three = points.computed(options);
            EXPECT_EQ(one.potential, three.potential);
            EXPECT_EQ(one.gradient, three.gradient);
        }
}

TEST(GaussClusters, EveryInstructionSetIsRight) {
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        for (const std::size_t d : {1U, 2U, 3U, 4U, 5U, 6U}) {
            if (!is_available(isa)) continue;
            SCOPED_TRACE(std::string(name_of(isa)) + ", " + std::to_string(d) + "-dimensional");
            const auto points = gauss_case(d, 0.7, Layout::uniform, 3000, false);
            for (const double tolerance : {1e-3, 1e-7}) {
                auto options = by_clusters({.tolerance = tolerance});
                options.isa = isa;
                const auto report = expect_within(points, points.exact(100), options, 100);
                if (tolerance == 1e-3) {
                    EXPECT_GT(report.fgt.expansion_terms, 0);
                }
            }
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

TEST(GaussClusters, AreGivenUpWhenAsked) {
    oracle::expect_given_up(gauss_case(5, 0.2, Layout::uniform, 20000, false), by_clusters());
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
