// Every rung of the ladder, instruction set, precision and output against the reference; the same bits for
// any number of threads; data far from the origin and of extreme size.
#include "effort.h"
#include "sums/direct/cpu/jerk.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::list;
using test::rows;
using test::Values;

struct VariantCloud {
    Values points;
    Values strengths;
};

/// Values that are floats, so that all precisions see the same input.
VariantCloud cloud(std::size_t n, unsigned seed = 7) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    VariantCloud out;
    for (std::size_t i = 0; i < 3 * n; ++i) out.points.push_back(static_cast<double>(uniform(generator)));
    for (std::size_t i = 0; i < n; ++i) out.strengths.push_back(static_cast<double>(uniform(generator)));
    return out;
}

SumResult reference(const VariantCloud& sources, const Values* targets, const SumOptions& options) {
    const SumOptions plain{
        .kernel = options.kernel, .method = Method::reference, .softening = options.softening};
    return targets == nullptr ? sum(rows(sources.points), list(sources.strengths), plain)
                              : sum(rows(sources.points), rows(*targets), list(sources.strengths), plain);
}

/// Largest difference over the largest value.
double relative_difference(const Values& a, const Values& b) {
    EXPECT_EQ(a.size(), b.size());
    double difference = 0.0;
    double largest = 1e-300;
    for (std::size_t i = 0; i < b.size(); ++i) {
        difference = std::max(difference, std::abs(a[i] - b[i]));
        largest = std::max(largest, std::abs(b[i]));
    }
    return difference / largest;
}

/// Ten rounding units for a pair, and for float sums without blocks √N of them more (N ≤ 2,300 here).
double tolerance(Precision precision, Variant variant) {
    if (precision == Precision::float64) return 1e-13;
    return variant == Variant::naive || variant == Variant::soa ? 1e-5 : 2e-6;
}

std::string text(const SumOptions& options, std::size_t n) {
    std::string out = std::to_string(n);
    for (auto name : {name_of(options.kernel), name_of(options.precision), name_of(options.isa),
                      name_of(options.variant)})
        out.append(" ").append(name);
    return out;
}

constexpr double softened = 0.05;

