// Second derivatives against sums in long double that share no code with them, and against the properties
// that they have: no trace, derivatives of the field, the same bits for any number of threads.
#include "effort.h"
#include "expect_error.h"
#include "oracle/derivatives/charges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::charges, test::charges_of, test::points_of;

const OutputSet everything = Output::potential | Output::field | Output::hessian;

SumOptions direct(Precision precision = Precision::float64, double softening = 0.0) {
    return {.kernel = Kernel::coulomb, .softening = softening, .precision = precision};
}

SumOptions fmm(double tolerance) {
    return {.kernel = Kernel::coulomb, .method = Method::fmm, .tolerance = tolerance};
}

// Rounding of some 10 operations a term; of sums of both signs a few times that.
double allowed(Precision precision) { return precision == Precision::float64 ? 2e-14 : 3e-6; }

TEST(Hessian, OfDirectSumsInEveryPrecision) {
    auto points = oracle::rounded_to_float(charges(700, 1));
    const auto targets = oracle::rounded_to_float(charges(333, 2)).xyz;
    for (const double softening : {0.0, 0.125}) {
        const auto self = oracle::direct_self(points, softening, 1.0L, true);
        const auto apart = oracle::direct(points, targets, softening, 1.0L, true);
        for (const auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
            for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
                if (!is_available(isa)) continue;
                auto options = direct(precision, softening);
                options.isa = isa;
                const auto a = sum(points_of(points.xyz), charges_of(points), options, everything);
                const auto b =
                    sum(points_of(points.xyz), points_of(targets), charges_of(points), options, everything);
                const double most = allowed(precision);
                EXPECT_LE(oracle::relative_frobenius(a.hessian, self.hessian), most) << name_of(isa);
                EXPECT_LE(oracle::relative_l2(a.field, self.field), most);
                EXPECT_LE(oracle::relative_l2(a.potential, self.potential), most);
                EXPECT_LE(oracle::relative_frobenius(b.hessian, apart.hessian), most);
                EXPECT_LE(oracle::relative_l2(b.field, apart.field), most);
                EXPECT_LE(oracle::relative_l2(b.potential, apart.potential), most);
            }
        }
    }
}

TEST(Hessian, OfGravityHasTheOtherSign) {
    const auto points = charges(50, 3);
    const auto exact = oracle::direct_self(points, 0.0L, -1.0L, true);
    auto options = direct();
    options.kernel = Kernel::gravity;
    for (const auto method : {Method::direct, Method::reference, Method::fmm}) {
        options.method = method;
        const auto result = sum(points_of(points.xyz), charges_of(points), options, Output::hessian);
        EXPECT_LE(oracle::relative_frobenius(result.hessian, exact.hessian), 1e-6);
        EXPECT_TRUE(result.potential.empty() && result.field.empty());
    }
}

// It is computed only where it is asked for.
TEST(Hessian, IsNotAmongTheUsualOutputs) {
    const auto points = charges(20, 4);
    for (const auto method : {Method::direct, Method::reference, Method::fmm}) {
        auto options = direct();
        options.method = method;
        const auto usual = sum(points_of(points.xyz), charges_of(points), options);
        EXPECT_EQ(usual.potential.size(), 20U);
        EXPECT_TRUE(usual.hessian.empty());
    }
}

