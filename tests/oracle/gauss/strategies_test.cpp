// What holds for each strategy of method 'fgt' that sums by expansions, against sums in long double
// (fgt_checks.h): whatever the layout of the points, σ, the dimension and the signs, the largest error is
// within the tolerance of the largest value, or of Σ|q|.
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
using oracle::GaussRandom;
using oracle::Layout;

class GaussStrategies : public testing::TestWithParam<GaussStrategy> {
protected:
    static SumOptions with(SumOptions options) {
        options.method = Method::fgt;
        options.strategy = GetParam();
        return options;
    }
    static bool expands(const FgtReport& report) {
        return report.expansion_terms + report.hermite_boxes + report.taylor_boxes + report.translated_boxes >
               0;
    }
};

TEST_P(GaussStrategies, KeepEveryToleranceWhateverThePoints) {
    const std::size_t n = test::fewer() ? 70 : test::shorter() ? 150 : 500;
    int expansions = 0;
    for (std::size_t d = 1; d <= 6; ++d)
        for (const double sigma : {1e-4, 0.05, 0.2, 1.0, 10.0})
            for (const auto layout : oracle::layouts)
                for (const bool is_signed : {false, true}) {
                    SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                                 (is_signed ? ", signed" : "") + ", sigma " + std::to_string(sigma));
                    const auto points = gauss_case(d, sigma, layout, n, is_signed);
                    const auto exact = points.exact();
                    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12})
                        expansions +=
                            expands(expect_within(points, exact, with({.tolerance = tolerance})).fgt);
                }
    EXPECT_GT(expansions, 300);
}

TEST_P(GaussStrategies, ErrorsRelativeToTheSumOfStrengths) {
    for (const std::size_t d : {1U, 2U, 4U, 5U})
        for (const double sigma : {0.1, 0.5}) {
            const auto points = gauss_case(d, sigma, Layout::uniform, 4000, false);
            const auto exact = points.exact(80);
            const double all = std::accumulate(points.strengths.begin(), points.strengths.end(), 0.0);
            for (const double tolerance : {1e-2, 1e-3, 1e-6}) {
                auto options = with({.tolerance = tolerance});
                options.relative_to = RelativeTo::sum;
                const auto few = oracle::sampled(points, points.computed(options), 80);
                for (std::size_t i = 0; i < exact.potential.size(); ++i)
                    EXPECT_LE(std::abs(static_cast<double>(few.potential[i] - exact.potential[i])),
                              tolerance * all);
                for (std::size_t i = 0; i < exact.gradient.size(); ++i)
                    EXPECT_LE(std::abs(static_cast<double>(few.gradient[i] - exact.gradient[i])),
                              tolerance * all / (sigma * std::exp(0.5)));
            }
        }
}

TEST_P(GaussStrategies, SeparateTargetsSeveralVectorsAndLeaveOneOut) {
    for (const double sigma : {0.05, 0.4})
        for (const std::size_t d : {1U, 2U, 3U, 4U, 5U, 6U}) {
            SCOPED_TRACE(std::to_string(d) + "-dimensional, sigma " + std::to_string(sigma));
            auto points = gauss_case(d, sigma, Layout::uniform,
                                     test::fewer()     ? 400
                                     : test::shorter() ? 1200
                                                       : 3000,
                                     false, 6);
            const std::size_t step = 40;
            points.without_own = true;
            for (const double tolerance : {1e-3, 1e-8})
                expect_within(points, points.exact(step), with({.tolerance = tolerance}), step);
            points.without_own = false;
            points.targets = GaussRandom(5).points(Layout::circle, 1000, d);
            for (double& x : points.targets) x = 1.5 * x - 0.25; // some beyond the sources
            for (const auto output : {Output::potential, Output::gradient})
                expect_within(points, points.exact(step), with({.tolerance = 1e-6, .outputs = output}), step);
        }
}

TEST_P(GaussStrategies, FarOffPointsAndUnitsOfAnySize) {
    for (const double scale : {1e-100, 1.0, 1e100})
        for (const double offset : {0.0, 100.0, 1e9})
            for (const std::size_t d : {2U, 4U}) {
                auto points =
                    gauss_case(d, 0.1 * static_cast<double>(d) * scale, Layout::uniform, 2000, false);
                for (double& x : points.sources) x = (x + offset) * scale;
                for (double& q : points.strengths) q *= scale;
                expect_within(points, points.exact(40), with({.tolerance = 1e-9}), 40);
            }
}

TEST_P(GaussStrategies, FewPointsAndNone) {
    for (const std::size_t n : {0U, 1U, 2U, 33U})
        for (const std::size_t d : {1U, 3U, 5U, 6U}) {
            const auto points = gauss_case(d, 0.3, Layout::uniform, n, true);
            if (n > 0) {
                expect_within(points, points.exact(), with({.tolerance = 1e-12}));
            } else {
                EXPECT_TRUE(points.computed(with({})).potential.empty());
            }
        }
}

TEST_P(GaussStrategies, BitsDoNotDependOnThreads) {
    for (const double sigma : {0.02, 0.4})
        for (const std::size_t d : {1U, 2U, 3U, 4U, 6U}) {
            const auto points =
                gauss_case(d, sigma, Layout::clustered, test::sized<std::size_t>(10000, 3000), true, 2);
            auto options = with({.tolerance = 1e-4});
            options.threads = 1;
            const auto one = points.computed(options);
            for (const int threads : {2, 3}) {
                options.threads = threads;
                const auto several = points.computed(options);
                EXPECT_EQ(one.potential, several.potential);
                EXPECT_EQ(one.gradient, several.gradient);
            }
        }
}

TEST_P(GaussStrategies, EveryInstructionSetIsRight) {
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        for (const std::size_t d : {1U, 2U, 3U, 4U, 5U, 6U}) {
            if (!is_available(isa)) continue;
            SCOPED_TRACE(std::string(name_of(isa)) + ", " + std::to_string(d) + "-dimensional");
            const auto points = gauss_case(d, d < 5 ? 1.0 : 3.0, Layout::uniform, 4000, false);
            const auto exact = points.exact(200);
            for (const double tolerance : {1e-2, 1e-5}) {
                auto options = with({.tolerance = tolerance});
                options.isa = isa;
                const auto report = expect_within(points, exact, options, 200);
                if (d < 5 || tolerance == 1e-2) {
                    EXPECT_TRUE(expands(report.fgt)) << tolerance;
                }
            }
        }
}

TEST_P(GaussStrategies, AreGivenUpWhenAsked) {
    for (const std::size_t d : {2U, 5U})
        oracle::expect_given_up(
            gauss_case(d, 0.1, Layout::uniform, test::sized<std::size_t>(20000, 5000), false), with({}));
}

INSTANTIATE_TEST_SUITE_P(Each, GaussStrategies,
                         testing::Values(GaussStrategy::clusters, GaussStrategy::boxes),
                         [](const auto& of) { return std::string(name_of(of.param)); });

} // namespace
} // namespace farfield
