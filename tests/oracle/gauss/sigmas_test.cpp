// Sums of Gaussians of several widths against sums in long double written from the definition,
// φ(x) = Σ q_i exp(−|x − x_i|²/(2σ_i²)), and its gradient: 1 to 6 dimensions, at the sources with and without
// their own terms, and elsewhere, several vectors of strengths. Without a tolerance direct sums give 1e-13 of
// the largest value; with one the largest error of the total is within it, also where groups cancel.
#include "effort.h"
#include "expect_error.h"
#include "oracle/gauss/gauss_oracle.h"

#include <farfield/density.h>
#include <farfield/error.h>
#include <farfield/sum_sigmas.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace farfield {
namespace {

using oracle::GaussRandom;
using oracle::Layout;
using oracle::Numbers;
using oracle::rows_of_numbers;
using Real = long double;

struct SigmasCase {
    std::size_t dimension = 3, vectors = 1;
    Numbers sources{}, strengths{}, sigmas{};
    Numbers targets{}; ///< empty: the sources
    bool without_own = false;

    [[nodiscard]] const Numbers& at() const { return targets.empty() ? sources : targets; }

    [[nodiscard]] oracle::GaussValues exact() const {
        const auto d = dimension, k = vectors;
        oracle::GaussValues out;
        out.potential.assign(at().size() / d * k, 0.0L);
        out.gradient.assign(at().size() * k, 0.0L);
        for (std::size_t i = 0; i < at().size() / d; ++i)
            for (std::size_t j = 0; j < sigmas.size(); ++j) {
                if (without_own && i == j) continue;
                const Real width = sigmas[j];
                Real square = 0;
                for (std::size_t c = 0; c < d; ++c)
                    square += std::pow(static_cast<Real>(at()[d * i + c]) - sources[d * j + c], 2);
                const Real value = std::exp(-square / (2 * width * width));
                for (std::size_t v = 0; v < k; ++v) {
                    const Real term = strengths[k * j + v] * value;
                    out.potential[k * i + v] += term;
                    for (std::size_t c = 0; c < d; ++c)
                        out.gradient[(k * i + v) * d + c] +=
                            term * (sources[d * j + c] - static_cast<Real>(at()[d * i + c])) /
                            (width * width);
                }
            }
        return out;
    }

    [[nodiscard]] SumResult computed(SumOptions options, SigmasReport* report = nullptr) const {
        options.kernel = Kernel::gauss;
        if (without_own) options.self_term = SelfTerm::exclude;
        SigmasInput input{.sources = rows_of_numbers(sources, dimension),
                          .strengths = rows_of_numbers(strengths, vectors),
                          .sigmas = std::span<const double>(sigmas)};
        if (!targets.empty()) input.targets = rows_of_numbers(targets, dimension);
        SumResult result;
        result.potential.resize(at().size() / dimension * vectors);
        result.gradient.resize(at().size() * vectors);
        SumOutputs outputs;
        outputs.potential =
            matrix_view(std::span<double>(result.potential), static_cast<std::int64_t>(vectors));
        outputs.gradient =
            matrix_view(std::span<double>(result.gradient), static_cast<std::int64_t>(vectors * dimension));
        auto told = sum_sigmas(input, options, outputs);
        result.report = told.sum;
        if (report != nullptr) *report = told;
        return result;
    }
};

SigmasCase some_sigmas(std::size_t d, std::size_t n, std::size_t vectors = 1, bool is_signed = true) {
    GaussRandom random(d);
    constexpr double widths[] = {0.05, 0.3, 0.11, 2.0};
    SigmasCase out{.dimension = d, .vectors = vectors};
    out.sources = random.points(Layout::uniform, n, d);
    out.strengths = random.strengths(n * vectors, is_signed);
    for (std::size_t i = 0; i < n; ++i) out.sigmas.push_back(widths[i * 7 % 4]);
    return out;
}

void expect_errors(const SigmasCase& given, const SumOptions& options, double tolerance) {
    const auto exact = given.exact();
    const auto result = given.computed(options);
    EXPECT_LE(oracle::largest_error(result.potential, exact.potential, given.vectors), tolerance);
    EXPECT_LE(oracle::largest_error(result.gradient, exact.gradient, given.vectors * given.dimension),
              tolerance);
    for (const auto& error : result.report.errors) EXPECT_LE(error.relative, tolerance);
}

TEST(SumOfSigmas, IsWhatItsDefinitionSays) {
    for (std::size_t d = 1; d <= 6; ++d)
        for (const std::size_t vectors : {1U, 3U}) {
            SCOPED_TRACE(std::to_string(d) + "-dimensional, " + std::to_string(vectors) + " vectors");
            auto given = some_sigmas(d, 90, vectors);
            expect_errors(given, {}, 1e-13);
            given.without_own = true;
            expect_errors(given, {}, 1e-13);
            given.without_own = false;
            given.targets = GaussRandom(9).points(Layout::circle, 40, d);
            expect_errors(given, {}, 1e-13);
            given.sigmas.assign(90, 0.4); // one group
            expect_errors(given, {}, 1e-13);
            given.targets.clear();
            expect_errors(given, {}, 1e-13);
        }
}

TEST(SumOfSigmas, KeepsItsTolerance) {
    const std::size_t n = test::shorter() ? 300 : 1500;
    for (const std::size_t d : {1U, 2U, 3U, 5U})
        for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
            SCOPED_TRACE(std::to_string(d) + "-dimensional, tolerance " + std::to_string(tolerance));
            auto given = some_sigmas(d, n);
            expect_errors(given, {.method = Method::fgt, .tolerance = tolerance}, tolerance);
            given.without_own = true;
            expect_errors(given, {.method = Method::fgt, .tolerance = tolerance}, tolerance);
        }
}

