// Sums over periodic boxes by open sums and their images, on ranks.
#include "on_ranks.h"

namespace farfield {
namespace {

using test::expect_bits_of_one;

/// Normal points reach beyond the box, and are wrapped into it.
SumOptions of_box(Method method, std::array<double, 3> period) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .period = period,
            .background = Background::uniform,
            .tolerance = method == Method::fmm ? 1e-4 : 0.0};
}

TEST(SumOfImagesOnRanks, OfPairsHasTheBitsOfOne) {
    expect_bits_of_one({.options = of_box(Method::direct, {3.0, 4.0, 5.0}), .sources = 900});
    auto options = of_box(Method::direct, {4.0, 4.0, 4.0});
    options.precision = Precision::mixed;
    expect_bits_of_one({.options = options, .sources = 600});
}

TEST(SumOfImagesOnRanks, InVacuumHasTheBitsOfOne) {
    auto options = of_box(Method::direct, {4.0, 4.0, 4.0});
    options.background = Background::none;
    options.boundary = Boundary::vacuum;
    expect_bits_of_one({.options = options, .sources = 700, .targets = 500, .neutral = true});
}

TEST(SumOfImagesOnRanks, OfFewPointsHasTheBitsOfOne) {
    for (const std::int64_t n : {1, 3, 257})
        expect_bits_of_one({.options = of_box(Method::direct, {3.0, 3.0, 3.0}), .sources = n});
}

TEST(SumOfImagesOnRanks, OfTheFastMultipoleMethodHasTheBitsOfOne) {
    expect_bits_of_one({.options = of_box(Method::fmm, {4.0, 4.0, 4.0}), .sources = 4000});
    expect_bits_of_one({.options = of_box(Method::fmm, {4.0, 4.0, 4.0}), .sources = 3000, .targets = 2000});
}

TEST(SumOfImagesOnRanks, OfOpenAxesHasTheBitsOfOne) {
    for (const auto method : {Method::direct, Method::fmm})
        for (const auto& period : {std::array{4.0, 4.0, 0.0}, std::array{0.0, 5.0, 0.0}}) {
            auto options = of_box(method, period);
            options.background = Background::none;
            expect_bits_of_one({.options = options, .sources = 1200, .neutral = true});
        }
}

TEST(SumOfImagesOnRanks, OfSoftenedChargesHasTheBitsOfOne) {
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = of_box(method, {4.0, 4.0, 4.0});
        options.softening = 0.3;
        options.tolerance = 1e-4;
        expect_bits_of_one({.options = options, .sources = 1200});
    }
}

TEST(SumOfImagesOnRanks, StopsWhereOneRankIsAsked) {
    for (const auto method : {Method::direct, Method::fmm})
        EXPECT_EQ(test::interrupted_of_three({.options = of_box(method, {4.0, 4.0, 4.0}), .sources = 6000}),
                  3);
}

} // namespace
} // namespace farfield
