// The tree code against sums in long double that share no code with it: every tolerance is reached, on points
// of many kinds, and the error falls with θ and with the order as the series of a cell does.
#include "effort.h"
#include "oracle/direct/clouds.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace farfield {
namespace {

using namespace clouds;

SumOptions tree(double tolerance) {
    return {.kernel = Kernel::coulomb, .method = Method::treecode, .tolerance = tolerance, .leaf = 8};
}

TEST(TreecodeAccuracy, EveryToleranceIsReached) {
    for (const auto& [name, points] : kinds(test::sized(3000, 600))) {
        const auto exact = oracle::direct_self(points, 0.0L, 1.0L);
        for (const double tolerance :
             test::fewer() ? std::vector{1e-3, 1e-6} : std::vector{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9}) {
            const auto result = sum(points_of(points.xyz), strengths_of(points), tree(tolerance));
            const auto errors = errors_of(result, exact);
            EXPECT_LE(errors.potential, tolerance) << name;
            EXPECT_LE(errors.field, tolerance) << name;
            EXPECT_GT(result.report.treecode.order, 0);
            ASSERT_EQ(result.report.errors.size(), 2U);
        }
    }
}

// Gravity gives a cell more of the tolerance than Coulomb's sum does, negative masses or not.
TEST(TreecodeAccuracy, EveryToleranceIsReachedForGravity) {
    for (const auto& [name, points] : kinds(test::sized(3000, 600))) {
        const auto exact = oracle::direct_self(points, 0.0L, -1.0L);
        for (const double tolerance :
             test::fewer() ? std::vector{1e-3} : std::vector{1e-2, 1e-3, 1e-4, 1e-6}) {
            auto options = tree(tolerance);
            options.kernel = Kernel::gravity;
            const auto result = sum(points_of(points.xyz), strengths_of(points), options);
            const auto errors = errors_of(result, exact);
            EXPECT_LE(errors.potential, tolerance) << name;
            EXPECT_LE(errors.field, tolerance) << name;
        }
    }
}

// Cells have to act by their expansions for that: of many points most do, of fewer to a larger tolerance.
TEST(TreecodeAccuracy, CellsActByTheirExpansions) {
    const auto points = make(test::sized(20000, 6000), 3, in_plummer, mass);
    const double tolerance = test::sized(1e-3, 1e-2);
    const auto result = sum(points_of(points.xyz), strengths_of(points), tree(tolerance));
    const auto& report = result.report.treecode;
    EXPECT_LT(static_cast<double>(report.near_pairs), 0.3 * static_cast<double>(result.report.direct.pairs));
    EXPECT_GT(report.far_pairs, 20 * points.size());
    const auto exact = oracle::direct_self(points, 0.0L, 1.0L);
    EXPECT_LE(errors_of(result, exact).field, tolerance);
    EXPECT_GT(errors_of(result, exact).field, 1e-6) << "something is expanded";
}

// ε from far below the distance of neighbours to far beyond the size of the cloud.
TEST(TreecodeAccuracy, SoftenedKernels) {
    for (const auto& [name, points] : kinds(test::sized(2000, 600))) {
        if (name != "cube" && name != "cube, masses" && name != "Plummer, masses" && name != "two clusters")
            continue;
        for (const double softening : {1e-4, 0.01, 0.1, 0.5, 3.0}) {
            const auto exact = oracle::direct_self(points, softening, 1.0L);
            for (const double tolerance : test::fewer() ? std::vector{1e-4} : std::vector{1e-3, 1e-6}) {
                auto options = tree(tolerance);
                options.softening = softening;
                const auto errors =
                    errors_of(sum(points_of(points.xyz), strengths_of(points), options), exact);
                EXPECT_LE(errors.potential, tolerance) << name << ", softening " << softening;
                EXPECT_LE(errors.field, tolerance) << name << ", softening " << softening;
            }
        }
    }
}

// Without a tolerance θ and p decide alone, at any ε: with softening a sum is no less accurate.
TEST(TreecodeAccuracy, SofteningIsPartOfTheExpansions) {
    const auto points = make(test::sized(4000, 2000), 43, in_cube, mass);
    for (const double softening : {0.0, 0.003, 0.03, 0.3, 3.0}) {
        auto options = tree(0.0);
        options.order = 5;
        options.softening = softening;
        const auto result = sum(points_of(points.xyz), strengths_of(points), options);
        const auto errors = errors_of(result, oracle::direct_self(points, softening, 1.0L));
        EXPECT_LE(errors.potential, 3e-6) << softening;
        EXPECT_LE(errors.field, 3e-5) << softening;
        EXPECT_GT(result.report.treecode.far_pairs, points.size()) << "something is expanded";
    }
}

TEST(TreecodeAccuracy, SeparateTargetsInEveryPrecision) {
    const auto sources = make(2500, 11, in_plummer, mass);
    const auto targets = make(1500, 12, in_cube, mass);
    for (const double softening : {0.0, 0.05}) {
        const auto exact = oracle::direct(sources, targets.xyz, softening, 1.0L);
        for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
            auto options = tree(precision == Precision::float64 ? 1e-7 : 1e-4);
            options.softening = softening;
            options.precision = precision;
            const auto errors = errors_of(
                sum(points_of(sources.xyz), points_of(targets.xyz), strengths_of(sources), options), exact);
            EXPECT_LE(errors.potential, options.tolerance);
            EXPECT_LE(errors.field, options.tolerance);
            EXPECT_GT(errors.field, 1e-11) << "something is expanded";
        }
    }
}