// Each source has a twin of the opposite sign and a width that is larger by little: the groups are a thousand
// times as large as their sum.
SigmasCase cancelling(std::size_t n, double apart) {
    auto out = some_sigmas(2, n, 1, false);
    out.sigmas.assign(n, 0.2);
    out.sources.insert(out.sources.end(), out.sources.begin(), out.sources.end());
    for (std::size_t i = 0; i < n; ++i) {
        out.strengths.push_back(-out.strengths[i]);
        out.sigmas.push_back(0.2 * (1.0 + apart));
    }
    out.targets = GaussRandom(4).points(Layout::uniform, 300, 2);
    return out;
}

TEST(SumOfSigmas, TightensGroupsThatCancel) {
    const auto given = cancelling(3000, 1e-4);
    const auto exact = given.exact();
    SigmasReport report;
    const auto result =
        given.computed({.method = Method::fgt, .tolerance = 1e-6, .strategy = GaussStrategy::grid}, &report);
    EXPECT_LE(oracle::largest_error(result.potential, exact.potential, 1), 1e-6);
    EXPECT_GT(report.rounds, 1);
    EXPECT_LT(report.group_tolerance, 1e-7);
    ASSERT_EQ(report.groups.size(), 2U);
    EXPECT_EQ(report.groups[0].sources, 3000);
    EXPECT_EQ(report.groups[0].method, Method::fgt);
}

TEST(SumOfSigmas, SaysWhereTheyCancelTooFar) {
    const auto given = cancelling(500, 1e-9);
    SumOptions options{.tolerance = 1e-4, .precision = Precision::float32};
    const auto message = test::error_of<ToleranceNotReached>([&] { (void)given.computed(options); });
    test::expect_contains(message, {"2 widths", "0.0001", "cancel", "relative_to = sum"});
    options.relative_to = RelativeTo::sum;
    for (const auto& error : given.computed(options).report.errors) EXPECT_LE(error.relative, 1e-4);
    options = {.tolerance = 1e-4}; // mixed falls short and double does not
    SigmasReport report;
    (void)given.computed(options, &report);
    EXPECT_EQ(report.rounds, 2);
    EXPECT_EQ(report.sum.precision, Precision::float64);
}

