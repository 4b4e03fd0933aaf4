// Method 'direct' for Gaussians against sums in long double: every instruction set, precision and dimension,
// one and several vectors of strengths, potential and gradient alone and together.
//
// Double rounds a term by some 1e-15 of the strength, and its exponent by r²ε/2σ² where the term is still
// e^(−r²/2σ²): 1e-14 of the largest value is asked for of strengths of one sign, 1e-13 of both. Floats round
// terms, and inputs that are no floats, by 6e-8 and exponents accordingly: 1e-6, and 5e-6.
#include "effort.h"
#include "expect_error.h"
#include "oracle/gauss/gauss_oracle.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace farfield {
namespace {

using oracle::GaussCase;
using oracle::GaussRandom;
using oracle::Layout;
using oracle::Numbers;

void round_to_float(Numbers& values) {
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
}

void expect_right(const GaussCase& points, const SumOptions& options, double tolerance,
                  OutputSet wanted = {}) {
    const auto exact = points.exact();
    const auto result = points.computed(options, wanted);
    if (exact.potential.empty()) return;
    EXPECT_EQ(result.potential.empty(), !wanted.empty() && !wanted.has(Output::potential));
    EXPECT_EQ(result.gradient.empty(), !wanted.empty() && !wanted.has(Output::gradient));
    const auto errors = oracle::errors_of(points, result, exact, tolerance);
    EXPECT_LE(errors.potential, tolerance);
    EXPECT_LE(errors.gradient, tolerance);
}

double tolerance_of(Precision precision) { return precision == Precision::float64 ? 1e-13 : 5e-6; }

class GaussDirect : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Isas, GaussDirect, testing::Values(Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512),
                         [](const auto& parameter) {
                             std::string name(name_of(parameter.param));
                             std::erase(name, '.');
                             return name;
                         });

TEST_P(GaussDirect, EveryLoopIsRight) {
    if (!is_available(GetParam())) GTEST_SKIP() << "this machine has no " << name_of(GetParam());
    const std::size_t n = test::sized<std::size_t>(301, 101); // in both cases not a multiple of any tile
    for (std::size_t d = 1; d <= 6; ++d)
        for (const std::size_t vectors : {1U, 3U, 6U}) {
            GaussRandom random(10 * d + vectors);
            GaussCase points{.dimension = d, .vectors = vectors, .sigma = 0.3};
            points.sources = random.points(Layout::uniform, n, d);
            points.strengths = random.strengths(n * vectors);
            round_to_float(points.sources);
            auto apart = points;
            apart.targets = random.points(Layout::uniform, 45, d);
            round_to_float(apart.targets);
            for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
                SCOPED_TRACE(std::to_string(d) + " dimensions, " + std::to_string(vectors) + " vectors, " +
                             std::string(name_of(precision)));
                const SumOptions options{.precision = precision, .isa = GetParam()};
                expect_right(points, options, tolerance_of(precision));
                expect_right(apart, options, tolerance_of(precision));
                for (const auto output : {Output::potential, Output::gradient})
                    expect_right(points, options, tolerance_of(precision), output);
                points.without_own = true;
                expect_right(points, options, tolerance_of(precision));
                points.without_own = false;
            }
        }
}

TEST(GaussDirectSum, IsExactForStrengthsOfOneSign) {
    GaussRandom random(2);
    GaussCase points{.dimension = 3, .sigma = 0.1};
    points.sources = random.points(Layout::uniform, 2000, 3);
    points.strengths = random.strengths(2000, false);
    expect_right(points, {.precision = Precision::float64}, 1e-14);
    round_to_float(points.sources);
    expect_right(points, {.precision = Precision::float32}, 1e-6);
}

// σ far below and far above the distances, points far off, and units of any size.
TEST(GaussDirectSum, EveryWidthAndPlaceIsRight) {
    for (const double sigma : {1e-4, 1e-2, 1.0, 10.0, 1e4})
        for (const auto layout : oracle::layouts) {
            SCOPED_TRACE(oracle::name_of_layout(layout) + ", sigma " + std::to_string(sigma));
            GaussRandom random(3);
            GaussCase points{.dimension = 2, .sigma = sigma};
            points.sources = random.points(layout, 400, 2);
            points.strengths = random.strengths(400, false);
            for (const auto precision : {Precision::mixed, Precision::float64})
                expect_right(points, {.precision = precision}, tolerance_of(precision));
            for (double& x : points.sources) x += 1000.0;
            for (const auto precision : {Precision::mixed, Precision::float64})
                expect_right(points, {.precision = precision}, tolerance_of(precision));
        }
}

TEST(GaussDirectSum, UnitsOfAnySizeAreRight) {
    for (const double scale : {1e-200, 1e-30, 1e30, 1e200}) {
        SCOPED_TRACE(scale);
        GaussRandom random(4);
        GaussCase points{.dimension = 3, .sigma = 0.2 * scale};
        points.sources = random.points(Layout::uniform, 200, 3);
        points.strengths = random.strengths(200, false);
        for (double& x : points.sources) x *= scale;
        for (double& q : points.strengths) q *= 1e50;
        for (const auto precision : {Precision::mixed, Precision::float64})
            expect_right(points, {.precision = precision}, tolerance_of(precision));
    }
}

