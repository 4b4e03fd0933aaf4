// Densities against sums in long double written from the definition (density_oracle.h), in 1 to 6 dimensions,
// by every rule, at the points and elsewhere, with weights, and without a point's own. Without a tolerance
// direct sums give 1e-13 of the largest value: some rounding errors of exponents up to 700. With a tolerance
// the largest error of the density is within it.
#include "effort.h"
#include "expect_error.h"
#include "oracle/gauss/density_oracle.h"

#include <farfield/density.h>
#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

namespace farfield {
namespace {

using oracle::DensityCase;
using oracle::Real;

ConstArrayView rows(const std::vector<double>& values, std::size_t columns) {
    return matrix_view(std::span<const double>(values), static_cast<std::int64_t>(columns));
}

/// Along slanted axes of different lengths, off the origin.
DensityCase some_points(std::size_t d, std::size_t n, bool weighted, unsigned seed = 3) {
    std::mt19937 engine(seed + static_cast<unsigned>(d));
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> weight(0.2, 3.0);
    DensityCase out{.dimension = d};
    for (std::size_t i = 0; i < n; ++i) {
        double before = 0.0;
        for (std::size_t k = 0; k < d; ++k) {
            const double x = (1.0 + 3.0 * static_cast<double>(k % 3)) * normal(engine) + 0.6 * before;
            out.points.push_back(5.0 * static_cast<double>(k) - 7.0 + x);
            before = x;
        }
        if (weighted) out.weights.push_back(weight(engine));
    }
    return out;
}

std::vector<double> others(const DensityCase& points, std::size_t m) {
    auto out = some_points(points.dimension, m, false, 77).points;
    for (double& x : out) x += 0.5;
    return out;
}

DensityResult computed(const DensityCase& given, DensityOptions options) {
    if (given.without_own) options.sum.self_term = SelfTerm::exclude;
    DensityPoints points{.points = rows(given.points, given.dimension)};
    if (!given.weights.empty()) points.weights = std::span<const double>(given.weights);
    if (!given.targets.empty()) points.targets = rows(given.targets, given.dimension);
    return density(points, options, true);
}

/// The largest difference over the largest value; infinite if their numbers differ.
double error_of(const std::vector<double>& values, const std::vector<Real>& exact) {
    if (values.size() != exact.size()) return HUGE_VAL;
    Real worst = 0, largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        worst = std::max(worst, std::abs(values[i] - exact[i]));
        largest = std::max(largest, std::abs(exact[i]));
        if (!std::isfinite(values[i])) return HUGE_VAL;
    }
    return worst == 0 ? 0.0 : static_cast<double>(worst / largest);
}

void expect_exact(const DensityCase& given, const DensityOptions& options, double tolerance) {
    const auto exact = oracle::exact_density(given, given.bandwidth(options.bandwidth, options.sum.sigma));
    const auto result = computed(given, options);
    EXPECT_LE(error_of(result.density, exact.density), tolerance);
    EXPECT_LE(error_of(result.gradient, exact.gradient), tolerance);
}

std::vector<DensityOptions> all_rules() {
    std::vector<DensityOptions> out(3);
    out[1].bandwidth = BandwidthRule::silverman;
    out[2].bandwidth = BandwidthRule::sigma;
    out[2].sum.sigma = 2.0;
    return out;
}

TEST(Density, IsWhatItsDefinitionSays) {
    for (std::size_t d = 1; d <= 6; ++d)
        for (const auto& options : all_rules())
            for (const bool weighted : {false, true}) {
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + std::string(name_of(options.bandwidth)) +
                             (weighted ? ", weighted" : ""));
                auto given = some_points(d, 120, weighted);
                expect_exact(given, options, 1e-13);
                given.without_own = true;
                expect_exact(given, options, 1e-13);
                given.without_own = false;
                given.targets = others(given, 50);
                expect_exact(given, options, 1e-13);
            }
}

TEST(Density, KeepsItsTolerance) {
    const std::size_t n = test::shorter() ? 300 : 900; // so few that every target is compared
    for (std::size_t d = 1; d <= 6; ++d)
        for (auto options : all_rules())
            for (const bool without_own : {false, true}) {
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + std::string(name_of(options.bandwidth)) +
                             (without_own ? ", without own" : ""));
                auto given = some_points(d, n, true);
                given.without_own = without_own;
                options.sum.method = Method::fgt;
                options.sum.tolerance = 1e-6;
                const auto exact =
                    oracle::exact_density(given, given.bandwidth(options.bandwidth, options.sum.sigma));
                const auto result = computed(given, options);
                EXPECT_LE(error_of(result.density, exact.density), 1e-6);
                ASSERT_EQ(result.report.sum.errors.size(), 2U);
                for (const auto& error : result.report.sum.errors) EXPECT_LE(error.relative, 1e-6);
            }
}