std::vector<SumOptions> all_options() {
    std::vector<SumOptions> out;
    for (auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
        for (auto variant : {Variant::naive, Variant::soa})
            out.push_back({.softening = softened, .precision = precision, .variant = variant});
        for (auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
            if (is_available(isa))
                for (auto variant : {Variant::simd, Variant::symmetric})
                    out.push_back(
                        {.softening = softened, .precision = precision, .isa = isa, .variant = variant});
    }
    return out;
}

// Around the sizes of vectors, register tiles, padding and blocks, where loops have their edges.
TEST(DirectVariants, AgreeWithTheReferenceForAnyNumberOfPoints) {
    for (std::size_t n : {1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 257, 515, 2050, 2305}) {
        if (n == 2050 && test::fewer()) continue; // 2305 has more than one block as well
        const auto input = cloud(n);
        const auto kernel = n % 2 == 0 ? Kernel::gravity : Kernel::coulomb;
        const auto expected = reference(input, nullptr, {.kernel = kernel, .softening = softened});
        for (auto options : all_options()) {
            options.kernel = kernel;
            const auto both = sum(rows(input.points), list(input.strengths), options);
            const auto what = text(options, n);
            const double allowed = tolerance(options.precision, options.variant);
            EXPECT_LE(relative_difference(both.field, expected.field), allowed) << what;
            EXPECT_LE(relative_difference(both.potential, expected.potential), allowed) << what;
            if (n > 300) continue;
            const auto field = sum(rows(input.points), list(input.strengths), options, Output::field);
            const auto potential = sum(rows(input.points), list(input.strengths), options, Output::potential);
            EXPECT_TRUE(field.potential.empty() && potential.field.empty());
            EXPECT_LE(relative_difference(field.field, expected.field), allowed) << what;
            EXPECT_LE(relative_difference(potential.potential, expected.potential), allowed) << what;
        }
    }
}

TEST(DirectVariants, SeparateTargets) {
    const auto sources = cloud(700);
    for (std::size_t m : {1, 33, 300}) {
        const auto targets = cloud(m, 99).points;
        const auto expected = reference(sources, &targets, {.softening = softened});
        for (auto options : all_options()) {
            if (options.variant == Variant::symmetric) continue;
            const auto result = sum(rows(sources.points), rows(targets), list(sources.strengths), options);
            EXPECT_LE(relative_difference(result.field, expected.field),
                      tolerance(options.precision, options.variant))
                << text(options, m);
            EXPECT_EQ(result.report.direct.pairs, static_cast<std::int64_t>(700 * m));
        }
    }
}

TEST(DirectVariants, StructureOfArraysKeepsTheBitsOfTheNaiveLoop) {
    const auto input = cloud(333);
    for (auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
        const auto naive = sum(rows(input.points), list(input.strengths),
                               {.precision = precision, .variant = Variant::naive});
        const auto soa =
            sum(rows(input.points), list(input.strengths), {.precision = precision, .variant = Variant::soa});
        EXPECT_EQ(naive.field, soa.field);
        EXPECT_EQ(naive.potential, soa.potential);
    }
}

TEST(DirectVariants, SameBitsForAnyNumberOfThreads) {
    const auto input = cloud(test::sized(3000U, 1300U));
    for (auto options : all_options()) {
        if (options.isa == Isa::scalar && options.precision != Precision::float64) continue;
        options.threads = 1;
        const auto one = sum(rows(input.points), list(input.strengths), options);
        for (int threads : {7, 2}) {
            if (threads == 2 && test::fewer()) continue;
            options.threads = threads;
            const auto many = sum(rows(input.points), list(input.strengths), options);
            EXPECT_EQ(one.field, many.field) << text(options, input.strengths.size()) << " " << threads;
            EXPECT_EQ(one.potential, many.potential)
                << text(options, input.strengths.size()) << " " << threads;
        }
    }
}

// x → s·x + c and q → t·q turn the field into t/s² times itself. c and s as floats hold exactly.
TEST(DirectVariants, FarFromTheOriginAndOfExtremeSize) {
    auto input = cloud(600);
    for (double& x : input.points) x = std::round(x * 1024.0) / 1024.0; // so that x + 4096 is exact in float
    const auto expected = reference(input, nullptr, {.softening = 0.25});
    for (auto options : all_options()) {
        options.softening = 0.25;
        const double allowed = tolerance(options.precision, options.variant);
        auto moved = input;
        for (double& x : moved.points) x += 4096.0;
        const auto far = sum(rows(moved.points), list(input.strengths), options);
        EXPECT_LE(relative_difference(far.field, expected.field), allowed) << "far " << text(options, 600);
        for (double size : {1e20, 1e-20}) {
            auto scaled = input;
            for (double& x : scaled.points) x *= size;
            for (double& q : scaled.strengths) q /= size;
            auto scaled_options = options;
            scaled_options.softening *= size;
            auto result = sum(rows(scaled.points), list(scaled.strengths), scaled_options);
            for (double& e : result.field) e *= size * size * size;
            // Multiplying by 1e±20 rounds the coordinates, once more in float.
            EXPECT_LE(relative_difference(result.field, expected.field), 4.0 * allowed)
                << size << " " << text(options, 600);
        }
    }
}

// In double, a pair so close that r² is beyond any float estimate goes through the slow, exact path.
TEST(DirectVariants, VeryClosePairs) {
    auto input = cloud(130);
    for (std::size_t k = 0; k < 3; ++k) input.points[k] = 0.0;
    for (std::size_t k = 3; k < 6; ++k) input.points[k] = 1e-60;
    for (auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) continue;
        for (auto variant : {Variant::simd, Variant::symmetric}) {
            const SumOptions options{.isa = isa, .variant = variant};
            const auto expected = reference(input, nullptr, options);
            const auto result = sum(rows(input.points), list(input.strengths), options);
            for (std::size_t i = 0; i < 6; ++i)
                EXPECT_NEAR(result.field[i] / expected.field[i], 1.0, 1e-13) << text(options, i);
            EXPECT_EQ(result.report.direct.coincident_pairs_skipped, 0);
        }
    }
}