TEST(GaussDirectSum, FewPointsAndNone) {
    for (const std::size_t n : {0U, 1U, 2U, 3U}) {
        SCOPED_TRACE(n);
        GaussRandom random(5);
        GaussCase points{.dimension = 4, .sigma = 0.5};
        points.sources = random.points(Layout::uniform, n, 4);
        points.strengths = random.strengths(n);
        expect_right(points, {}, 1e-13);
        points.targets = random.points(Layout::uniform, 3, 4);
        expect_right(points, {}, 1e-13);
    }
    GaussCase alone{.dimension = 2, .sigma = 0.1, .sources = {0.25, -1.0}, .strengths = {3.0}};
    EXPECT_EQ(alone.computed({}).potential, Numbers{3.0});
    alone.without_own = true;
    EXPECT_EQ(alone.computed({}).potential, Numbers{0.0});
}

TEST(GaussDirectSum, BitsDependNeitherOnThreadsNorOnOtherVectors) {
    GaussRandom random(6);
    GaussCase points{.dimension = 3, .vectors = 5, .sigma = 0.1};
    points.sources = random.points(Layout::uniform, 1500, 3);
    points.strengths = random.strengths(1500 * 5);
    const auto one = points.computed({.threads = 1});
    const auto three = points.computed({.threads = 3});
    EXPECT_EQ(one.potential, three.potential);
    EXPECT_EQ(one.gradient, three.gradient);
}

TEST(GaussDirectSum, IsVerifiedAgainstTheLargestValueOrTheSum) {
    GaussRandom random(7);
    GaussCase points{.dimension = 3, .sigma = 1e-3};
    points.sources = random.points(Layout::uniform, 3000, 3);
    points.strengths = random.strengths(3000, false);
    const auto by_largest = points.computed({.tolerance = 1e-2, .precision = Precision::float32});
    const auto by_sum =
        points.computed({.tolerance = 1e-2, .relative_to = RelativeTo::sum, .precision = Precision::float32});
    ASSERT_EQ(by_largest.report.errors.size(), 2U);
    double sum = 0.0, largest = 0.0;
    for (const double q : points.strengths) sum += q;
    for (const double value : by_largest.potential) largest = std::max(largest, value);
    EXPECT_GT(by_largest.report.errors[0].relative, 0.0);
    EXPECT_NEAR(by_sum.report.errors[0].relative / by_largest.report.errors[0].relative, largest / sum,
                1e-6 * largest / sum);
}

TEST(GaussDirectSum, SaysWhatIsWrong) {
    GaussRandom random(8);
    GaussCase points{.dimension = 3, .sigma = 0.1};
    points.sources = random.points(Layout::uniform, 10, 3);
    points.strengths = random.strengths(10);
    const auto refused = [](const GaussCase& of, const SumOptions& options) {
        return test::error_of<InvalidArgument>([&] { (void)of.computed(options); });
    };
    test::expect_contains(refused(points, {.variant = Variant::symmetric}), {"variant", "symmetric", "simd"});
    auto apart = points;
    apart.targets = points.sources;
    apart.without_own = true;
    test::expect_contains(refused(apart, {}), {"self_term", "exclude", "targets"});
    auto tiny = points;
    tiny.sigma = 1e-150;
    test::expect_contains(refused(tiny, {}), {"sigma", "1e-150", "larger"});
    tiny.sigma = 1e-30;
    test::expect_contains(refused(tiny, {.precision = Precision::mixed}), {"sigma", "precision", "double"});
    auto huge = points;
    for (double& q : huge.strengths) q = std::numeric_limits<double>::max();
    test::expect_contains(refused(huge, {}), {"row", "not finite", "rescale"});
    auto bad = points;
    bad.sources[4] = std::nan("");
    test::expect_contains(refused(bad, {}), {"sources", "row 1"});
    bad = points;
    bad.strengths.pop_back();
    test::expect_contains(refused(bad, {}), {"strengths"});
    const auto gravity = test::error_of<InvalidArgument>([&] {
        (void)sum(oracle::rows_of_numbers(points.sources, 3), oracle::rows_of_numbers(points.strengths, 1),
                  {.self_term = SelfTerm::exclude});
    });
    test::expect_contains(gravity, {"gravity", "self_term"});
    const auto norm = test::error_of<InvalidArgument>([&] {
        (void)sum(oracle::rows_of_numbers(points.sources, 3), oracle::rows_of_numbers(points.strengths, 1),
                  {.relative_to = RelativeTo::sum});
    });
    test::expect_contains(norm, {"gravity", "relative_to"});
}

} // namespace
} // namespace farfield
