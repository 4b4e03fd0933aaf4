// Pairs that float would lose are refused, and nothing else is. Expected sums are those of double.
#include "sums/points/float_range.h"

#include "expect_error.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace farfield;

namespace {

// Two points `distance` apart, and one as far off as 1e40.
std::vector<double> near_and_far(double distance) { return {0, 0, 0, distance, 0, 0, 1e40, 0, 0}; }

SumOptions options_of(Precision precision, double softening = 0.0) {
    SumOptions options;
    options.precision = precision;
    options.softening = softening;
    options.coincident = Coincident::skip; // which lost the pair without a word
    options.device = {.kind = DeviceKind::cpu};
    return options;
}

double potential_of_first(const std::vector<double>& points, const SumOptions& options) {
    const std::vector<double> charges(points.size() / 3, 1.0);
    return sum(test::rows(points), test::list(charges), options).potential[0];
}

} // namespace

TEST(FloatRange, ALostPairIsRefusedAndDoubleHasIt) {
    const double exact = std::abs(potential_of_first(near_and_far(1e-10), options_of(Precision::float64)));
    EXPECT_NEAR(exact, 1e10, 1.0);
    for (const auto precision : {Precision::float32, Precision::mixed})
        for (const double softening : {0.0, 1e-10})
            for (const double distance : {1e-3, 1e-8, 1e-10}) {
                const auto text = test::error_of<InvalidArgument>([&] {
                    (void)potential_of_first(near_and_far(distance), options_of(precision, softening));
                });
                test::expect_contains(text, {"rows 1 and 0", "apart", std::string(name_of(precision)),
                                             "use precision = double"});
            }
}

TEST(FloatRange, PairsThatFloatHoldsAreComputed) {
    for (const double distance : {1e5, 1e12, 1e20})
        for (const auto precision : {Precision::float32, Precision::mixed})
            EXPECT_NEAR(std::abs(potential_of_first(near_and_far(distance), options_of(precision))) *
                            distance,
                        1.0, 2e-6)
                << distance;
}

TEST(FloatRange, TargetsCountToo) {
    const std::vector<double> sources{0, 0, 0, 1e40, 0, 0};
    const std::vector<double> targets{5, 5, 5, 0, 1e-9, 0};
    const auto frame = choose_frame(sources, targets, 0.0);
    for (const auto precision : {Precision::float32, Precision::mixed}) {
        const auto lost = pair_beyond_float(sources, targets, frame, 0.0, precision);
        ASSERT_TRUE(lost.has_value());
        EXPECT_EQ(lost->target, 1);
        EXPECT_EQ(lost->source, 0);
        EXPECT_DOUBLE_EQ(lost->distance, 1e-9);
    }
    EXPECT_FALSE(pair_beyond_float(sources, targets, frame, 0.0, Precision::float64));
    EXPECT_FALSE(pair_beyond_float(sources, targets, frame, 1e35, Precision::float32)) << "softened away";
}

// Coordinates that are zero but for rounding are common, and harm nothing where no other point is near.
TEST(FloatRange, TinyCoordinatesAloneAreNoPair) {
    constexpr unsigned seed = 5;
    SCOPED_TRACE("seed 5");
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> points;
    for (int i = 0; i < 3000; ++i)
        points.insert(points.end(), {uniform(random), uniform(random), 1e-60 * uniform(random)});
    for (int i = 0; i < 2; ++i) points.insert(points.end(), {0.5, 0.5, 0.0}); // at one place: another matter
    const auto frame = choose_frame(points, {}, 0.0);
    EXPECT_FALSE(pair_beyond_float(points, {}, frame, 0.0, Precision::mixed));
    points.insert(points.end(), {points[0], points[1], points[2] + 1e-60});
    EXPECT_TRUE(pair_beyond_float(points, {}, frame, 0.0, Precision::mixed));
}
