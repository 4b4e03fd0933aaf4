// Method 'fgt' against sums in long double: whatever the layout of the points, σ, the dimension and the
// signs, the largest error is within the tolerance of the largest value (gauss_oracle.h, `errors_of`). Few
// points are summed pair by pair up to a cut-off, many on a grid.
#include "effort.h"
#include "expect_error.h"
#include "oracle/gauss/fgt_checks.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <string>

namespace farfield {
namespace {

using oracle::expect_within;
using oracle::gauss_case;
using oracle::GaussRandom;
using oracle::Layout;

constexpr double tolerances[] = {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12};

TEST(FastGaussTransform, KeepsEveryToleranceWhateverThePoints) {
    const std::size_t n = test::fewer() ? 70 : test::shorter() ? 200 : 700;
    for (std::size_t d = 1; d <= 6; ++d)
        for (const double sigma : {1e-4, 1e-2, 0.1, 1.0, 10.0})
            for (const auto layout : oracle::layouts)
                for (const bool is_signed : {false, true}) {
                    SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                                 (is_signed ? ", signed" : "") + ", sigma " + std::to_string(sigma));
                    const auto points = gauss_case(d, sigma, layout, n, is_signed);
                    const auto exact = points.exact();
                    for (const double tolerance : tolerances)
                        expect_within(points, exact, {.tolerance = tolerance});
                }
}

// The verification of the library itself takes most of the time, in long double.
TEST(FastGaussTransform, KeepsEveryToleranceOnAGrid) {
    const bool shorter = test::shorter();
    const std::size_t n = test::fewer() ? 2000 : shorter ? 8000 : 40000;
    const std::size_t step = n / 50;
    for (std::size_t d = 1; d <= 4; ++d)
        for (const double sigma : {0.01, 0.1, 1.0, 10.0})
            for (const auto layout : oracle::layouts) {
                if (shorter && (static_cast<std::size_t>(layout) + d) % 3 != 0) continue;
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                             ", sigma " + std::to_string(sigma));
                const auto points = gauss_case(d, sigma, layout, n, sigma == 0.1);
                const auto exact = points.exact(step);
                for (const double tolerance : tolerances)
                    expect_within(points, exact, {.tolerance = tolerance, .outputs = Output::potential},
                                  step);
                expect_within(points, exact, {.tolerance = 1e-6}, step);
            }
}

TEST(FastGaussTransform, TakesAGridWhereItIsFaster) {
    const auto wide = gauss_case(3, 0.2, Layout::uniform, 20000, false).computed({.method = Method::fgt});
    EXPECT_GT(wide.report.fgt.width, 0);
    EXPECT_GT(wide.report.fgt.grid_numbers, 1000);
    EXPECT_EQ(wide.report.passes.size(), 3U);
    const auto narrow = gauss_case(3, 1e-3, Layout::uniform, 20000, false).computed({.method = Method::fgt});
    EXPECT_EQ(narrow.report.fgt.width, 0);
    EXPECT_GT(narrow.report.fgt.near_pairs, 20000 - 1);
    EXPECT_LT(narrow.report.fgt.near_pairs, 40000000);
}

TEST(FastGaussTransform, SeparateTargetsSeveralVectorsAndLeaveOneOut) {
    for (const double sigma : {0.003, 0.2})
        for (const std::size_t d : {1U, 2U, 3U}) {
            SCOPED_TRACE(std::to_string(d) + "-dimensional, sigma " + std::to_string(sigma));
            auto points = gauss_case(d, sigma, Layout::uniform, 3000, false, 3);
            const std::size_t step = 60;
            points.without_own = true;
            for (const double tolerance : {1e-4, 1e-9})
                expect_within(points, points.exact(step), {.tolerance = tolerance}, step);
            points.without_own = false;
            points.targets = GaussRandom(5).points(Layout::circle, 2000, d);
            for (double& x : points.targets) x = 1.5 * x - 0.25; // some beyond the sources
            for (const auto output : {Output::potential, Output::gradient})
                expect_within(points, points.exact(step), {.tolerance = 1e-9, .outputs = output}, step);
        }
}