TEST(SumOfSigmas, CanBeStopped) {
    const auto given = some_sigmas(2, 3000);
    Numbers values(3000);
    int asked = 0;
    EXPECT_THROW((void)sum_sigmas({.sources = rows_of_numbers(given.sources, 2),
                                   .strengths = rows_of_numbers(given.strengths, 1),
                                   .sigmas = std::span<const double>(given.sigmas)},
                                  {.kernel = Kernel::gauss}, {.potential = std::span<double>(values)},
                                  {.progress = {}, .stop_requested = [&] { return ++asked > 2; }}),
                 Interrupted);
    EXPECT_EQ(values, Numbers(3000)) << "nothing is written";
    double before = 0.0;
    bool rises = true;
    (void)sum_sigmas({.sources = rows_of_numbers(given.sources, 2),
                      .strengths = rows_of_numbers(given.strengths, 1),
                      .sigmas = std::span<const double>(given.sigmas)},
                     {.kernel = Kernel::gauss}, {.potential = std::span<double>(values)},
                     {.progress =
                          [&](double share) {
                              rises = rises && share >= before && share <= 1.0 + 1e-12;
                              before = share;
                          },
                      .stop_requested = {}});
    EXPECT_TRUE(rises);
    EXPECT_NEAR(before, 1.0, 1e-12);
}

TEST(SumOfSigmas, WhatItDoesNotTake) {
    const auto refused = [](const SigmasCase& given, const SumOptions& options = {}) {
        return test::error_of<InvalidArgument>([&] { (void)given.computed(options); });
    };
    const auto with = [](std::size_t row, double sigma) {
        auto given = some_sigmas(2, 20);
        given.sigmas[row] = sigma;
        return given;
    };
    test::expect_contains(refused(with(3, 0.0)), {"row 3", "> 0"});
    test::expect_contains(refused(with(3, -1.0)), {"row 3", "-1"});
    test::expect_contains(refused(with(5, std::nan(""))), {"sigmas", "row 5", "nan"});
    auto many = some_sigmas(2, 100);
    for (std::size_t i = 0; i < 100; ++i) many.sigmas[i] = 1.0 + 0.01 * static_cast<double>(i);
    test::expect_contains(refused(many), {"64", "round"});
    many.sigmas.resize(99);
    test::expect_contains(refused(many), {"sigmas", "{100}"});
    const auto given = some_sigmas(2, 20);
    test::expect_contains(refused(given, {.sigma = 0.5}), {"sigma = 0.5"});
    auto elsewhere = given;
    elsewhere.targets = {0.0, 0.0};
    test::expect_contains(refused(elsewhere, {.self_term = SelfTerm::exclude}),
                          {"self_term = exclude", "targets"});
    test::expect_contains(test::error_of<InvalidArgument>([&] {
                              (void)sum_sigmas({.sources = rows_of_numbers(given.sources, 2),
                                                .strengths = rows_of_numbers(given.strengths, 1),
                                                .sigmas = std::span<const double>(given.sigmas)},
                                               {}, {});
                          }),
                          {"'gravity'", "kernel = gauss"});
}

// p(x) = 1/W Σ w_i exp(−|x − x_i|²/(2σ_i²))/((2π)^{d/2} σ_i^d)
TEST(Density, OfAWidthForEachPoint) {
    for (std::size_t d = 1; d <= 6; ++d)
        for (const bool without_own : {false, true}) {
            SCOPED_TRACE(std::to_string(d) + (without_own ? ", without own" : ""));
            auto given = some_sigmas(d, 80, 1, false);
            given.without_own = without_own;
            auto lower = given;
            Real all = 0;
            for (std::size_t i = 0; i < 80; ++i) {
                all += given.strengths[i];
                lower.strengths[i] /= std::pow(given.sigmas[i], static_cast<double>(d));
            }
            auto exact = lower.exact();
            const Real volume =
                std::pow(2 * 3.14159265358979323846264338327950288L, static_cast<Real>(d) / 2);
            for (std::size_t i = 0; i < 80; ++i) {
                const Real divisor = volume * (without_own ? all - given.strengths[i] : all);
                exact.potential[i] /= divisor;
                for (std::size_t k = 0; k < d; ++k) exact.gradient[i * d + k] /= divisor;
            }
            DensityOptions options{.bandwidth = BandwidthRule::sigma};
            if (without_own) options.sum.self_term = SelfTerm::exclude;
            const auto result = density({.points = rows_of_numbers(given.sources, d),
                                         .weights = std::span<const double>(given.strengths),
                                         .sigmas = std::span<const double>(given.sigmas)},
                                        options, true);
            EXPECT_LE(oracle::largest_error(result.density, exact.potential, 1), 1e-13);
            EXPECT_LE(oracle::largest_error(result.gradient, exact.gradient, d), 1e-13);
            EXPECT_TRUE(result.report.widths.empty());
        }
}

} // namespace
} // namespace farfield