// One point has nearly all the weight: the divisor at it is much smaller than those at the others. With 1e12
// times the weight of all others no fast method keeps the tolerance there, and direct sums take its place.
TEST(Density, WithoutAPointOfNearlyAllTheWeight) {
    for (const double times : {1e3, 1e12}) {
        SCOPED_TRACE(times);
        auto given = some_points(2, 300, true);
        given.weights[17] = times * static_cast<double>(given.all());
        given.without_own = true;
        DensityOptions options{.bandwidth = BandwidthRule::sigma};
        options.sum.sigma = 1.5;
        const auto exact = oracle::exact_density(given, given.bandwidth(options.bandwidth, 1.5));
        expect_exact(given, options, 1e-13);
        options.sum.tolerance = 1e-6;
        options.sum.method = Method::automatic;
        options.sum.precision = Precision::float64;
        EXPECT_LE(error_of(computed(given, options).density, exact.density), 1e-6);
        options.sum.method = Method::fgt;
        options.sum.strategy = GaussStrategy::grid;
        if (times < 1e6) {
            EXPECT_LE(error_of(computed(given, options).density, exact.density), 1e-6);
        } else {
            test::expect_contains(
                test::error_of<ToleranceNotReached>([&] { (void)computed(given, options); }),
                {"without each point itself", "'fgt'", "method = direct"});
        }
    }
}

TEST(Density, ReportsWhatTheRuleFound) {
    const auto given = some_points(3, 90, true);
    for (const auto rule : {BandwidthRule::scott, BandwidthRule::silverman}) {
        DensityOptions options;
        options.bandwidth = rule;
        const auto report = computed(given, options).report;
        EXPECT_NEAR(report.factor, static_cast<double>(given.factor(rule)), 1e-14);
        EXPECT_NEAR(report.effective / static_cast<double>(given.effective()), 1.0, 1e-14);
        EXPECT_NEAR(report.weight / static_cast<double>(given.all()), 1.0, 1e-14);
        const auto covariance = given.covariance();
        for (std::size_t a = 0; a < 3; ++a) {
            EXPECT_NEAR(report.widths[a],
                        static_cast<double>(given.factor(rule) * std::sqrt(covariance[a][a])), 1e-13);
            for (std::size_t b = 0; b < 3; ++b) {
                double product = 0.0;
                for (std::size_t k = 0; k < 3; ++k)
                    product += report.cholesky[3 * a + k] * report.cholesky[3 * b + k];
                EXPECT_NEAR(product, static_cast<double>(covariance[a][b]), 1e-12);
                if (b > a) {
                    EXPECT_EQ(report.cholesky[3 * a + b], 0.0);
                }
            }
        }
    }
}

TEST(Density, OfUnitsAndWeightsOfAnySize) {
    for (const double length : {1e-40, 1e40})
        for (const double weight : {1e-300, 1e300}) {
            SCOPED_TRACE(std::to_string(std::log10(length)) + ", " + std::to_string(std::log10(weight)));
            auto given = some_points(3, 60, true);
            for (double& x : given.points) x *= length;
            for (double& w : given.weights) w *= weight;
            for (auto options : all_rules()) {
                options.sum.sigma *= length;
                expect_exact(given, options, 1e-13);
            }
        }
}

TEST(Density, ReadsFloatsAndStridesAndWritesInPlace) {
    const auto given = some_points(2, 50, true);
    std::vector<float> floats(200, -1.0F); // every other row and column is of something else
    DensityCase rounded{.dimension = 2, .weights = given.weights};
    for (std::size_t i = 0; i < given.points.size(); ++i) {
        const auto x = static_cast<float>(given.points[i]);
        floats[4 * (i / 2) + 2 * (i % 2)] = x;
        rounded.points.push_back(static_cast<double>(x));
    }
    ConstArrayView points(floats.data(), DType::float32, {50, 2});
    points.strides = {4, 2};
    std::vector<double> values(150, -1.0);
    ArrayView out(values.data(), DType::float64, {50});
    out.strides = {3, 0};
    (void)density({.points = points, .weights = std::span<const double>(given.weights)}, {},
                  {.density = out});
    const auto exact = oracle::exact_density(rounded, rounded.bandwidth(BandwidthRule::scott));
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_NEAR(values[3 * i] / static_cast<double>(exact.density[i]), 1.0, 1e-12);
        EXPECT_EQ(values[3 * i + 1], -1.0);
    }
}