TEST(FastGaussTransform, FarOffPointsAndUnitsOfAnySize) {
    for (const double scale : {1e-100, 1.0, 1e100}) {
        auto points = gauss_case(2, 0.05 * scale, Layout::uniform, 8000, false);
        for (double& x : points.sources) x = (x + 100.0) * scale;
        for (double& q : points.strengths) q *= scale;
        expect_within(points, points.exact(80), {.tolerance = 1e-10}, 80);
    }
}

TEST(FastGaussTransform, PointsVeryFarOffKeepTheirDigits) {
    for (const double offset : {1e6, 1e9, 1e25}) {
        SCOPED_TRACE(offset);
        auto points = gauss_case(2, 0.05, Layout::uniform, 8000, false);
        for (double& x : points.sources) x += offset;
        expect_within(points, points.exact(80), {.tolerance = 1e-11}, 80);
    }
    auto line = gauss_case(1, 1e-7, Layout::uniform, 30000, false); // more grid points than indices may be
    expect_within(line, line.exact(600), {.tolerance = 1e-11}, 600);
}

TEST(FastGaussTransform, FewPointsAndNone) {
    for (const std::size_t n : {0U, 1U, 2U, 5U}) {
        const auto points = gauss_case(3, 0.3, Layout::uniform, n, true);
        if (n > 0)
            expect_within(points, points.exact(), {.tolerance = 1e-12});
        else
            EXPECT_TRUE(points.computed({.method = Method::fgt}).potential.empty());
    }
}

TEST(FastGaussTransform, BitsDoNotDependOnThreads) {
    for (const double sigma : {0.002, 0.1})
        for (const std::size_t d : {1U, 2U, 3U}) {
            const auto points = gauss_case(d, sigma, Layout::clustered, 30000, true, 2);
            const auto one = points.computed({.method = Method::fgt, .threads = 1});
            const auto three = points.computed({.method = Method::fgt, .threads = 3});
            EXPECT_EQ(one.potential, three.potential);
            EXPECT_EQ(one.gradient, three.gradient);
        }
}

TEST(FastGaussTransform, EveryInstructionSetIsRight) {
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        for (const std::size_t d : {1U, 2U, 3U}) {
            if (!is_available(isa)) continue;
            SCOPED_TRACE(std::string(name_of(isa)));
            const auto points = gauss_case(d, 0.15, Layout::uniform, 6000, false);
            for (const double tolerance : {1e-4, 1e-11})
                expect_within(points, points.exact(200), {.tolerance = tolerance, .isa = isa}, 200);
        }
}

TEST(FastGaussTransform, IsGivenUpWhenAsked) {
    for (const double sigma : {1e-3, 0.1})
        oracle::expect_given_up(gauss_case(3, sigma, Layout::uniform, 60000, false), {});
}

TEST(FastGaussTransform, SaysWhatItLacks) {
    const auto points = gauss_case(3, 0.1, Layout::uniform, 10, true);
    const auto refused = [&](SumOptions options) {
        options.method = Method::fgt;
        return test::error_of<InvalidArgument>([&] { (void)points.computed(options); });
    };
    test::expect_contains(refused({.variant = Variant::simd}), {"variant", "simd", "direct"});
    test::expect_contains(refused({.tolerance = 1e-3, .guaranteed = true}), {"guaranteed", "fgt"});
    test::expect_contains(refused({.device = {.kind = DeviceKind::cuda, .gpus = {0, 1}}}),
                          {"fgt", "one GPU"});
    test::expect_contains(refused({.order = 5}), {"order", "fmm"});
    const auto gravity = test::error_of<InvalidArgument>([&] {
        (void)sum(oracle::rows_of_numbers(points.sources, 3), oracle::rows_of_numbers(points.strengths, 1),
                  {.method = Method::fgt});
    });
    test::expect_contains(gravity, {"gravity", "fgt", "direct"});
}

} // namespace
} // namespace farfield