// Gravity is Coulomb's sum with another sign; one output alone has the same bits as both.
TEST(TreecodeAccuracy, GravityAndSingleOutputs) {
    const auto points = make(3000, 14, in_plummer, mass);
    auto options = tree(0.0);
    options.kernel = Kernel::gravity;
    const auto both = sum(points_of(points.xyz), strengths_of(points), options);
    const auto exact = oracle::direct_self(points, 0.0L, -1.0L);
    EXPECT_LE(errors_of(both, exact).potential, 1e-4);
    EXPECT_LE(errors_of(both, exact).field, 1e-3);
    const auto potential = sum(points_of(points.xyz), strengths_of(points), options, Output::potential);
    EXPECT_TRUE(potential.field.empty());
    EXPECT_LE(oracle::relative_l2(potential.potential, exact.potential), 1e-4);
    const auto field = sum(points_of(points.xyz), strengths_of(points), options, Output::field);
    EXPECT_TRUE(field.potential.empty());
    EXPECT_LE(oracle::relative_l2(field.field, exact.field), 1e-3);
}

// The first term that is left out falls as θ^(p + 1) in the potential, whose norm near pairs do not dominate.
TEST(TreecodeAccuracy, ErrorsFallWithThetaAndWithTheOrder) {
    if (test::fewer()) GTEST_SKIP() << "accuracy of large sums";
    const auto points = make(8000, 21, in_cube, mass);
    const auto exact = oracle::direct_self(points, 0.0L, 1.0L);
    const auto error_of = [&](int order, double theta) {
        auto options = tree(0.0);
        options.order = order;
        options.theta = theta;
        return errors_of(sum(points_of(points.xyz), strengths_of(points), options), exact).potential;
    };
    for (const int order : {1, 2, 3, 4, 6}) {
        const double slope = std::log(error_of(order, 0.8) / error_of(order, 0.4)) / std::log(2.0);
        EXPECT_GT(slope, 0.7 * (order + 1)) << order;
        EXPECT_LT(slope, 1.8 * (order + 2)) << order;
    }
    double last = 1.0;
    for (int order = 1; order <= 12; ++order) {
        const double error = error_of(order, 0.5);
        EXPECT_LT(error, 0.7 * last) << order;
        last = error;
    }
    EXPECT_LT(last, 1e-9);
}

