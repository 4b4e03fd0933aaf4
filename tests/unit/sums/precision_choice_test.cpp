// Precision::automatic: what a sum begins with, and when it goes on in double.
#include "sums/asked.h"
#include "sums/select/choice.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::list;
using test::rows;
using test::Values;

Values in_a_cube(std::size_t n) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> side(0.0, 1.0);
    Values out(3 * n);
    for (double& x : out) x = side(engine);
    return out;
}

Precision first_of(const SumOptions& options) {
    const auto points = in_a_cube(10);
    return first_precision(problem_of(options, rows(points), nullptr), options);
}

SumReport report_of(const Values& points, const SumOptions& options) {
    const Values charges(points.size() / 3, 1.0);
    return sum(rows(points), list(charges), options).report;
}

TEST(AutomaticPrecision, IsDoubleUnlessATolerancePermitsLess) {
    EXPECT_EQ(first_of({}), Precision::float64);
    EXPECT_EQ(first_of({.tolerance = 1e-7}), Precision::float64);
    EXPECT_EQ(first_of({.tolerance = 1e-4}), Precision::mixed);
    EXPECT_EQ(first_of({.method = Method::fmm, .tolerance = 1e-4}), Precision::mixed);
    EXPECT_EQ(first_of({.method = Method::automatic, .tolerance = 1e-4}), Precision::mixed);
    EXPECT_EQ(first_of({.tolerance = 1e-4, .precision = Precision::float32}), Precision::float32);
    EXPECT_EQ(first_of({.tolerance = 1e-12, .precision = Precision::mixed}), Precision::mixed);
}

TEST(AutomaticPrecision, IsDoubleWhereTheMethodHasNothingElse) {
    EXPECT_EQ(first_of({.method = Method::reference, .tolerance = 1e-4}), Precision::float64);
    EXPECT_EQ(first_of({.tolerance = 1e-4, .variant = Variant::naive}), Precision::float64);
    EXPECT_EQ(first_of({.method = Method::fmm, .tolerance = 1e-4, .order = 40}), Precision::float64);
    EXPECT_EQ(first_of({.method = Method::automatic, .tolerance = 1e-4, .order = 40}), Precision::float64);
}

TEST(AutomaticPrecision, IsReported) {
    const auto points = in_a_cube(500);
    const auto mixed = report_of(points, {.tolerance = 1e-4});
    EXPECT_EQ(mixed.precision, Precision::mixed);
    EXPECT_GT(mixed.errors.at(0).relative, 1e-9) << "this is what mixed precision leaves";
    const auto wide = report_of(points, {.tolerance = 1e-7});
    EXPECT_EQ(wide.precision, Precision::float64);
    EXPECT_LT(wide.errors.at(0).relative, 1e-13);
}

// Charges of both signs, so near each other that little of either is left at the targets.
TEST(AutomaticPrecision, GoesOnInDoubleWhereMixedFallsShort) {
    const auto places = in_a_cube(400);
    Values points, charges, targets;
    for (std::size_t i = 0; i < 200; ++i)
        for (const double sign : {1.0, -1.0}) {
            points.insert(points.end(), {places[3 * i] + sign * 1e-5, places[3 * i + 1], places[3 * i + 2]});
            charges.push_back(sign);
        }
    targets.assign(places.begin() + 600, places.end());
    for (double& x : targets) x += 1.0;
    for (const auto method : {Method::direct, Method::fmm}) {
        SumOptions options{.kernel = Kernel::coulomb, .method = method, .tolerance = 1e-5};
        SumPlan plan(rows(points), rows(targets), options);
        Values potential(200), field(600);
        plan.execute(list(charges), {.potential = std::span<double>(potential)});
        EXPECT_EQ(plan.report().precision, Precision::float64) << name_of(method);
        ASSERT_EQ(plan.report().errors.size(), 1U);
        EXPECT_LE(plan.report().errors[0].relative, 1e-5);
        plan.update(rows(points), rows(targets));
        plan.execute(list(charges), {.field = matrix_view(std::span<double>(field), 3)});
        EXPECT_EQ(plan.report().precision, Precision::float64) << "and stays there";
        EXPECT_LE(plan.report().errors.at(1).relative, 1e-5);
        options.precision = Precision::mixed;
        EXPECT_THROW((void)sum(rows(points), rows(targets), list(charges), options), ToleranceNotReached)
            << "what was asked for stays";
    }
}

TEST(AutomaticPrecision, HasPairsThatFloatWouldLose) {
    const Values points{0, 0, 0, 1e-10, 0, 0, 1e40, 0, 0};
    for (const auto method : {Method::direct, Method::fmm}) {
        const SumOptions options{.method = method, .tolerance = 1e-3};
        const auto report = report_of(points, options);
        EXPECT_EQ(report.precision, Precision::float64) << name_of(method);
    }
}

} // namespace
} // namespace farfield