TEST(Hessian, ReachesEveryTolerance) {
    for (const bool clustered : {false, true}) {
        const auto points = clustered ? test::with_signs(oracle::plummer(3000, 5)) : charges(3000, 6);
        const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
        for (const double tolerance : test::fewer()
                                          ? std::vector{1e-3}
                                          : std::vector{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
            auto options = fmm(tolerance);
            options.leaf = 60; // so that much is expanded
            const auto result = sum(points_of(points.xyz), charges_of(points), options, everything);
            EXPECT_LE(oracle::relative_frobenius(result.hessian, exact.hessian), tolerance);
            EXPECT_LE(oracle::relative_l2(result.field, exact.field), tolerance);
            EXPECT_LE(oracle::relative_l2(result.potential, exact.potential), tolerance);
            EXPECT_LT(result.report.fmm.near_pairs, result.report.direct.pairs / 2)
                << "something is expanded";
            ASSERT_EQ(result.report.errors.size(), 3U);
            EXPECT_EQ(result.report.errors[2].output, Output::hessian);
        }
    }
}

// All targets are compared here, so the error of the report is the oracle's, in Frobenius' norm.
TEST(Hessian, ItsErrorIsReported) {
    const auto points = charges(240, 7);
    const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
    auto options = direct(Precision::float32);
    options.tolerance = 1e-4;
    const auto result = sum(points_of(points.xyz), charges_of(points), options, everything);
    ASSERT_EQ(result.report.errors.size(), 3U);
    const double seen = oracle::relative_frobenius(result.hessian, exact.hessian);
    EXPECT_GT(seen, 1e-9);
    EXPECT_NEAR(result.report.errors[2].relative, seen, 1e-3 * seen);
    options.tolerance = 0.5 * seen;
    EXPECT_THROW((void)sum(points_of(points.xyz), charges_of(points), options, Output::hessian),
                 ToleranceNotReached);
}

TEST(Hessian, OfSeparateTargetsAndTheirExpansions) {
    const auto sources = test::with_signs(oracle::plummer(2500, 8));
    const auto targets = charges(1500, 9).xyz;
    const auto exact = oracle::direct(sources, targets, 0.0L, 1.0L, true);
    for (const double tolerance : {1e-3, 1e-7}) {
        auto options = fmm(tolerance);
        options.leaf = 40;
        const auto result =
            sum(points_of(sources.xyz), points_of(targets), charges_of(sources), options, everything);
        EXPECT_LE(oracle::relative_frobenius(result.hessian, exact.hessian), tolerance);
    }
}

TEST(Hessian, HasNoTraceWithoutSoftening) {
    const auto points = charges(2000, 10);
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = direct();
        options.method = method;
        options.order = method == Method::fmm ? 5 : 0;
        const auto h = sum(points_of(points.xyz), charges_of(points), options, Output::hessian).hessian;
        for (std::size_t i = 0; i < h.size(); i += 6) {
            const double size = std::abs(h[i]) + std::abs(h[i + 3]) + std::abs(h[i + 5]);
            EXPECT_NEAR(h[i] + h[i + 3] + h[i + 5], 0.0, 1e-10 * size);
        }
    }
}

// ∂ⱼ of the field's component i is −∂ᵢ∂ⱼφ. Central differences: rounding 1e-16/h and h² times a fourth
// derivative of the potential, which is some 1e3 at the distances here; the tree is the same on both sides.
TEST(Hessian, IsTheDerivativeOfTheField) {
    const auto points = charges(300, 11);
    constexpr double h = 1e-5;
    for (const double softening : {0.0, 0.2}) {
        const std::vector<double> at{1.5, -1.2, 0.3, 0.1, 1.4, -1.6};
        const auto options = direct(Precision::float64, softening);
        const auto here =
            sum(points_of(points.xyz), points_of(at), charges_of(points), options, Output::hessian).hessian;
        const std::size_t place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto field_at = [&](double step) {
                auto moved = at;
                for (std::size_t i = axis; i < moved.size(); i += 3) moved[i] += step;
                return sum(points_of(points.xyz), points_of(moved), charges_of(points), options,
                           Output::field)
                    .field;
            };
            const auto ahead = field_at(h);
            const auto behind = field_at(-h);
            for (std::size_t t = 0; t < 2; ++t)
                for (std::size_t i = 0; i < 3; ++i)
                    EXPECT_NEAR(here[6 * t + place[i][axis]],
                                -(ahead[3 * t + i] - behind[3 * t + i]) / (2.0 * h), 1e-8);
        }
    }
}

TEST(Hessian, HasTheSameBitsForAnyNumberOfThreads) {
    const auto points = charges(test::sized(6000, 1500), 12);
    for (const auto method : {Method::direct, Method::fmm})
        for (const auto precision : {Precision::float64, Precision::mixed}) {
            auto options = direct(precision);
            options.method = method;
            options.order = method == Method::fmm ? 6 : 0;
            options.threads = 1;
            const auto one = sum(points_of(points.xyz), charges_of(points), options, everything);
            for (const int threads : {2, 5}) {
                options.threads = threads;
                const auto more = sum(points_of(points.xyz), charges_of(points), options, everything);
                EXPECT_EQ(more.hessian, one.hessian);
                EXPECT_EQ(more.field, one.field);
                EXPECT_EQ(more.potential, one.potential);
            }
        }
}

TEST(Hessian, CoincidentPointsFollowTheOption) {
    auto points = charges(40, 13);
    std::copy_n(points.xyz.begin() + 9, 3, points.xyz.begin() + 24);
    for (const auto method : {Method::direct, Method::reference, Method::fmm}) {
        auto options = direct();
        options.method = method;
        const auto text = test::error_of<InvalidArgument>(
            [&] { (void)sum(points_of(points.xyz), charges_of(points), options, Output::hessian); });
        test::expect_contains(text, {"3", "8", "same place"});
        options.coincident = Coincident::skip;
        const auto result = sum(points_of(points.xyz), charges_of(points), options, Output::hessian);
        EXPECT_EQ(result.report.direct.coincident_pairs_skipped, 2);
        for (const double value : result.hessian) EXPECT_TRUE(std::isfinite(value));
    }
}

