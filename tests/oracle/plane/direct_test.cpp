// Method 'direct' in the plane against sums in long double: every instruction set, precision, variant and
// choice of outputs, real and complex strengths.
//
// A sum of a thousand terms in double, each within a few ulp, is off by some 1e-15 of its norm at most.
// Floats round a term by 6e-8 and its inputs, where they are rounded, as much: strengths and results of both
// signs make that 1e-6 of the norm. Inputs of precision `float` are floats here, so that they are not
// rounded.
#include "expect_error.h"
#include "oracle/plane/plane_oracle.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <string>

namespace farfield {
namespace {

using oracle::PlanePoints;
using oracle::PlaneRandom;
using oracle::relative_l2;

void round_to_float(std::vector<double>& values) {
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
}

std::vector<Isa> isas() {
    std::vector<Isa> out;
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        if (is_available(isa)) out.push_back(isa);
    return out;
}

void expect_right(const PlanePoints& sources, const std::vector<double>* targets, SumOptions options) {
    options.kernel = Kernel::laplace2d;
    const double tolerance = options.precision == Precision::float64 ? 1e-14 : 1e-6;
    const auto exact = oracle::plane_sums(sources, targets != nullptr ? *targets : sources.xy);
    for (const auto wanted : {OutputSet(Output::potential), OutputSet(Output::field), OutputSet{}}) {
        const auto view = matrix_view(std::span<const double>(targets != nullptr ? *targets : sources.xy), 2);
        const auto result = targets != nullptr
                                ? sum(sources.points(), view, sources.strengths(), options, wanted)
                                : sum(sources.points(), sources.strengths(), options, wanted);
        const bool all = wanted.empty();
        if (all || wanted.has(Output::potential)) {
            EXPECT_LE(relative_l2(result.potential, exact.potential), tolerance);
        }
        if (all || wanted.has(Output::field)) {
            EXPECT_LE(relative_l2(result.field, exact.field), tolerance);
        }
        if (exact.field.empty()) continue;
        EXPECT_EQ(result.potential.empty(), wanted == OutputSet(Output::field));
        EXPECT_EQ(result.field.empty(), wanted == OutputSet(Output::potential));
    }
}

TEST(PlaneDirect, EveryLoopIsRight) {
    for (const bool complex_strengths : {false, true}) {
        PlaneRandom random(complex_strengths ? 1 : 2);
        auto sources = random.square(601, complex_strengths); // blocks, tails of blocks and of vectors
        auto targets = random.square(77, true).xy;
        for (auto* values : {&sources.xy, &sources.q, &targets}) round_to_float(*values);
        for (const auto isa : isas())
            for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64})
                for (const auto variant : {Variant::simd, Variant::symmetric}) {
                    SCOPED_TRACE(std::string(name_of(isa)) + " " + std::string(name_of(precision)) + " " +
                                 std::string(name_of(variant)));
                    const SumOptions options{.precision = precision, .isa = isa, .variant = variant};
                    expect_right(sources, nullptr, options);
                    if (variant == Variant::simd) expect_right(sources, &targets, options);
                }
    }
}

TEST(PlaneDirect, MixedTakesDoublesAsTheyAre) {
    PlaneRandom random(3);
    auto sources = random.square(900, true);
    for (double& x : sources.xy) x += 1000.0;
    expect_right(sources, nullptr, {.precision = Precision::mixed});
}

TEST(PlaneDirect, TinyAndHugeLengthsAreRight) {
    for (const double scale : {1e-150, 1e-20, 1e20, 1e150}) {
        SCOPED_TRACE(scale);
        auto sources = PlaneRandom(4).square(300, true);
        for (double& x : sources.xy) x *= scale;
        expect_right(sources, nullptr, {});
        expect_right(sources, nullptr, {.precision = Precision::mixed});
    }
    auto close = PlaneRandom(5).square(300, true); // r² below the normal doubles and floats
    close.xy[2] = close.xy[0] = 0.0;
    close.xy[1] = 0.0;
    close.xy[3] = 1e-160;
    expect_right(close, nullptr, {});
    close.xy[3] = 1e-25;
    expect_right(close, nullptr, {.precision = Precision::mixed});
}

TEST(PlaneDirect, FewPointsAndNone) {
    for (const std::size_t n : {0U, 1U, 2U, 3U}) {
        SCOPED_TRACE(n);
        expect_right(PlaneRandom(6).square(n, true), nullptr, {});
        const auto targets = PlaneRandom(7).square(n, true).xy;
        expect_right(PlaneRandom(8).square(5, true), &targets, {});
        expect_right(PlaneRandom(9).square(n, true), &targets, {});
    }
}

TEST(PlaneDirect, CoincidentPointsAreRefusedOrLeftOut) {
    auto sources = PlaneRandom(10).square(1500, true);
    for (const std::size_t k : {0U, 1U}) sources.xy[2 * 1200 + k] = sources.xy[2 * 3 + k];
    for (const auto precision : {Precision::mixed, Precision::float64}) {
        SumOptions options{.kernel = Kernel::laplace2d, .precision = precision};
        const auto message = test::error_of<InvalidArgument>(
            [&] { (void)sum(sources.points(), sources.strengths(), options); });
        test::expect_contains(message, {"rows 3 and 1200", "coincident"});
        options.coincident = Coincident::skip;
        expect_right(sources, nullptr, options);
        EXPECT_EQ(sum(sources.points(), sources.strengths(), options).report.direct.coincident_pairs_skipped,
                  2);
        const std::vector<double> target{sources.xy[6], sources.xy[7], 2.0, 2.0};
        expect_right(sources, &target, options);
    }
}

TEST(PlaneDirect, BitsDoNotDependOnThreads) {
    const auto sources = PlaneRandom(11).square(3000, true);
    for (const auto variant : {Variant::simd, Variant::symmetric}) {
        const auto with = [&](int threads) {
            return sum(sources.points(), sources.strengths(),
                       {.kernel = Kernel::laplace2d, .threads = threads, .variant = variant});
        };
        const auto one = with(1);
        const auto five = with(5);
        EXPECT_EQ(one.potential, five.potential);
        EXPECT_EQ(one.field, five.field);
    }
}

TEST(PlaneDirect, SaysWhatItLacks) {
    const auto sources = PlaneRandom(12).square(10, true);
    const auto refused = [&](SumOptions options) {
        options.kernel = Kernel::laplace2d;
        return test::error_of<InvalidArgument>(
            [&] { (void)sum(sources.points(), sources.strengths(), options); });
    };
    test::expect_contains(refused({.variant = Variant::soa}), {"variant", "soa", "in the plane"});
    test::expect_contains(refused({.softening = 0.1}), {"no softening"});
    const auto space = test::error_of<InvalidArgument>([&] {
        (void)sum(matrix_view(std::span<const double>(sources.xy).first(18), 3), sources.strengths(),
                  {.kernel = Kernel::laplace2d});
    });
    test::expect_contains(space, {"sources", "2"});
}

} // namespace
} // namespace farfield
