// Strategy `boxes` of method 'fgt' against sums in long double (fgt_checks.h): what strategies_test.cpp does
// not ask of every one, and that each of the four interactions of boxes is taken.
#include "effort.h"
#include "oracle/gauss/fgt_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace farfield {
namespace {

using oracle::expect_within;
using oracle::gauss_case;
using oracle::GaussCase;
using oracle::GaussRandom;
using oracle::Layout;
using oracle::Numbers;

SumOptions by_boxes(SumOptions options = {}) {
    options.method = Method::fgt;
    options.strategy = GaussStrategy::boxes;
    return options;
}

TEST(GaussBoxes, TakeExpansionsOfManyPoints) {
    const std::size_t n = test::fewer() ? 1500 : test::shorter() ? 5000 : 30000;
    const std::size_t step = n / 50;
    for (std::size_t d = 1; d <= 4; ++d)
        for (const double sigma : {0.02, 0.1, 0.3, 1.0})
            for (const auto layout : {Layout::uniform, Layout::clustered}) {
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                             ", sigma " + std::to_string(sigma));
                const auto points = gauss_case(d, sigma, layout, n, sigma == 0.3);
                const auto exact = points.exact(step);
                for (const double tolerance : {1e-2, 1e-4, 1e-7, 1e-11}) {
                    const auto fgt =
                        expect_within(points, exact,
                                      by_boxes({.tolerance = tolerance, .outputs = Output::potential}), step)
                            .fgt;
                    if (d < 3 && sigma > 0.05) {
                        EXPECT_LT(fgt.near_pairs, static_cast<std::int64_t>(n)); // nearly none
                        EXPECT_GT(fgt.order, 1);
                    }
                }
                expect_within(points, exact, by_boxes({.tolerance = 1e-4}), step);
            }
}

/// A dense cloud of m points, and n that are spread thinly, in a unit square.
Numbers cloud_and_rest(GaussRandom& random, std::size_t cloud, std::size_t rest) {
    Numbers out;
    for (std::size_t i = 0; i < cloud + rest; ++i)
        for (int k = 0; k < 2; ++k)
            out.push_back(i < cloud ? random.uniform(0.5, 0.51) : random.uniform(0.0, 1.0));
    return out;
}

// A cloud acts on lone targets by its Hermite expansion, lone sources act on a cloud by its Taylor expansion,
// clouds on each other by both, lone points on each other pair by pair.
TEST(GaussBoxes, TakeEachOfTheFourInteractions) {
    GaussRandom random(77);
    const auto n = test::sized<std::size_t>(20000, 5000);
    const auto case_of = [&](std::size_t sources, std::size_t targets) {
        GaussCase points{.dimension = 2, .sigma = 0.05};
        points.sources = cloud_and_rest(random, sources, 400);
        points.targets = cloud_and_rest(random, targets, 400);
        points.strengths = random.strengths(points.source_count());
        return points;
    };
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
        const auto of = [&](std::size_t sources, std::size_t targets) {
            const auto points = case_of(sources, targets);
            const std::size_t step = 1 + targets / 200;
            return expect_within(points, points.exact(step), by_boxes({.tolerance = tolerance}), step).fgt;
        };
        const auto many_sources = of(n, 0), many_targets = of(0, n), both = of(n, n);
        for (const auto& fgt : {many_sources, many_targets}) EXPECT_GT(fgt.pair_boxes, 0);
        EXPECT_GT(many_sources.hermite_boxes, 0);
        EXPECT_GT(many_targets.taylor_boxes, 0);
        EXPECT_GT(both.hermite_boxes + both.taylor_boxes, 0);
        EXPECT_LT(both.near_pairs, static_cast<std::int64_t>(n * n / 10));
        const auto square = gauss_case(2, 0.1, Layout::uniform, n, true);
        const auto even =
            expect_within(square, square.exact(100), by_boxes({.tolerance = tolerance}), 100).fgt;
        EXPECT_GT(even.translated_boxes, 0);
        EXPECT_EQ(even.near_pairs, 0);
    }
}

TEST(GaussBoxes, EveryPrecision) {
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
        const auto points = gauss_case(2, 0.02, Layout::clustered, 3000, false);
        auto options = by_boxes({.tolerance = 1e-4});
        options.precision = precision;
        expect_within(points, points.exact(20), options, 20);
    }
}

// No grid of narrow Gaussians over the whole extent, and too many pairs in the dense places.
TEST(GaussBoxes, AreTakenWhereTheyAreFaster) {
    const auto way_of = [](const GaussCase& points) {
        const auto result = points.computed({.method = Method::fgt, .tolerance = 1e-6}, Output::potential);
        EXPECT_LE(result.report.errors.front().relative, 1e-6);
        return result.report.fgt.strategy;
    };
    EXPECT_EQ(way_of(gauss_case(2, 0.0005, Layout::clustered, 100000, false)), GaussStrategy::boxes);
    EXPECT_EQ(way_of(gauss_case(2, 0.2, Layout::uniform, 20000, false)), GaussStrategy::grid);
    EXPECT_EQ(way_of(gauss_case(3, 0.001, Layout::uniform, 20000, false)), GaussStrategy::pairs);
}

} // namespace
} // namespace farfield