TEST(Density, HasTheSameBitsForAnyNumberOfThreads) {
    const auto given = some_points(3, 2000, true);
    for (const bool without_own : {false, true}) {
        std::vector<DensityResult> results;
        for (const int threads : {1, 3}) {
            DensityOptions options;
            options.sum.threads = threads;
            options.sum.method = Method::fgt;
            options.sum.tolerance = 1e-5;
            auto one = given;
            one.without_own = without_own;
            results.push_back(computed(one, options));
        }
        EXPECT_EQ(results[0].density, results[1].density);
        EXPECT_EQ(results[0].gradient, results[1].gradient);
    }
}

std::string refused(const DensityCase& given, const DensityOptions& options = {}) {
    return test::error_of<InvalidArgument>([&] { (void)computed(given, options); });
}

TEST(Density, WeightsThatItDoesNotTake) {
    auto given = some_points(2, 20, true);
    const auto with = [&](std::size_t row, double weight) {
        auto changed = given;
        changed.weights[row] = weight;
        return changed;
    };
    test::expect_contains(refused(with(7, -0.5)), {"row 7", "-0.5", "negative"});
    test::expect_contains(refused(with(3, std::nan(""))), {"weights", "row 3", "nan"});
    auto none = given;
    none.weights.assign(20, 0.0);
    test::expect_contains(refused(none), {"all weights are 0"});
    none.weights.assign(20, 1e308);
    test::expect_contains(refused(none), {"sum of the weights"});
    none.weights.assign(20, 0.0);
    none.weights[4] = 1.0;
    none.without_own = true;
    DensityOptions given_width{.bandwidth = BandwidthRule::sigma};
    given_width.sum.sigma = 1.0;
    test::expect_contains(refused(none, given_width), {"row 4", "all the weight"});
    given.weights.pop_back();
    test::expect_contains(refused(given), {"weights", "{20}"});
}

TEST(Density, PointsThatARuleHasNoWidthsFor) {
    for (std::size_t d = 1; d <= 6; ++d) {
        SCOPED_TRACE(d);
        test::expect_contains(refused(some_points(d, d, false)), {std::to_string(d + 1), "sigma"});
        auto flat = some_points(d, 40, false);
        for (std::size_t i = 0; i < 40; ++i) // the last coordinate follows from the first
            flat.points[i * d + d - 1] = d == 1 ? 2.5 : 0.1 + 3.0 * flat.points[i * d];
        test::expect_contains(refused(flat), {d == 1 ? "at one x" : "on a line", "sigma"});
        DensityOptions given_width{.bandwidth = BandwidthRule::sigma};
        given_width.sum.sigma = 1.0;
        expect_exact(flat, given_width, 1e-13);
    }
    auto broken = some_points(2, 9, false);
    broken.points[5] = std::numeric_limits<double>::infinity();
    test::expect_contains(refused(broken), {"points", "row 2", "y", "inf"});
}

TEST(Density, OptionsThatDoNotGoTogether) {
    const auto given = some_points(2, 20, false);
    DensityOptions options;
    options.sum.sigma = 0.5;
    test::expect_contains(refused(given, options), {"sigma = 0.5", "scott"});
    options = {.bandwidth = BandwidthRule::sigma};
    test::expect_contains(refused(given, options), {"sigma", "scott"});
    options = {};
    options.sum.kernel = Kernel::coulomb;
    test::expect_contains(refused(given, options), {"'coulomb'", "kernel = gauss"});
    options = {};
    options.sum.self_term = SelfTerm::exclude;
    auto elsewhere = given;
    elsewhere.targets = others(given, 5);
    test::expect_contains(refused(elsewhere, options), {"self_term = exclude", "targets"});
    auto far = some_points(6, 40, false);
    for (double& x : far.points) x *= 1e90;
    test::expect_contains(refused(far), {"density", "1e-54", "unit of length"});
    for (double& x : far.points) x *= 1e-180;
    test::expect_contains(refused(far), {"density", "1e53", "unit of length"});
    far.targets.assign(6, 1.0); // nothing of it is seen from there
    EXPECT_EQ(computed(far, {}).density, std::vector<double>(1, 0.0));
    auto line = some_points(1, 40, false);
    line.targets = {line.points[0] + 37.0};
    DensityOptions narrow{.bandwidth = BandwidthRule::sigma};
    narrow.sum.sigma = 1.0;
    EXPECT_GE(computed(line, narrow).density[0], 0.0);
    for (double& x : line.points) x *= 1e200;
    line.targets.clear();
    test::expect_contains(refused(line), {"gradient", "e-40", "unit of length"});
}

} // namespace
} // namespace farfield
