// The fast multipole method in the plane against sums in long double that share no code with it: points of
// many kinds and every tolerance, orders by hand, every instruction set, and what a sum may be asked for.
#include "effort.h"
#include "expect_error.h"
#include "oracle/plane/plane_oracle.h"
#include "sums/fmm/plane/plane_shape.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numbers>
#include <string>

namespace farfield {
namespace {

using oracle::PlanePoints;
using oracle::PlaneRandom;
using oracle::PlaneValues;
using oracle::relative_l2;

/// Deep enough that all passes have work.
SumOptions fmm(SumOptions options = {}) {
    options.kernel = Kernel::laplace2d;
    options.method = Method::fmm;
    if (options.leaf == 0 && options.depth < 0) options.leaf = 12;
    return options;
}

SumResult sum_of(const PlanePoints& sources, const SumOptions& options, OutputSet wanted = {}) {
    return sum(sources.points(), sources.strengths(), fmm(options), wanted);
}

double error_of(const SumResult& result, const PlaneValues& exact) {
    return std::max(relative_l2(result.potential, exact.potential), relative_l2(result.field, exact.field));
}

struct Kind {
    std::string name;
    std::function<std::array<double, 2>(PlaneRandom&)> place;
    double scale = 1.0, offset = 0.0;
    bool complex_strengths = true, positive = false;

    [[nodiscard]] PlanePoints points(std::size_t n) const {
        PlaneRandom random(17);
        PlanePoints out;
        for (std::size_t i = 0; i < n; ++i) {
            for (const double x : place(random)) out.xy.push_back(scale * x + offset);
            const double low = positive ? 0.5 : -1.0;
            out.q.push_back(random.uniform(low, 1.0));
            out.q.push_back(complex_strengths ? random.uniform(low, 1.0) : 0.0);
        }
        return out;
    }
};

std::array<double, 2> in_square(PlaneRandom& random) { return {random.uniform(0, 1), random.uniform(0, 1)}; }
std::array<double, 2> on_circle(PlaneRandom& random) {
    const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
    return {std::cos(angle), std::sin(angle)};
}
std::array<double, 2> on_line(PlaneRandom& random) { return {random.uniform(0, 1), 0.25}; }
std::array<double, 2> towards_corner(PlaneRandom& random) {
    return {std::pow(random.uniform(0, 1), 6), std::pow(random.uniform(0, 1), 6)};
}
std::array<double, 2> in_clusters(PlaneRandom& random) {
    return {(random.chance(0.5) ? 1.0 : 0.0) + 1e-3 * random.normal(), 1e-3 * random.normal()};
}

std::vector<Kind> kinds() {
    return {{"square", in_square},
            {"square, real", in_square, 1.0, 0.0, false},
            {"square, positive", in_square, 1.0, 0.0, true, true},
            {"circle", on_circle},
            {"circle, real and positive", on_circle, 1.0, 0.0, false, true},
            {"line", on_line},
            {"dense towards a corner", towards_corner},
            {"two clusters", in_clusters},
            {"scale 1e-20", in_square, 1e-20},
            {"scale 1e20", in_square, 1e20, 0.0, true, true},
            {"offset 1e6", in_square, 1.0, 1e6}};
}

TEST(PlaneFmm, EveryToleranceIsReached) {
    for (const auto& kind : kinds()) {
        SCOPED_TRACE(kind.name);
        const auto points = kind.points(test::shorter() ? 600 : 1000); // of so few, all targets are compared
        const auto exact = oracle::plane_sums(points, points.xy);
        for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-9, 1e-12}) {
            SCOPED_TRACE(tolerance);
            const auto result = sum_of(points, {.tolerance = tolerance});
            EXPECT_LE(error_of(result, exact), tolerance);
            EXPECT_EQ(result.report.method, Method::fmm);
            EXPECT_LT(result.report.fmm.near_pairs, result.report.direct.pairs / 2);
        }
    }
}

TEST(PlaneFmm, TheOrderForAToleranceSufficesAndIsNotMuchTooHigh) {
    const auto points = PlaneRandom(1).square(1500, true);
    const auto exact = oracle::plane_sums(points, points.xy);
    for (const int separation : {1, 2})
        for (const double tolerance : {1e-3, 1e-6, 1e-9, 1e-12}) {
            const int order = plane_order_for(tolerance, separation);
            SCOPED_TRACE(testing::Message() << separation << ' ' << tolerance << ' ' << order);
            const auto with = [&](int p) {
                return error_of(sum_of(points, {.order = p, .separation = separation}), exact);
            };
            EXPECT_LE(with(order), tolerance);
            if (tolerance < 1e-3) { // of others all orders are low
                EXPECT_GT(with(order - (separation == 1 ? 6 : 4)), tolerance);
            }
        }
}

