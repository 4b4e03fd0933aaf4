// Cases for SumPlan on every device: each refuses the same input with the same words, and takes what the CPU
// takes. A program of tests instantiates the suite with a place, a class that has
//   static std::string why_not();  the reason if nothing can be computed there
//   static DeviceChoice device();
#pragma once

#include "expect_error.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace farfield {

template <class Place>
class SumPlanCases : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = Place::why_not(); !reason.empty()) GTEST_SKIP() << reason;
    }
    static SumOptions options(Precision precision = Precision::float64, double softening = 0.0) {
        return {.softening = softening, .precision = precision, .device = Place::device()};
    }
    // What call(options) throws here has the words, and is what it throws on the CPU.
    template <class Call>
    static void expect_refused(Call&& call, std::initializer_list<std::string> words,
                               Precision precision = Precision::float64) {
        const auto text = test::error_of<InvalidArgument>([&] { call(options(precision)); });
        test::expect_contains(text, words);
        const SumOptions on_cpu{.precision = precision, .device = {.kind = DeviceKind::cpu}};
        EXPECT_EQ(text, test::error_of<InvalidArgument>([&] { call(on_cpu); }));
    }
};
TYPED_TEST_SUITE_P(SumPlanCases);

TYPED_TEST_P(SumPlanCases, RefusesWhatIsNotFiniteAndNamesTheRow) {
    using test::list, test::rows;
    for (const std::size_t n : {3, 1000}) {
        test::Values points(3 * n), strengths(n, 0.5);
        for (std::size_t i = 0; i < points.size(); ++i) points[i] = std::sin(static_cast<double>(i));
        auto broken = points;
        broken[3 * (n - 2) + 1] = std::nan("");
        broken[3 * (n - 1)] = std::numeric_limits<double>::infinity(); // the first one is named
        const auto row = "row " + std::to_string(n - 2);
        this->expect_refused([&](const SumOptions& o) { sum(rows(broken), list(strengths), o); },
                             {"sources", row, "y", "nan"});
        this->expect_refused(
            [&](const SumOptions& o) { sum(rows(points), rows(broken), list(strengths), o); },
            {"targets", row});
        for (const double sign : {1.0, -1.0}) {
            auto heavy = strengths;
            heavy[n - 1] = sign * std::numeric_limits<double>::infinity();
            this->expect_refused([&](const SumOptions& o) { sum(rows(points), list(heavy), o); },
                                 {"strengths", "row " + std::to_string(n - 1), "inf"});
        }
    }
}

TYPED_TEST_P(SumPlanCases, CoincidentPointsNameBothRows) {
    using test::list, test::rows;
    const test::Values twins{0, 0, 0, 1, 1, 1, 2, 0, 0, 1, 1, 1}, q{1, 2, 3, 4}, near{0, 0, 0, 5, 5, 5};
    for (const auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
        this->expect_refused([&](const SumOptions& o) { sum(rows(twins), list(q), o); },
                             {"1", "3", "same place", "softening", "skip"}, precision);
        this->expect_refused([&](const SumOptions& o) { sum(rows(twins), rows(near), list(q), o); },
                             {"targets: row 0", "row 0 of the sources"}, precision);
        auto skip = this->options(precision);
        skip.coincident = Coincident::skip;
        const auto skipped = sum(rows(twins), list(q), skip);
        EXPECT_EQ(skipped.report.direct.coincident_pairs_skipped, 2);
        // The twins at (1,1,1) do not act on each other: 1/√3 and 3/√3 from the rest.
        EXPECT_NEAR(skipped.potential[1], -4.0 / std::sqrt(3.0), 1e-6);
        EXPECT_NEAR(skipped.potential[3], -4.0 / std::sqrt(3.0), 1e-6);
        EXPECT_TRUE(std::all_of(skipped.field.begin(), skipped.field.end(),
                                [](double e) { return std::isfinite(e); }));
        // Softened, they are an ordinary pair without force on each other.
        const auto soft = sum(rows(twins), list(q), this->options(precision, 0.5));
        EXPECT_EQ(soft.report.direct.coincident_pairs_skipped, 0);
        EXPECT_NEAR(soft.potential[1], -(4.0 / std::sqrt(3.25) + 4.0 / 0.5), 1e-5);
    }
}

