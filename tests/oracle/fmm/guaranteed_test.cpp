// Guaranteed bounds of fast multipole sums against sums in long double: no error is larger than its bound,
// and bounds come down to many digits. FARFIELD_RANDOM_SUMS says how many random sums; a failure prints its
// number, and FARFIELD_RANDOM_SUM=number runs that one alone.
#include "effort.h"
#include "expect_error.h"
#include "oracle/direct/oracle.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace farfield {
namespace {

using oracle::Points;

ConstArrayView rows_of_three(const std::vector<double>& xyz) {
    return matrix_view(std::span<const double>(xyz), 3);
}

class GuaranteedSum {
public:
    explicit GuaranteedSum(int number) : engine_(static_cast<std::uint64_t>(number) + 50000) {
        scale_ = chance(0.1) ? 1e12 : chance(0.1) ? 1e-12 : 1.0;
        unique_ = cloud(static_cast<int>(std::pow(10.0, uniform(0.5, 3.3))));
        if (chance(0.3)) targets_ = cloud(static_cast<int>(std::pow(10.0, uniform(0.0, 3.0)))).xyz;
        options_.kernel = Kernel::coulomb;
        options_.method = Method::fmm;
        options_.guaranteed = true;
        options_.separation = chance(0.3) ? 1 : chance(0.5) ? 2 : 0;
        options_.leaf = static_cast<int>(std::pow(10.0, uniform(0.0, 1.7)));
        if (chance(0.2)) options_.depth = static_cast<int>(uniform(1.0, 3.9));
        if (chance(0.2)) options_.grading = chance(0.5) ? 0.0 : 0.5;
        options_.coincident = Coincident::skip;
        options_.threads = 1;
        options_.precision = chance(0.7)   ? Precision::float64
                             : chance(0.5) ? Precision::mixed
                                           : Precision::float32;
        const bool wide = options_.precision == Precision::float64;
        const double digits = !wide ? 2.5 : options_.separation == 1 ? 5.0 : 9.0;
        options_.tolerance = std::pow(10.0, -uniform(0.5, digits));
        wanted_ = Output::potential | Output::field;
        if (chance(0.3)) wanted_ |= Output::hessian;
        // most are bounded at orders of their own; some at low ones, with large bounds
        if (chance(0.3)) {
            options_.order = static_cast<int>(uniform(1.0, 6.0));
            options_.tolerance = 1e3;
        }
        if (chance(0.3)) add_dipoles();
        sources_ = unique_;
        if (chance(0.2) && targets_.empty()) double_some();
    }

    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        out << sources_.q.size() << " sources (" << unique_.q.size() << " places, " << sources_.p.size() / 3
            << " dipoles) of cloud " << kind_ << ", " << targets_.size() / 3 << " targets, tolerance "
            << options_.tolerance << ", order " << options_.order << ", separation " << options_.separation
            << ", leaf " << options_.leaf << ", depth " << options_.depth << ", grading " << options_.grading
            << ", precision " << static_cast<int>(options_.precision);
        return out.str();
    }
    [[nodiscard]] double tolerance() const { return options_.tolerance; }
    [[nodiscard]] bool wide() const { return options_.precision == Precision::float64; }

    [[nodiscard]] SumResult compute() const {
        const SumStrengths strengths{.charges = ConstArrayView(std::span<const double>(sources_.q)),
                                     .dipoles =
                                         sources_.p.empty() ? ConstArrayView{} : rows_of_three(sources_.p)};
        return targets_.empty()
                   ? sum(rows_of_three(sources_.xyz), strengths, options_, wanted_)
                   : sum(rows_of_three(sources_.xyz), rows_of_three(targets_), strengths, options_, wanted_);
    }

    [[nodiscard]] double error(Output output, const SumResult& result) {
        if (exact_.potential.empty()) {
            const bool hessian = wanted_.has(Output::hessian);
            exact_ = targets_.empty() ? oracle::direct_self(unique_, 0.0L, 1.0L, hessian)
                                      : oracle::direct(unique_, targets_, 0.0L, 1.0L, hessian);
            repeat_rows();
        }
        switch (output) {
        case Output::potential:
            return oracle::relative_l2(result.potential, exact_.potential);
        case Output::field:
            return oracle::relative_l2(result.field, exact_.field);
        default:
            return oracle::relative_frobenius(result.hessian, exact_.hessian);
        }
    }

private:
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    bool chance(double share) { return uniform(0.0, 1.0) < share; }

    Points cloud(int n) {
        kind_ = static_cast<int>(uniform(0.0, 5.0));
        const bool masses = chance(0.6);
        const double offset = chance(0.2) ? 1e3 * scale_ : 0.0;
        Points out;
        for (int i = 0; i < n; ++i) {
            for (const double component : place()) out.xyz.push_back(scale_ * component + offset);
            out.q.push_back(masses ? uniform(0.5, 1.5) : uniform(-1.0, 1.0));
        }
        return out;
    }

