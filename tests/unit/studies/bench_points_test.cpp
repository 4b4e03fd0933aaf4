// The truth that benches judge by, against two bodies whose field is known.
#include "studies/bench_points.h"

#include <gtest/gtest.h>

#include <cmath>

namespace farfield {
namespace {

TEST(SampledTruth, IsTheFieldOfGravity) {
    // distance 5, softening 12: (25 + 144)^(3/2) = 13³; each body is pulled to the other
    const BenchPoints points{{0, 0, 0, 3, 0, 4}, {2.0, 13.0 * 13.0 * 13.0}};
    const SampledTruth truth(points, 2, false, 12.0);
    const double pull = 2.0 / (13.0 * 13.0 * 13.0);
    EXPECT_LT(truth.error({3, 0, 4, -3 * pull, 0, -4 * pull}), 1e-15);
    EXPECT_NEAR(truth.error({-3, 0, -4, 3 * pull, 0, 4 * pull}), 2.0, 1e-12); // the other sign
    EXPECT_NEAR(truth.error({3.003, 0, 4.004, -3 * pull, 0, -4 * pull}), 1e-3, 1e-8);
}

TEST(SampledTruth, RoundsItsInputsWhereAsked) {
    const double third = 1.0 / 3.0, stored = static_cast<double>(static_cast<float>(third));
    const BenchPoints points{{0, 0, 0, 1, 0, 0}, {1.0, third}};
    const std::vector<double> rounded{stored, 0, 0, -1, 0, 0}, exact{third, 0, 0, -1, 0, 0};
    EXPECT_LT(SampledTruth(points, 2, true, 0.0).error(rounded), 1e-16);
    EXPECT_GT(SampledTruth(points, 2, true, 0.0).error(exact), 1e-9);
    EXPECT_LT(SampledTruth(points, 2, false, 0.0).error(exact), 1e-16);
}

TEST(SampledTruth, LooksAtTargetsSpreadOverThose) {
    BenchPoints points;
    for (int i = 0; i < 10; ++i) {
        points.xyz.insert(points.xyz.end(), {1.0 * i, 0.0, 0.0});
        points.mass.push_back(1.0);
    }
    const SampledTruth truth(points, 4, false, 1.0, 2); // rows 0 and 2 of four targets
    std::vector<double> field(12, 0.0);
    EXPECT_NEAR(truth.error(field), 1.0, 1e-15);
    const double before = truth.error(field);
    field[3] = 100.0; // row 1 is not looked at
    EXPECT_EQ(truth.error(field), before);
    field[6] = 100.0;
    EXPECT_GT(truth.error(field), before);
}

TEST(Median, IsTheMiddleOrBetweenTheMiddleTwo) {
    EXPECT_EQ(median({3.0, 1.0, 2.0}), 2.0);
    EXPECT_EQ(median({4.0, 1.0, 2.0, 3.0}), 2.5);
}

} // namespace
} // namespace farfield
