// Dipoles against sums in long double that share no code with them, and as what they are: the limit of two
// charges. Also the energy of charges and dipoles.
#include "effort.h"
#include "expect_error.h"
#include "oracle/derivatives/charges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::charges, test::charges_of, test::points_of;

const OutputSet all_outputs = Output::potential | Output::field | Output::hessian;

/// With dipoles in all directions, of about `size`.
oracle::Points with_dipoles(oracle::Points points, double size) {
    for (std::size_t i = 0; i < points.xyz.size(); ++i)
        points.p.push_back(size * std::sin(1.0 + 1.7 * static_cast<double>(i)));
    return points;
}

SumStrengths strengths_of(const oracle::Points& points) {
    return {.charges = charges_of(points), .dipoles = points_of(points.p)};
}

SumOptions coulomb(Method method, double tolerance = 0.0) {
    return {.kernel = Kernel::coulomb, .method = method, .tolerance = tolerance};
}

void expect_errors_below(const SumResult& result, const oracle::Result& exact, double most) {
    EXPECT_LE(oracle::relative_l2(result.potential, exact.potential), most);
    EXPECT_LE(oracle::relative_l2(result.field, exact.field), most);
    EXPECT_LE(oracle::relative_frobenius(result.hessian, exact.hessian), most);
}

TEST(Dipoles, OfDirectSumsInEveryPrecision) {
    auto points = oracle::rounded_to_float(with_dipoles(charges(500, 1), 0.1));
    for (auto& component : points.p) component = static_cast<double>(static_cast<float>(component));
    const auto targets = oracle::rounded_to_float(charges(233, 2)).xyz;
    for (const double softening : {0.0, 0.125}) {
        const auto self = oracle::direct_self(points, softening, 1.0L, true);
        const auto apart = oracle::direct(points, targets, softening, 1.0L, true);
        for (const auto precision : {Precision::float64, Precision::float32, Precision::mixed})
            for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
                if (!is_available(isa)) continue;
                auto options = coulomb(Method::direct);
                options.softening = softening;
                options.precision = precision;
                options.isa = isa;
                // some ten roundings a term of both signs
                const double most = precision == Precision::float64 ? 3e-14 : 5e-6;
                expect_errors_below(sum(points_of(points.xyz), strengths_of(points), options, all_outputs),
                                    self, most);
                expect_errors_below(sum(points_of(points.xyz), points_of(targets), strengths_of(points),
                                        options, all_outputs),
                                    apart, most);
                const auto usual = sum(points_of(points.xyz), strengths_of(points), options);
                EXPECT_TRUE(usual.hessian.empty());
                EXPECT_LE(oracle::relative_l2(usual.potential, self.potential), most);
                EXPECT_LE(oracle::relative_l2(usual.field, self.field), most);
            }
    }
}

TEST(Dipoles, OfTheReference) {
    const auto points = with_dipoles(charges(150, 3), 0.3);
    auto options = coulomb(Method::reference);
    options.softening = 0.01;
    expect_errors_below(sum(points_of(points.xyz), strengths_of(points), options, all_outputs),
                        oracle::direct_self(points, 0.01L, 1.0L, true), 1e-13);
}

// φ = q (1/|x − y − d/2| − 1/|x − y + d/2|) with p = q d: the difference to the dipole falls with d². The
// charges are set symmetrically, so no other power of d comes in.
TEST(Dipoles, AreTheLimitOfTwoCharges) {
    const oracle::Points dipole{{0.1, -0.2, 0.3}, {0.0}, {0.4, 0.5, -0.7}};
    const std::vector<double> at{1.1, 0.4, -0.3, -0.2, 0.9, 0.8};
    const auto exact =
        sum(points_of(dipole.xyz), points_of(at), strengths_of(dipole), coulomb(Method::direct), all_outputs);
    double last[3] = {};
    for (const double h : {1e-2, 5e-3}) {
        oracle::Points two{{}, {1.0 / h, -1.0 / h}, {}};
        for (const double sign : {0.5, -0.5})
            for (std::size_t k = 0; k < 3; ++k) two.xyz.push_back(dipole.xyz[k] + sign * h * dipole.p[k]);
        const auto close =
            sum(points_of(two.xyz), points_of(at), charges_of(two), coulomb(Method::direct), all_outputs);
        const auto off = [](const std::vector<double>& a, const std::vector<double>& b) {
            return oracle::relative_l2(a, {b.begin(), b.end()});
        };
        const double now[] = {off(close.potential, exact.potential), off(close.field, exact.field),
                              off(close.hessian, exact.hessian)};
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_LT(now[k], 1e-3);
            if (last[k] > 0.0) {
                EXPECT_NEAR(last[k] / now[k], 4.0, 0.05) << k;
            }
            last[k] = now[k];
        }
    }
}

