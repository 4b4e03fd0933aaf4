// The generator against the vectors its authors published, and the distributions made from it.
#include "base/random.h"

#include "math/random_deviates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace farfield;
using Block = std::array<std::uint32_t, 4>;

// Known answers of Random123 (kat_vectors, philox 4x32 10).
TEST(Philox, KnownAnswers) {
    EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, FollowsSeedPurposeAndIndexOnly) {
    std::set<std::uint64_t> firsts;
    for (std::uint64_t seed : {1ULL, 2ULL, 1ULL << 40})
        for (std::uint32_t purpose : {0U, 1U})
            for (std::uint64_t index : {0ULL, 1ULL, 1ULL << 33}) {
                const auto first = RandomStream(seed, purpose, index).next_bits();
                EXPECT_EQ(first, RandomStream(seed, purpose, index).next_bits());
                firsts.insert(first);
            }
    EXPECT_EQ(firsts.size(), 18U);
    // The second number of a block and the first of the next are the blocks' words, low word first.
    RandomStream random(0, 0, 0);
    EXPECT_EQ(random.next_bits(), 0xe169c58d6627e8d5U);
    EXPECT_EQ(random.next_bits(), 0x9b00dbd8bc57ac4cU);
    const Block second = philox4x32({1, 0, 0, 0}, {0, 0});
    EXPECT_EQ(random.next_bits(), std::uint64_t{second[1]} << 32 | second[0]);
}

// n numbers of mean 0 and variance 1: the mean scatters by 1/√n, and 5 of those are a chance of 6e-7.
TEST(RandomStream, MomentsOfUniformAndNormalDeviates) {
    constexpr int n = 200000;
    double uniform_mean = 0.0;
    double uniform_square = 0.0;
    double normal_mean = 0.0;
    double normal_square = 0.0;
    double normal_fourth = 0.0;
    double product = 0.0;
    for (int i = 0; i < n; ++i) {
        RandomStream random(7, 3, static_cast<std::uint64_t>(i));
        const double u = (random.next_uniform() - 0.5) * std::sqrt(12.0);
        uniform_mean += u / n;
        uniform_square += u * u / n;
        const double open = random.next_open_uniform();
        ASSERT_TRUE(open > 0.0 && open < 1.0);
        const auto z = normal_pair(random);
        normal_mean += z[0] / n;
        normal_square += z[0] * z[0] / n;
        normal_fourth += z[0] * z[0] * z[0] * z[0] / n;
        product += z[0] * z[1] / n;
    }
    const double unit = 5.0 / std::sqrt(n);
    EXPECT_NEAR(uniform_mean, 0.0, unit);
    EXPECT_NEAR(uniform_square, 1.0, unit * std::sqrt(0.8)); // the variance of u² is 9/5 − 1
    EXPECT_NEAR(normal_mean, 0.0, unit);
    EXPECT_NEAR(normal_square, 1.0, unit * std::sqrt(2.0));
    EXPECT_NEAR(normal_fourth, 3.0, unit * std::sqrt(96.0)); // the variance of z⁴ is 105 − 9
    EXPECT_NEAR(product, 0.0, unit);
}

TEST(RandomStream, UnitVectorsFillTheSphere) {
    constexpr int n = 100000;
    std::array<double, 3> mean{};
    double zz = 0.0;
    double xy = 0.0;
    for (int i = 0; i < n; ++i) {
        RandomStream random(11, 0, static_cast<std::uint64_t>(i));
        const auto v = unit_vector(random);
        ASSERT_NEAR(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 1.0, 1e-15);
        for (std::size_t k = 0; k < 3; ++k) mean[k] += v[k] / n;
        zz += v[2] * v[2] / n;
        xy += v[0] * v[1] / n;
    }
    const double unit = 5.0 / std::sqrt(n);
    for (const double m : mean) EXPECT_NEAR(m, 0.0, unit * std::sqrt(1.0 / 3.0));
    EXPECT_NEAR(zz, 1.0 / 3.0, unit * std::sqrt(4.0 / 45.0));
    EXPECT_NEAR(xy, 0.0, unit * std::sqrt(1.0 / 15.0));
}