TEST(TreecodeAccuracy, FewPoints) {
    for (const int n : {0, 1, 2, 3}) {
        const auto points = make(n, 17, in_cube, mass);
        const auto result = sum(points_of(points.xyz), strengths_of(points), tree(1e-9));
        EXPECT_EQ(result.potential.size(), static_cast<std::size_t>(n));
        if (n < 2) {
            EXPECT_TRUE(
                std::all_of(result.field.begin(), result.field.end(), [](double x) { return x == 0.0; }));
            continue;
        }
        const auto errors = errors_of(result, oracle::direct_self(points, 0.0L, 1.0L));
        EXPECT_LE(errors.potential, 1e-14);
        EXPECT_LE(errors.field, 1e-14);
    }
    auto alone = make(200, 18, in_cube, mass); // all in one leaf
    auto options = tree(1e-9);
    options.leaf = 1000;
    const auto errors = errors_of(sum(points_of(alone.xyz), strengths_of(alone), options),
                                  oracle::direct_self(alone, 0.0L, 1.0L));
    EXPECT_LE(errors.potential, 1e-14);
    EXPECT_LE(errors.field, 1e-14);
}

TEST(TreecodeAccuracy, DuplicatesFollowTheOption) {
    auto points = make(1200, 19, in_cube, mass);
    for (std::size_t i = 0; i < 900; ++i) // more at one place than a group has
        for (std::size_t axis = 0; axis < 3; ++axis)
            points.xyz[3 * i + axis] = points.xyz[3 * (i % 2) + axis];
    auto options = tree(1e-6);
    EXPECT_THROW((void)sum(points_of(points.xyz), strengths_of(points), options), InvalidArgument);
    options.coincident = Coincident::skip;
    const auto result = sum(points_of(points.xyz), strengths_of(points), options);
    options.method = Method::direct;
    options.leaf = 0;
    const auto exact = sum(points_of(points.xyz), strengths_of(points), options);
    EXPECT_EQ(result.report.direct.coincident_pairs_skipped, exact.report.direct.coincident_pairs_skipped);
    EXPECT_LE(oracle::relative_l2(result.field, {exact.field.begin(), exact.field.end()}), 1e-6);
    options.method = Method::treecode; // softened, points at one place act on each other
    options.coincident = Coincident::error;
    options.softening = 0.1;
    EXPECT_LE(errors_of(sum(points_of(points.xyz), strengths_of(points), options),
                        oracle::direct_self(points, 0.1L, 1.0L))
                  .field,
              1e-6);
}

TEST(TreecodeAccuracy, SameBitsForAnyNumberOfThreads) {
    const auto points = make(test::sized(20000, 2000), 23, in_plummer, both_signs);
    for (const auto precision : {Precision::float64, Precision::mixed}) {
        for (const double tolerance : {0.0, 1e-3}) {
            auto options = tree(tolerance);
            options.precision = precision;
            options.threads = 1;
            const auto one = sum(points_of(points.xyz), strengths_of(points), options);
            for (const int threads : {2, 3, 8}) {
                options.threads = threads;
                const auto more = sum(points_of(points.xyz), strengths_of(points), options);
                EXPECT_EQ(more.potential, one.potential);
                EXPECT_EQ(more.field, one.field);
            }
        }
    }
}

// Each instruction set has its own text of the loop.
TEST(TreecodeAccuracy, EveryInstructionSetAgrees) {
    const auto points = make(3000, 24, in_plummer, mass);
    const auto exact = oracle::direct_self(points, 0.01L, 1.0L);
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        for (const int order : {1, 2, 3, 4, 7}) {
            if (!is_available(isa)) continue;
            auto options = tree(0.0);
            options.isa = isa;
            options.order = order;
            options.softening = 0.01;
            const auto errors = errors_of(sum(points_of(points.xyz), strengths_of(points), options), exact);
            EXPECT_LE(errors.potential, 0.01 * std::pow(0.3, order)) << name_of(isa) << ", order " << order;
            EXPECT_LE(errors.field, 0.02 * std::pow(0.3, order)) << name_of(isa) << ", order " << order;
        }
}

