// Sums whose ranks each have points of their own: the results of one rank, bit by bit, on any number of
// ranks.
#include "on_ranks.h"

#include <cmath>

namespace farfield {
namespace {

using test::expect_bits_of_one;

TEST(SumOnRanks, OfEachPairOnceHasTheBitsOfOne) {
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64})
        expect_bits_of_one({.options = {.precision = precision}, .sources = 2999}); // blocks of 256
    expect_bits_of_one({.options = {.kernel = Kernel::coulomb, .softening = 0.1}, .sources = 1300});
}

TEST(SumOnRanks, OfFewPointsHasTheBitsOfOne) {
    for (const std::int64_t n : {1, 3, 257}) expect_bits_of_one({.options = {}, .sources = n});
    expect_bits_of_one({.options = {.variant = Variant::symmetric}, .sources = 100}); // one block
}

TEST(SumOnRanks, OfSeparateTargetsHasTheBitsOfOne) {
    expect_bits_of_one({.options = {.kernel = Kernel::coulomb}, .sources = 700, .targets = 900});
    expect_bits_of_one({.options = {.precision = Precision::mixed}, .sources = 700, .targets = 2});
}

TEST(SumOnRanks, OfTheScalarRungsHasTheBitsOfOne) {
    for (const auto variant : {Variant::naive, Variant::soa, Variant::simd})
        expect_bits_of_one({.options = {.variant = variant}, .sources = 900});
}

TEST(SumOnRanks, OfDipolesAndSecondDerivativesHasTheBitsOfOne) {
    expect_bits_of_one({.options = {.kernel = Kernel::coulomb,
                                    .outputs = Output::potential | Output::field | OutputSet(Output::hessian),
                                    .dipoles = true},
                        .sources = 800,
                        .hessian = true});
}

TEST(SumOnRanks, OfSeveralVectorsHasTheBitsOfOne) {
    expect_bits_of_one({.options = {.kernel = Kernel::coulomb}, .sources = 1100, .vectors = 3});
}

TEST(SumOnRanks, InThePlaneHasTheBitsOfOne) {
    for (const std::int64_t n : {300, 2300})
        expect_bits_of_one(
            {.options = {.kernel = Kernel::laplace2d}, .dimension = 2, .sources = n, .numbers = 2});
    expect_bits_of_one({.options = {.kernel = Kernel::laplace2d},
                        .dimension = 2,
                        .sources = 500,
                        .targets = 700,
                        .numbers = 2});
    expect_bits_of_one(
        {.options = {.kernel = Kernel::vortex2d, .sigma = 0.05}, .dimension = 2, .sources = 2300});
}

// Ranks divide groups of targets, and bring the sources of others that these meet.
TEST(SumOnRanks, OfTheTreeCodeHasTheBitsOfOne) {
    for (const auto precision : {Precision::mixed, Precision::float64})
        expect_bits_of_one(
            {.options = {.method = Method::treecode, .order = 3, .precision = precision}, .sources = 9000});
    expect_bits_of_one({.options = {.method = Method::treecode, .softening = 0.1, .order = 1},
                        .sources = 3000,
                        .targets = 7000});
    expect_bits_of_one({.options = {.method = Method::treecode, .tolerance = 1e-3}, .sources = 4000});
    expect_bits_of_one({.options = {.method = Method::treecode, .order = 2}, .sources = 20});
    expect_bits_of_one({.options = {.method = Method::treecode, .order = 4, .leaf = 3, .theta = 0.3},
                        .sources = 2500,
                        .targets = 600});
    expect_bits_of_one({.options = {.method = Method::treecode, .order = 2, .leaf = 500}, // groups in a leaf
                        .sources = 6000});
    expect_bits_of_one(
        {.options = {.method = Method::treecode, .tolerance = 1e-8}, .sources = 1500, .targets = 1});
}

// Each rank's strengths have one sign, and all together both.
TEST(SumOnRanks, OfOneSignOnEachRankHasTheBitsOfOne) {
    const test::Whole whole{.options = {.kernel = Kernel::coulomb, .method = Method::treecode, .order = 1},
                            .sources = 4000};
    auto all = test::arrays_of(whole);
    for (std::size_t i = 0; i < all.strengths.size(); ++i)
        all.strengths[i] = std::copysign(all.strengths[i], i < 2000 ? 1.0 : -1.0);
    expect_bits_of_one(whole, all);
    for (auto& strength : all.strengths) strength = std::abs(strength);
    expect_bits_of_one(whole, all);
}

// Ranks divide leaves of targets where groups of mutual blocks begin, 1024 points or more.
TEST(SumOnRanks, OfTheFastMultipoleMethodHasTheBitsOfOne) {
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64})
        expect_bits_of_one(
            {.options = {.method = Method::fmm, .order = 4, .leaf = 40, .precision = precision},
             .sources = 9000});
    expect_bits_of_one(
        {.options = {.method = Method::fmm, .order = 5, .leaf = 30, .m2l = M2L::rotation}, .sources = 6000});
    expect_bits_of_one(
        {.options = {.method = Method::fmm, .order = 3, .leaf = 20}, .sources = 3000, .targets = 7000});
    expect_bits_of_one({.options = {.method = Method::fmm, .tolerance = 1e-4}, .sources = 4000});
    expect_bits_of_one({.options = {.method = Method::fmm, .order = 2}, .sources = 20});
}

TEST(SumOnRanks, OfExpansionsInThePlaneHasTheBitsOfOne) {
    expect_bits_of_one(
        {.options = {.kernel = Kernel::laplace2d, .method = Method::fmm, .order = 8, .leaf = 25},
         .dimension = 2,
         .sources = 7000,
         .numbers = 2});
    expect_bits_of_one({.options = {.kernel = Kernel::laplace2d, .method = Method::fmm, .tolerance = 1e-4},
                        .dimension = 2,
                        .sources = 1500,
                        .targets = 2500,
                        .numbers = 2});
    expect_bits_of_one(
        {.options =
             {.kernel = Kernel::vortex2d, .method = Method::fmm, .sigma = 0.01, .order = 6, .leaf = 30},
         .dimension = 2,
         .sources = 5000});
}

TEST(SumOnRanks, OfSoftenedExpansionsHasTheBitsOfOne) {
    expect_bits_of_one(
        {.options = {.method = Method::fmm, .softening = 0.2, .order = 3, .leaf = 30}, .sources = 5000});
}

TEST(SumOnRanks, OfExpandedDipolesHasTheBitsOfOne) {
    expect_bits_of_one({.options = {.kernel = Kernel::coulomb,
                                    .method = Method::fmm,
                                    .order = 3,
                                    .leaf = 30,
                                    .outputs = Output::potential | Output::field | OutputSet(Output::hessian),
                                    .dipoles = true},
                        .sources = 4000,
                        .hessian = true});
}

TEST(SumOnRanks, WithinABoundHasTheBitsOfOne) {
    expect_bits_of_one(
        {.options = {.method = Method::fmm, .tolerance = 1e-3, .guaranteed = true}, .sources = 2500});
}
TEST(SumOnRanks, OfSeparateTargetsWithDipolesAndSecondDerivativesHasTheBitsOfOne) {
    for (const auto precision : {Precision::float32, Precision::float64})
        expect_bits_of_one(
            {.options = {.kernel = Kernel::coulomb,
                         .method = Method::fmm,
                         .order = 4,
                         .leaf = 6,
                         .outputs = Output::potential | Output::field | OutputSet(Output::hessian),
                         .dipoles = true,
                         .precision = precision},
             .sources = 900,
             .targets = 1400,
             .hessian = true});
}

} // namespace
} // namespace farfield