TEST(PlaneFmm, EveryInstructionSetAndPrecisionIsRight) {
    for (const bool complex_strengths : {false, true}) {
        const auto points = PlaneRandom(2).square(700, complex_strengths);
        const auto targets = PlaneRandom(3).square(300, true).xy;
        const auto exact = oracle::plane_sums(points, points.xy);
        const auto elsewhere = oracle::plane_sums(points, targets);
        for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
            if (!is_available(isa)) continue;
            for (const auto precision : {Precision::mixed, Precision::float64})
                for (const int order : {7, 18, 38}) { // tails of vectors
                    SCOPED_TRACE(std::string(name_of(isa)) + ' ' + std::string(name_of(precision)) + ' ' +
                                 std::to_string(order));
                    const SumOptions options{.order = order, .precision = precision, .isa = isa};
                    const double expected = std::max(precision == Precision::mixed ? 1e-6 : 2e-14,
                                                     std::pow(10.0, -1.4 - 0.36 * order));
                    EXPECT_LE(error_of(sum_of(points, options), exact), expected);
                    const auto apart = sum(points.points(), matrix_view(std::span<const double>(targets), 2),
                                           points.strengths(), fmm(options));
                    EXPECT_LE(error_of(apart, elsewhere), expected);
                    // outputs alone; of complex strengths the field then takes one complex expansion
                    const auto field = sum_of(points, options, Output::field);
                    const auto potential = sum_of(points, options, Output::potential);
                    EXPECT_LE(relative_l2(field.field, exact.field), expected);
                    EXPECT_LE(relative_l2(potential.potential, exact.potential), expected);
                }
        }
    }
}

TEST(PlaneFmm, TreesByHandAreRight) {
    const auto points = kinds()[6].points(800);
    const auto exact = oracle::plane_sums(points, points.xy);
    for (const int separation : {1, 2})
        for (const auto& options :
             {SumOptions{.order = 30, .depth = 0}, SumOptions{.order = 30, .depth = 2},
              SumOptions{.order = 30, .depth = 6}, SumOptions{.order = 30, .leaf = 1},
              SumOptions{.order = 30, .leaf = 40}, SumOptions{.order = 30, .leaf = 10000},
              SumOptions{.order = 30, .leaf = 12, .grading = 0.0}}) {
            auto asked = options;
            asked.separation = separation;
            SCOPED_TRACE(testing::Message() << asked.depth << ' ' << asked.leaf << ' ' << separation);
            const auto result = sum_of(points, asked);
            EXPECT_LE(error_of(result, exact), 1e-11);
            if (asked.depth >= 0) {
                EXPECT_EQ(result.report.fmm.levels, asked.depth + 1);
            }
        }
}

TEST(PlaneFmm, FewPointsAndNone) {
    for (const std::size_t n : {0U, 1U, 2U, 3U}) {
        SCOPED_TRACE(n);
        for (const int depth : {-1, 3}) {
            const auto points = PlaneRandom(4).square(n, true);
            const auto result = sum_of(points, {.tolerance = 1e-9, .depth = depth});
            EXPECT_LE(error_of(result, oracle::plane_sums(points, points.xy)), 1e-9);
            const auto sources = PlaneRandom(5).square(200, true);
            const auto at = sum(sources.points(), points.points(), sources.strengths(),
                                fmm({.tolerance = 1e-9, .depth = depth}));
            EXPECT_LE(error_of(at, oracle::plane_sums(sources, points.xy)), 1e-9);
        }
    }
}

TEST(PlaneFmm, CoincidentPointsAreRefusedOrLeftOut) {
    auto points = PlaneRandom(6).square(400, true);
    for (std::size_t k = 0; k < 2; ++k)
        for (const std::size_t row : {100U, 101U, 102U}) points.xy[2 * row + k] = points.xy[2 * 7 + k];
    for (const auto precision : {Precision::mixed, Precision::float64}) {
        SumOptions options{.order = 30, .precision = precision};
        const auto message = test::error_of<InvalidArgument>([&] { (void)sum_of(points, options); });
        test::expect_contains(message, {"rows 7 and 100", "coincident"});
        options.coincident = Coincident::skip;
        const auto result = sum_of(points, options);
        EXPECT_LE(error_of(result, oracle::plane_sums(points, points.xy)),
                  precision == Precision::mixed ? 1e-6 : 1e-11);
        EXPECT_EQ(result.report.direct.coincident_pairs_skipped, 12);
    }
    PlanePoints heap{std::vector<double>(600, 0.5), std::vector<double>(600, 1.0)}; // all at one place
    const auto nothing = sum_of(heap, {.tolerance = 1e-6, .coincident = Coincident::skip});
    EXPECT_EQ(nothing.potential, std::vector<double>(600, 0.0));
    EXPECT_EQ(nothing.field, std::vector<double>(600, 0.0));
}