TEST(Dipoles, ReachEveryTolerance) {
    for (const bool clustered : {false, true}) {
        const auto points =
            with_dipoles(clustered ? test::with_signs(oracle::plummer(3000, 5)) : charges(3000, 6), 0.05);
        const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
        for (const double tolerance :
             test::fewer() ? std::vector{1e-3} : std::vector{1e-2, 1e-3, 1e-5, 1e-7, 1e-9}) {
            auto options = coulomb(Method::fmm, tolerance);
            options.leaf = 60;
            const auto result = sum(points_of(points.xyz), strengths_of(points), options, all_outputs);
            expect_errors_below(result, exact, tolerance);
            EXPECT_LT(result.report.fmm.near_pairs, result.report.direct.pairs / 2);
            EXPECT_EQ(result.report.errors.size(), 3U);
        }
    }
}

// Far targets see the expansions alone: an error of a pass is not hidden by near pairs.
TEST(Dipoles, AloneAndFarAway) {
    auto sources = with_dipoles(charges(2000, 7), 1.0);
    std::fill(sources.q.begin(), sources.q.end(), 0.0);
    auto targets = charges(1000, 8).xyz;
    for (std::size_t i = 0; i < targets.size(); i += 3) targets[i] += 6.0;
    const auto exact = oracle::direct(sources, targets, 0.0L, 1.0L, true);
    auto options = coulomb(Method::fmm);
    options.leaf = 50;
    for (const int order : {8, 16, 30}) {
        options.order = order;
        const double most =
            2e-2 * std::pow(10.0, -0.31 * (order - 8)); // as fast as for charges (fmm/shape.cpp)
        const auto result = sum(points_of(sources.xyz), points_of(targets),
                                SumStrengths{.dipoles = points_of(sources.p)}, options, all_outputs);
        expect_errors_below(result, exact, most);
    }
}

// Leaves of very different sizes: P2L and M2P of dipoles are used.
TEST(Dipoles, BesideLeavesOfOtherSizes) {
    auto sources = with_dipoles(test::with_signs(oracle::plummer(4000, 9)), 0.01);
    for (std::size_t i = 0; i < 3000; ++i) sources.xyz[i] *= 1e-2; // a dense core
    const auto exact = oracle::direct_self(sources, 0.0L, 1.0L, true);
    auto options = coulomb(Method::fmm);
    options.order = 20;
    options.leaf = 8;
    options.grading = 0.0;
    const auto result = sum(points_of(sources.xyz), strengths_of(sources), options, all_outputs);
    expect_errors_below(result, exact, 1e-5);
}

TEST(Dipoles, HaveTheSameBitsForAnyNumberOfThreads) {
    const auto points = with_dipoles(charges(test::sized(4000, 1500), 10), 0.1);
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = coulomb(method);
        options.order = method == Method::fmm ? 6 : 0;
        options.threads = 1;
        const auto one = sum(points_of(points.xyz), strengths_of(points), options);
        options.threads = 3;
        const auto more = sum(points_of(points.xyz), strengths_of(points), options);
        EXPECT_EQ(more.field, one.field);
        EXPECT_EQ(more.potential, one.potential);
    }
}