TEST(TreecodeAccuracy, APlanTakesOtherStrengthsAndMovedPoints) {
    auto points = make(3000, 37, in_cube, both_signs);
    SumPlan plan(points_of(points.xyz), tree(1e-6));
    std::vector<double> field(points.xyz.size());
    const auto check = [&] {
        plan.execute(strengths_of(points),
                     {.potential = {}, .field = matrix_view(std::span<double>(field), 3), .gradient = {}});
        EXPECT_LE(oracle::relative_l2(field, oracle::direct_self(points, 0.0L, 1.0L).field), 1e-6);
    };
    check();
    for (auto& q : points.q) q = 1.0 - q;
    check();
    for (std::size_t i = 0; i < points.xyz.size(); ++i)
        points.xyz[i] = 3.0 * points.xyz[i] * points.xyz[i] - 1.0;
    plan.update(points_of(points.xyz));
    check();
    std::vector<double> two; // vectors of strengths in one call
    for (const double q : points.q) two.insert(two.end(), {q, 2.0 * q});
    std::vector<double> potential(2 * points.q.size());
    plan.execute(matrix_view(std::span<const double>(two), 2),
                 {.potential = matrix_view(std::span<double>(potential), 2), .field = {}, .gradient = {}});
    for (std::size_t i = 0; i < points.q.size(); ++i) EXPECT_EQ(potential[2 * i + 1], 2.0 * potential[2 * i]);
}

TEST(TreecodeAccuracy, TellsItsProgressAndIsGivenUpWhenAsked) {
    const auto points = make(30000, 41, in_cube, mass);
    std::vector<double> potential(points.q.size());
    SumPlan plan(points_of(points.xyz), tree(0.0));
    const SumOutputs outputs{
        .potential = ArrayView(std::span<double>(potential)), .field = {}, .gradient = {}};
    double last = -1.0;
    plan.execute(strengths_of(points), outputs,
                 {.progress =
                      [&](double share) {
                          EXPECT_GE(share, last);
                          EXPECT_LE(share, 1.0);
                          last = share;
                      },
                  .stop_requested = {}});
    EXPECT_GE(last, 0.0);
    EXPECT_THROW(
        plan.execute(strengths_of(points), outputs, {.progress = {}, .stop_requested = [] { return true; }}),
        Interrupted);
}

TEST(TreecodeAccuracy, SaysWhatItCannotDo) {
    const auto points = make(1000, 31, in_cube, both_signs);
    const auto refused = [&](SumOptions options, OutputSet wanted = {}) {
        try {
            (void)sum(points_of(points.xyz), strengths_of(points), options, wanted);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    auto options = tree(0.0);
    options.order = 13;
    EXPECT_NE(refused(options).find("12"), std::string::npos);
    options.order = 0;
    EXPECT_NE(refused(options, Output::hessian).find("fmm"), std::string::npos)
        << refused(options, Output::hessian);
    const std::vector<double> dipoles(points.xyz.size(), 1.0);
    EXPECT_THROW(
        (void)sum(points_of(points.xyz), SumStrengths{strengths_of(points), points_of(dipoles)}, tree(0.0)),
        InvalidArgument);
    SumPlan plan(points_of(points.xyz), tree(0.0)); // that was told nothing of second derivatives
    std::vector<double> hessian(6 * points.q.size());
    EXPECT_THROW(plan.execute(strengths_of(points), {.potential = {},
                                                     .field = {},
                                                     .gradient = {},
                                                     .hessian = matrix_view(std::span<double>(hessian), 6)}),
                 InvalidArgument);
    options = tree(1e-12);
    options.precision = Precision::float32;
    EXPECT_THROW((void)sum(points_of(points.xyz), strengths_of(points), options), ToleranceNotReached);
}

} // namespace
} // namespace farfield