// What a double can hold comes out, whatever the scale of the rest; what it cannot is an error, never inf or
// NaN.
TEST(DirectVariants, ResultsAtTheEndsOfTheRange) {
    const Values two{0, 0, 0, 1, 0, 0};
    const Values target{1e160, 0, 0, 0.5, 0.5, 0};
    const auto far = sum(rows(two), rows(target), list(Values{1, 1}));
    EXPECT_NEAR(far.potential[1] / -2.8284271247461903, 1.0, 1e-14);
    EXPECT_NEAR(far.field[4] / -2.8284271247461903, 1.0, 1e-14);
    const Values denormal{0, 0, 0, 1e-320, 0, 0};
    for (double e : sum(rows(denormal), list(Values{0, 0})).field) EXPECT_EQ(e, 0.0);
    const Values close{0, 0, 0, 1e-10, 0, 0};
    EXPECT_THROW(sum(rows(close), list(Values{1e300, 1e300})), InvalidArgument);
}

TEST(DirectVariants, AnIsaThatIsMissingIsAnError) {
    const auto input = cloud(3);
    for (auto isa : {Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (is_available(isa)) continue;
        EXPECT_THROW(SumPlan(rows(input.points), {.isa = isa}), BackendUnavailable);
    }
    EXPECT_THROW(SumPlan(rows(input.points), {.isa = Isa::sse42, .variant = Variant::naive}),
                 InvalidArgument);
    EXPECT_TRUE(is_available(best_isa()));
}

// The jerk is the rate of change of the field along the motion: a central difference, whose own error is h²/6
// times the third derivative, here below 1e-7 of the largest jerk.
TEST(DirectJerk, IsTheDerivativeOfTheField) {
    constexpr std::size_t n = 75;
    const auto input = cloud(n);
    const auto velocities = cloud(n, 31).points;
    const double softening = 0.3;
    for (auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) continue;
        Values field(3 * n);
        Values jerk(3 * n);
        Values potential(n);
        for (int threads : {1, 3}) {
            const auto first = jerk;
            direct_field_and_jerk({.kernel = Kernel::gravity,
                                   .n = n,
                                   .points = input.points.data(),
                                   .velocities = velocities.data(),
                                   .strengths = input.strengths.data(),
                                   .softening = softening,
                                   .threads = threads,
                                   .isa = isa,
                                   .field = field.data(),
                                   .jerk = jerk.data(),
                                   .potential = potential.data()});
            if (threads == 3) {
                EXPECT_EQ(first, jerk);
            }
        }
        const SumOptions options{.softening = softening, .isa = isa};
        const auto now = reference(input, nullptr, options);
        EXPECT_LE(relative_difference(field, now.field), 1e-13);
        EXPECT_LE(relative_difference(potential, now.potential), 1e-13);
        const double h = 1e-4;
        Values difference(3 * n);
        for (double side : {1.0, -1.0}) {
            auto moved = input;
            for (std::size_t i = 0; i < 3 * n; ++i) moved.points[i] += side * h * velocities[i];
            const auto shifted = reference(moved, nullptr, options);
            for (std::size_t i = 0; i < 3 * n; ++i) difference[i] += side * shifted.field[i] / (2.0 * h);
        }
        EXPECT_LE(relative_difference(jerk, difference), 1e-6) << name_of(isa);
    }
}

} // namespace
} // namespace farfield