// The same plan with dipoles, without them, with them alone, and with two vectors of both.
TEST(Dipoles, ComeAndGoBetweenExecutions) {
    const auto points = with_dipoles(charges(300, 11), 0.2);
    const auto n = points.q.size();
    for (const auto method : {Method::direct, Method::fmm, Method::reference}) {
        SumPlan plan(points_of(points.xyz), coulomb(method));
        std::vector<double> phi(n), alone(n), charged(n), both(2 * n);
        const auto into = [](std::vector<double>& out) {
            return SumOutputs{.potential = ArrayView(std::span<double>(out))};
        };
        plan.execute(strengths_of(points), into(phi));
        plan.execute(charges_of(points), into(charged));
        plan.execute(SumStrengths{.dipoles = points_of(points.p)}, into(alone));
        std::vector<double> q, p;
        for (std::size_t i = 0; i < n; ++i) {
            q.insert(q.end(), {points.q[i], 0.0});
            for (const double factor : {1.0, 2.0})
                for (std::size_t k = 0; k < 3; ++k) p.push_back(factor * points.p[3 * i + k]);
        }
        plan.execute(SumStrengths{.charges = matrix_view(std::span<const double>(q), 2),
                                  .dipoles = matrix_view(std::span<const double>(p), 6)},
                     {.potential = matrix_view(std::span<double>(both), 2)});
        for (std::size_t i = 0; i < n; ++i) {
            const double size = std::abs(charged[i]) + std::abs(alone[i]);
            EXPECT_NEAR(phi[i], charged[i] + alone[i], 1e-12 * size + 1e-11);
            EXPECT_NEAR(both[2 * i], phi[i], 1e-12 * size + 1e-11);
            EXPECT_NEAR(both[2 * i + 1], 2.0 * alone[i], 1e-12 * size + 1e-11);
        }
        EXPECT_GT(oracle::relative_l2(phi, {charged.begin(), charged.end()}), 1e-3);
    }
}

TEST(Dipoles, FitWhateverTheScale) {
    for (const double scale : {1e-60, 1e-20, 1e20, 1e60}) {
        auto points = with_dipoles(charges(30, 12), 0.5);
        for (auto& x : points.xyz) x *= scale;
        for (auto& component : points.p) component *= scale;
        const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
        for (const auto method : {Method::direct, Method::fmm})
            for (const auto precision : {Precision::float64, Precision::mixed}) {
                auto options = coulomb(method);
                options.precision = precision;
                expect_errors_below(sum(points_of(points.xyz), strengths_of(points), options, all_outputs),
                                    exact, precision == Precision::float64 ? 1e-13 : 1e-5);
            }
    }
}

TEST(Dipoles, OfPairsThatTheLoopsCannotHold) {
    oracle::Points points;
    points.xyz = {0, 0, 0, 1e-70, 2e-70, 0, 1, 0.5, 0, -0.25, 1, 1};
    points.q = {1.0, -2.0, 0.5, 1.5};
    points.p = {1.0, 0.5, -2.0, 0.25, 1, 1, 0, 2, 1, 1, -1, 3};
    const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
    for (const auto method : {Method::direct, Method::fmm, Method::reference})
        expect_errors_below(sum(points_of(points.xyz), strengths_of(points), coulomb(method), all_outputs),
                            exact, 1e-13);
}

TEST(Dipoles, CoincidentPointsFollowTheOption) {
    auto points = with_dipoles(charges(40, 13), 0.1);
    std::copy_n(points.xyz.begin() + 9, 3, points.xyz.begin() + 24);
    for (const auto method : {Method::direct, Method::reference, Method::fmm}) {
        auto options = coulomb(method);
        test::expect_contains(test::error_of<InvalidArgument>(
                                  [&] { (void)sum(points_of(points.xyz), strengths_of(points), options); }),
                              {"3", "8", "same place"});
        options.coincident = Coincident::skip;
        const auto result = sum(points_of(points.xyz), strengths_of(points), options);
        EXPECT_EQ(result.report.direct.coincident_pairs_skipped, 2);
        for (const double value : result.field) EXPECT_TRUE(std::isfinite(value));
    }
}

TEST(Dipoles, RefuseWrongInput) {
    const auto points = with_dipoles(charges(8, 14), 0.1);
    const auto message = [&](const SumStrengths& strengths, const SumOptions& options) {
        return test::error_of<InvalidArgument>(
            [&] { (void)sum(points_of(points.xyz), strengths, options, Output::potential); });
    };
    auto strengths = strengths_of(points);
    test::expect_contains(message(strengths, {.kernel = Kernel::gravity}),
                          {"dipoles", "gravity", "kernel = coulomb"});
    auto options = coulomb(Method::direct);
    options.variant = Variant::symmetric;
    test::expect_contains(message(strengths, options), {"symmetric", "dipoles"});
    options = coulomb(Method::direct);
    options.device = {.kind = DeviceKind::cuda};
    test::expect_contains(message(strengths, options), {"GPU", "dipoles", "device = cpu"});
    auto broken = points.p;
    broken[16] = std::nan("");
    strengths.dipoles = points_of(broken);
    for (const auto method : {Method::direct, Method::fmm, Method::reference})
        test::expect_contains(message(strengths, coulomb(method)), {"dipoles", "row 5", "nan"});
    broken.resize(21);
    strengths.dipoles = points_of(broken);
    test::expect_contains(message(strengths, coulomb(Method::fmm)), {"dipoles", "8"});
    strengths.dipoles = ConstArrayView(std::span<const double>(points.p));
    test::expect_contains(message(strengths, coulomb(Method::fmm)), {"dipoles"});
    test::expect_contains(message({}, coulomb(Method::direct)), {"strengths"});
}