    std::array<double, 3> place() {
        std::normal_distribution<double> normal;
        switch (kind_) {
        case 0:
            return {uniform(0, 1), uniform(0, 1), uniform(0, 1)};
        case 1: // ever denser towards a corner
            return {std::pow(uniform(0, 1), 4), std::pow(uniform(0, 1), 4), std::pow(uniform(0, 1), 4)};
        case 2: // two clusters
            return {(chance(0.5) ? 1.0 : 0.0) + 1e-2 * normal(engine_), 1e-2 * normal(engine_),
                    1e-2 * normal(engine_)};
        case 3: // corners of a grid of cells, where bounds are reached
            return {corner(), corner(), corner()};
        default: // a line
            return {uniform(0, 1), 0.5, 0.25};
        }
    }
    double corner() { return std::round(uniform(-0.5, 8.5)) / 8.0 + 1e-3 * uniform(-1.0, 1.0); }

    // Charges would hide the errors of dipoles beside them.
    void add_dipoles() {
        std::normal_distribution<double> normal;
        if (chance(0.5)) std::fill(unique_.q.begin(), unique_.q.end(), 0.0);
        for (std::size_t k = 0; k < unique_.xyz.size(); ++k)
            unique_.p.push_back(0.01 * scale_ * normal(engine_));
    }

    // Every third point twice, with half its strength each; what it does to others stays the same.
    void double_some() {
        for (std::size_t i = 0; i < unique_.q.size(); i += 3) {
            sources_.q[i] *= 0.5;
            sources_.q.push_back(sources_.q[i]);
            for (std::size_t k = 0; k < 3; ++k) sources_.xyz.push_back(unique_.xyz[3 * i + k]);
            for (std::size_t k = 0; k < 3 && !unique_.p.empty(); ++k) {
                sources_.p[3 * i + k] *= 0.5;
                sources_.p.push_back(sources_.p[3 * i + k]);
            }
        }
    }
    void repeat_rows() {
        if (sources_.q.size() == unique_.q.size()) return;
        const auto repeat = [&](std::vector<long double>& values, std::size_t width) {
            for (std::size_t i = 0; i < unique_.q.size() && !values.empty(); i += 3)
                for (std::size_t k = 0; k < width; ++k) values.push_back(values[width * i + k]);
        };
        repeat(exact_.potential, 1);
        repeat(exact_.field, 3);
        repeat(exact_.hessian, 6);
    }

    std::mt19937_64 engine_;
    double scale_ = 1.0;
    int kind_ = 0;
    Points unique_, sources_;
    std::vector<double> targets_;
    SumOptions options_;
    OutputSet wanted_;
    oracle::Result exact_;
};

int integer_in(const char* variable, int usual) {
    const char* value = std::getenv(variable);
    return value != nullptr ? std::atoi(value) : usual;
}

TEST(FmmGuaranteed, NoErrorIsLargerThanItsBound) {
    const int only = integer_in("FARFIELD_RANDOM_SUM", -1);
    const int count = only >= 0 ? 1 : integer_in("FARFIELD_RANDOM_SUMS", test::fewer() ? 10 : 300);
    int expanded = 0, refused = 0;
    double closest = 0.0; // error over bound
    for (int k = 0; k < count; ++k) {
        const int number = only >= 0 ? only : k;
        GuaranteedSum random(number);
        SCOPED_TRACE("sum " + std::to_string(number) + ": " + random.text());
        try {
            const auto result = random.compute();
            if (result.report.fmm.near_pairs < result.report.direct.pairs) ++expanded;
            ASSERT_GE(result.report.bounds.size(), 2U);
            for (const auto& bound : result.report.bounds) {
                const double error = random.error(bound.output, result);
                EXPECT_LE(error, bound.relative) << name_of(bound.output);
                EXPECT_LE(bound.relative, random.tolerance());
                if (bound.relative > 0.0) closest = std::max(closest, error / bound.relative);
            }
        } catch (const ToleranceNotReached& refusal) {
            ++refused;
            if (only >= 0 || count <= 300) std::printf("refused: %d %s\n", number, refusal.what());
        } catch (const InvalidArgument& refusal) { // floats that cannot tell points apart
            EXPECT_FALSE(random.wide()) << refusal.what();
        }
    }
    std::printf("%d of %d expanded, %d refused, errors up to %.2g of the bound\n", expanded, count, refused,
                closest);
    if (only >= 0) return;
    EXPECT_GE(expanded, count / 4);
    EXPECT_LE(refused, count / 4);
}