// 1/r³ of lengths of 1e-90 fits a double; r² and r⁻³ in the units of the points do not fit a float.
TEST(Hessian, FitsWhateverTheScale) {
    for (const double scale : {1e-90, 1e-20, 1e20, 1e90}) {
        auto points = charges(30, 14);
        for (auto& x : points.xyz) x *= scale;
        const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
        for (const auto method : {Method::direct, Method::fmm})
            for (const auto precision : {Precision::float64, Precision::mixed}) {
                auto options = direct(precision);
                options.method = method;
                const auto h =
                    sum(points_of(points.xyz), charges_of(points), options, Output::hessian).hessian;
                EXPECT_LE(oracle::relative_frobenius(h, exact.hessian), allowed(precision)) << scale;
            }
    }
}

// A pair 1e-60 apart among others at distance 1: r⁻³ there is 1e180, beyond what the loop's r⁻² r⁻³ can hold.
TEST(Hessian, OfPairsThatTheLoopsCannotHold) {
    oracle::Points points;
    points.xyz = {0, 0, 0, 1e-75, 2e-75, 0, 1, 0.5, 0, -0.25, 1, 1};
    points.q = {1.0, -2.0, 0.5, 1.5};
    const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
    for (const auto method : {Method::direct, Method::fmm, Method::reference}) {
        auto options = direct();
        options.method = method;
        const auto h = sum(points_of(points.xyz), charges_of(points), options, Output::hessian).hessian;
        for (std::size_t i = 0; i < 12; ++i) {
            const auto expected = static_cast<double>(exact.hessian[i]);
            EXPECT_NEAR(h[i], expected, 1e-13 * static_cast<double>(std::abs(exact.hessian[0])));
        }
    }
}

TEST(Hessian, OfNoAndOnePoint) {
    for (const auto method : {Method::direct, Method::reference, Method::fmm})
        for (const int n : {0, 1}) {
            auto options = direct();
            options.method = method;
            const auto points = charges(n, 15);
            const auto h = sum(points_of(points.xyz), charges_of(points), options, Output::hessian).hessian;
            EXPECT_EQ(h, std::vector<double>(6 * static_cast<std::size_t>(n), 0.0));
        }
}

TEST(Hessian, OfSeveralVectorsOfStrengths) {
    const auto points = charges(200, 16);
    std::vector<double> two;
    for (const double q : points.q) two.insert(two.end(), {q, -3.0 * q});
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = direct();
        options.method = method;
        SumPlan plan(points_of(points.xyz), options);
        std::vector<double> h(12 * 200);
        plan.execute(matrix_view(std::span<const double>(two), 2),
                     {.hessian = matrix_view(std::span<double>(h), 12)});
        const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true).hessian;
        for (std::size_t i = 0; i < 200; ++i)
            for (std::size_t k = 0; k < 6; ++k) {
                EXPECT_NEAR(h[12 * i + 6 + k], -3.0 * h[12 * i + k],
                            1e-10 * std::abs(h[12 * i + k]) + 1e-300);
                EXPECT_NEAR(h[12 * i + k], static_cast<double>(exact[6 * i + k]),
                            1e-4 * static_cast<double>(std::abs(exact[6 * i]) + 1));
            }
    }
}

TEST(Hessian, IsRefusedWhereThereIsNone) {
    const auto points = charges(8, 17);
    auto options = direct();
    for (const auto variant : {Variant::naive, Variant::soa, Variant::symmetric}) {
        options.variant = variant;
        test::expect_contains(test::error_of<InvalidArgument>([&] {
                                  (void)sum(points_of(points.xyz), charges_of(points), options,
                                            Output::hessian);
                              }),
                              {"variant", std::string(name_of(variant)), "hessian"});
    }
    options = {.kernel = Kernel::gauss, .method = Method::reference, .sigma = 1.0};
    test::expect_contains(test::error_of<InvalidArgument>([&] {
                              std::vector<double> out(48);
                              SumPlan plan(points_of(points.xyz), options);
                              plan.execute(charges_of(points),
                                           {.hessian = matrix_view(std::span<double>(out), 6)});
                          }),
                          {"gauss", "hessian"});
    options = direct();
    options.device = {.kind = DeviceKind::cuda};
    options.outputs = Output::hessian;
    test::expect_contains(test::error_of<InvalidArgument>([&] { SumPlan(points_of(points.xyz), options); }),
                          {"GPU", "hessian", "device = cpu"});
}

} // namespace
} // namespace farfield