// ½ Σ q φ by pairs, in long double; with dipoles the interactions of q with φ and of p with E.
TEST(Energy, IsThatOfAllPairs) {
    const auto plain = charges(200, 15);
    const auto dipoles = with_dipoles(plain, 0.2);
    for (const auto method : {Method::direct, Method::reference, Method::fmm}) {
        auto options = coulomb(method, method == Method::fmm ? 1e-11 : 0.0);
        for (const auto& points : {plain, dipoles}) {
            const auto exact = oracle::direct_self(points, 0.0L, 1.0L, true);
            long double expected = 0;
            for (std::size_t i = 0; i < points.q.size(); ++i) {
                expected += points.q[i] * exact.potential[i] / 2;
                for (std::size_t k = 0; k < 3 && !points.p.empty(); ++k)
                    expected -= points.p[3 * i + k] * exact.field[3 * i + k] / 2;
            }
            const auto result = points.p.empty() ? sum(points_of(points.xyz), charges_of(points), options)
                                                 : sum(points_of(points.xyz), strengths_of(points), options);
            ASSERT_TRUE(result.report.energy);
            const auto value = static_cast<double>(expected);
            EXPECT_NEAR(*result.report.energy, value, 1e-9 * std::abs(value));
        }
    }
}

// A dipole of two close charges has the energy of these with others: −p·E of the others, and q φ.
TEST(Energy, OfADipoleIsThatOfItsCharges) {
    const oracle::Points charge_and_dipole{{0, 0, 0, 0.3, 1.2, -0.4}, {2.0, 0.0}, {0, 0, 0, 0.3, -0.2, 0.5}};
    constexpr double h = 1e-3;
    oracle::Points three{{0, 0, 0}, {2.0, 1.0 / h, -1.0 / h}, {}};
    for (const double sign : {0.5, -0.5})
        for (std::size_t k = 0; k < 3; ++k)
            three.xyz.push_back(charge_and_dipole.xyz[3 + k] + sign * h * charge_and_dipole.p[3 + k]);
    const auto energy = [&](const oracle::Points& points, const SumStrengths& strengths) {
        return sum(points_of(points.xyz), strengths, coulomb(Method::direct)).report.energy.value();
    };
    const auto* x = three.xyz.data() + 3; // as rounded
    const double own = -1.0 / (h * h) / std::hypot(x[0] - x[3], x[1] - x[4], x[2] - x[5]);
    // own is 1e9 times the rest: that many digits are lost
    EXPECT_NEAR(energy(charge_and_dipole, strengths_of(charge_and_dipole)),
                energy(three, {.charges = charges_of(three)}) - own, 1e-5);
}

TEST(Energy, IsEmptyWhereItIsNotKnown) {
    const auto points = with_dipoles(charges(20, 16), 0.1);
    const auto energy = [&](const SumStrengths& strengths, OutputSet outputs) {
        return sum(points_of(points.xyz), strengths, coulomb(Method::direct), outputs).report.energy;
    };
    EXPECT_TRUE(energy({.charges = charges_of(points)}, Output::potential));
    EXPECT_FALSE(energy({.charges = charges_of(points)}, Output::field));
    EXPECT_FALSE(energy(strengths_of(points), Output::potential));
    EXPECT_TRUE(energy(strengths_of(points), Output::potential | Output::field));
    EXPECT_FALSE(
        sum(points_of(points.xyz), points_of(charges(5, 17).xyz), charges_of(points), coulomb(Method::direct))
            .report.energy);
}

} // namespace
} // namespace farfield