TEST(PlaneFmm, BitsDoNotDependOnThreads) {
    const auto points = kinds()[6].points(4000);
    const auto targets = PlaneRandom(7).square(3000, true).xy;
    const auto with = [&](int threads) {
        const auto options = fmm({.order = 12, .threads = threads});
        auto self = sum(points.points(), points.strengths(), options);
        auto apart = sum(points.points(), matrix_view(std::span<const double>(targets), 2),
                         points.strengths(), options);
        self.potential.insert(self.potential.end(), apart.potential.begin(), apart.potential.end());
        self.field.insert(self.field.end(), apart.field.begin(), apart.field.end());
        return self;
    };
    const auto one = with(1);
    const auto five = with(5);
    EXPECT_EQ(one.potential, five.potential);
    EXPECT_EQ(one.field, five.field);
}

TEST(PlaneFmm, PlansTakeMovedPointsOtherStrengthsAndSeveralVectors) {
    const auto first = PlaneRandom(8).square(500, true);
    const auto second = PlaneRandom(9).square(500, false);
    SumPlan plan(first.points(), fmm({.order = 20}));
    std::vector<double> potential(1000), field(1000);
    const auto compute = [&](const PlanePoints& of) {
        SumOutputs outputs;
        outputs.potential = matrix_view(std::span<double>(potential), 2);
        outputs.field = matrix_view(std::span<double>(field), 2);
        plan.execute(of.strengths(), outputs);
        const auto exact = oracle::plane_sums(of, of.xy);
        EXPECT_LE(relative_l2(potential, exact.potential), 1e-8);
        EXPECT_LE(relative_l2(field, exact.field), 1e-8);
    };
    compute(first);
    plan.update(second.points());
    compute(second); // real strengths after complex ones
    plan.update(first.points());
    compute(first);
    std::vector<double> both;
    for (std::size_t i = 0; i < 500; ++i)
        both.insert(both.end(), {first.q[2 * i], first.q[2 * i + 1], second.q[2 * i], second.q[2 * i + 1]});
    std::vector<double> two(2000);
    SumOutputs outputs;
    outputs.potential = matrix_view(std::span<double>(two), 4);
    plan.execute(matrix_view(std::span<const double>(both), 4), outputs);
    for (std::size_t i = 0; i < 500; ++i) EXPECT_EQ(two[4 * i + 1], potential[2 * i + 1]) << i;
}

TEST(PlaneFmm, StopsWhereItIsAskedToAndGoesOnAfterwards) {
    const auto points = PlaneRandom(10).square(20000, true);
    SumPlan plan(points.points(), fmm({.order = 20}));
    std::vector<double> field(40000), again(40000);
    SumOutputs outputs;
    outputs.field = matrix_view(std::span<double>(field), 2);
    plan.execute(points.strengths(), outputs);
    SumHooks hooks;
    hooks.stop_requested = [] { return true; };
    outputs.field = matrix_view(std::span<double>(again), 2);
    EXPECT_THROW(plan.execute(points.strengths(), outputs, hooks), Interrupted);
    double last = 0.0;
    SumHooks watching;
    watching.progress = [&](double share) {
        EXPECT_GE(share, last);
        EXPECT_LE(share, 1.0);
        last = share;
    };
    plan.execute(points.strengths(), outputs, watching);
    EXPECT_EQ(field, again);
}

TEST(PlaneFmm, SaysWhatItLacks) {
    const auto points = PlaneRandom(11).square(50, true);
    const auto refused = [&](const SumOptions& options) {
        return test::error_of<InvalidArgument>([&] { (void)sum_of(points, options); });
    };
    test::expect_contains(refused({.tolerance = 1e-6, .guaranteed = true}), {"guaranteed", "in the plane"});
    test::expect_contains(refused({.m2l = M2L::rotation}), {"m2l", "rotation"});
    test::expect_contains(refused({.variant = Variant::simd}), {"variant", "simd"});
    test::expect_contains(refused({.softening = 1.0}), {"no softening"});
    const auto too_much = test::error_of<ToleranceNotReached>(
        [&] { (void)sum_of(PlaneRandom(12).square(900, true), {.tolerance = 1e-12, .order = 5}); });
    test::expect_contains(too_much, {"tolerance", "leave"});
}

TEST(PlaneFmm, IsWhatAutoTakesForManyPoints) {
    const auto points = PlaneRandom(13).square(20000, true);
    const auto result = sum(points.points(), points.strengths(),
                            {.kernel = Kernel::laplace2d, .method = Method::automatic, .tolerance = 1e-4});
    EXPECT_EQ(result.report.method, Method::fmm);
    EXPECT_GT(result.report.predicted_bytes, 20000.0 * 8.0 * 10.0);
    const auto few =
        sum(points.points(), points.strengths(), {.kernel = Kernel::laplace2d, .method = Method::automatic});
    EXPECT_EQ(few.report.method, Method::direct); // nothing says how exact
}

} // namespace
} // namespace farfield