// Columns stored one after the other, backwards, in float; results into every second element.
template <class T>
void expect_strides_are_taken(const SumOptions& options) {
    using test::list, test::rows;
    const std::vector<float> columns{0, 1, 0, 0, 0, 2, 0, 0, 0}; // x of three points, y, z
    ConstArrayView view(columns.data(), DType::float32, {3, 3});
    view.strides = {1, 3};
    const std::vector<float> reversed{3, 2, 1};
    ConstArrayView q(reversed.data() + 2, DType::float32, {3});
    q.strides = {-1, 0};
    std::vector<T> out(6, T(-7));
    ArrayView potential(out.data(), sizeof(T) == 4 ? DType::float32 : DType::float64, {3});
    potential.strides = {2, 0};
    SumPlan plan(view, options);
    plan.execute(q, {.potential = potential});
    const test::Values same{0, 0, 0, 1, 0, 0, 0, 2, 0}, strengths{1, 2, 3};
    const auto expected = sum(rows(same), list(strengths), options);
    const auto on_cpu = sum(rows(same), list(strengths), {.device = {.kind = DeviceKind::cpu}});
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(out[2 * i], static_cast<T>(expected.potential[i]));
        EXPECT_NEAR(static_cast<double>(out[2 * i]), on_cpu.potential[i], 1e-6);
        EXPECT_EQ(out[2 * i + 1], T(-7));
    }
}

TYPED_TEST_P(SumPlanCases, TakesAnyStridesAndTypes) {
    expect_strides_are_taken<float>(this->options());
    expect_strides_are_taken<double>(this->options());
}

TYPED_TEST_P(SumPlanCases, TakesNothingAndOne) {
    using test::list, test::rows, test::Values;
    const Values none, one{1, 2, 3}, mass{5}, points{0, 0, 0, 1, 0, 0};
    for (const double softening : {0.0, 0.1}) {
        const auto options = this->options(Precision::float64, softening);
        const auto nothing = sum(rows(none), list(none), options);
        EXPECT_TRUE(nothing.potential.empty() && nothing.field.empty());
        EXPECT_EQ(sum(rows(none), rows(points), list(none), options).potential, (Values{0, 0}));
        const auto alone = sum(rows(one), list(mass), options);
        EXPECT_EQ(alone.potential, Values{0});
        EXPECT_EQ(alone.field, (Values{0, 0, 0}));
        EXPECT_EQ(sum(rows(points), list(Values{0, 0}), options).potential, (Values{0, 0}));
    }
}

TYPED_TEST_P(SumPlanCases, HasNoPointsAfterAnUpdateThatFailed) {
    struct Way {
        Kernel kernel;
        Method method;
        std::int64_t dimension, columns = 1;
    };
    for (const auto& way : {Way{Kernel::coulomb, Method::direct, 3}, Way{Kernel::coulomb, Method::fmm, 3},
                            Way{Kernel::laplace2d, Method::fmm, 2, 2}, Way{Kernel::gauss, Method::direct, 2},
                            Way{Kernel::gauss, Method::fgt, 2}}) {
        constexpr std::size_t n = 1500;
        test::Values points(n * static_cast<std::size_t>(way.dimension));
        const test::Values strengths(n * static_cast<std::size_t>(way.columns), 0.5);
        const auto numbers = [&](test::Values& values) {
            return matrix_view(std::span<double>(values), way.columns);
        };
        const auto q = matrix_view(std::span<const double>(strengths), way.columns);
        for (std::size_t i = 0; i < points.size(); ++i)
            points[i] = std::sin(static_cast<double>(i) * (1.0 + 1e-3 * static_cast<double>(i)));
        auto options = this->options();
        options.kernel = way.kernel;
        options.method = way.method;
        options.outputs = Output::potential;
        if (way.kernel == Kernel::gauss) options.sigma = 0.1;
        const auto there = matrix_view(std::span<const double>(points), way.dimension);
        SumPlan plan(there, options);
        test::Values before(strengths.size()), after(strengths.size());
        plan.execute(q, {.potential = numbers(before)});
        auto broken = points;
        broken.back() = std::nan("");
        EXPECT_THROW(plan.update(matrix_view(std::span<const double>(broken), way.dimension)),
                     InvalidArgument);
        const auto text =
            test::error_of<InvalidArgument>([&] { plan.execute(q, {.potential = numbers(after)}); });
        test::expect_contains(text, {"no points", "update"});
        plan.update(there);
        plan.execute(q, {.potential = numbers(after)});
        EXPECT_EQ(before, after);
    }
}

REGISTER_TYPED_TEST_SUITE_P(SumPlanCases, RefusesWhatIsNotFiniteAndNamesTheRow, CoincidentPointsNameBothRows,
                            TakesAnyStridesAndTypes, TakesNothingAndOne, HasNoPointsAfterAnUpdateThatFailed);

} // namespace farfield