TEST(FmmGuaranteed, TwentyThousandMassesDownToNineDigits) {
    const int n = 20000;
    const std::vector<double> tolerances = test::fewer() ? std::vector{1e-3}
                                           : test::shorter()
                                               ? std::vector{1e-3, 1e-9}
                                               : std::vector{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    for (const auto& points : {oracle::uniform_cube(n, 1), oracle::plummer(n, 2)})
        for (const double tolerance : tolerances) {
            SumOptions options{.method = Method::fmm, .tolerance = tolerance, .guaranteed = true};
            options.leaf = 40; // or most digits were summed pair by pair
            const auto report =
                sum(rows_of_three(points.xyz), ConstArrayView(std::span<const double>(points.q)), options)
                    .report;
            EXPECT_LT(report.fmm.near_pairs, report.direct.pairs / 2);
            EXPECT_EQ(report.fmm.separation, 2);
            EXPECT_EQ(report.precision, Precision::float64);
            ASSERT_EQ(report.bounds.size(), 2U);
            for (std::size_t k = 0; k < 2; ++k) {
                EXPECT_LE(report.bounds[k].relative, tolerance);
                EXPECT_LE(report.errors[k].relative, report.bounds[k].relative);
                EXPECT_GT(report.bounds[k].relative, 0.0);
            }
        }
}

TEST(FmmGuaranteed, LowOrdersAreRaisedAndOrdersByHandStay) {
    const auto points = oracle::uniform_cube(1500, 3);
    const ConstArrayView charges(std::span<const double>{points.q});
    SumOptions options{.method = Method::fmm, .tolerance = 1e-6, .guaranteed = true};
    options.leaf = 10;
    options.separation = 1;
    const auto report = sum(rows_of_three(points.xyz), charges, options).report;
    EXPECT_LE(report.bounds[1].relative, 1e-6);
    options.order = 5;
    const auto message =
        test::error_of<ToleranceNotReached>([&] { (void)sum(rows_of_three(points.xyz), charges, options); });
    test::expect_contains(message, {"field", "order 5", "separation = 2", "tolerance 1e-06"});
    options.order = 0;
    options.tolerance = 1e-14;
    options.separation = 0;
    test::expect_contains(
        test::error_of<ToleranceNotReached>([&] { (void)sum(rows_of_three(points.xyz), charges, options); }),
        {"rounding", "larger tolerance"});
}

TEST(FmmGuaranteed, WhatHasNoBoundsIsRefused) {
    const auto points = oracle::uniform_cube(50, 3);
    const ConstArrayView charges(std::span<const double>{points.q});
    const auto message = [&](SumOptions options) {
        options.guaranteed = true;
        return test::error_of<InvalidArgument>(
            [&] { (void)sum(rows_of_three(points.xyz), charges, options); });
    };
    test::expect_contains(message({.method = Method::fmm}), {"tolerance"});
    test::expect_contains(message({.method = Method::direct, .tolerance = 1e-3}), {"method = fmm"});
    test::expect_contains(message({.method = Method::reference, .tolerance = 1e-3}), {"method = fmm"});
    test::expect_contains(message({.method = Method::fmm, .softening = 0.1, .tolerance = 1e-3}),
                          {"softening"});
    const auto chosen = sum(rows_of_three(points.xyz), charges,
                            {.method = Method::automatic, .tolerance = 1e-3, .guaranteed = true});
    EXPECT_EQ(chosen.report.method, Method::fmm);
    EXPECT_EQ(chosen.report.bounds.size(), 2U);
}

// Bounds hold for the numbers that the caller gets, and for the worst of several vectors of strengths.
TEST(FmmGuaranteed, FloatArraysAndSeveralVectors) {
    const auto points = oracle::uniform_cube(400, 4);
    std::vector<double> strengths;
    for (std::size_t i = 0; i < points.q.size(); ++i) {
        strengths.push_back(points.q[i]);
        strengths.push_back(i % 2 == 0 ? 1.0 : -1.0);
    }
    SumOptions options{
        .kernel = Kernel::coulomb, .method = Method::fmm, .tolerance = 1e-3, .guaranteed = true};
    options.leaf = 5;
    SumPlan plan(rows_of_three(points.xyz), options);
    std::vector<float> potential(points.q.size());
    plan.execute(ConstArrayView(std::span<const double>(points.q)),
                 {.potential = ArrayView(std::span<float>(potential))});
    const double of_masses = plan.report().bounds.at(0).relative;
    EXPECT_GT(of_masses, 0x1p-24);
    std::vector<double> both(2 * points.q.size());
    plan.execute(matrix_view(std::span<const double>(strengths), 2),
                 {.potential = matrix_view(std::span<double>(both), 2)});
    EXPECT_GT(plan.report().bounds.at(0).relative, of_masses);
    EXPECT_LE(plan.report().bounds.at(0).relative, 1e-3);
}

} // namespace
} // namespace farfield
