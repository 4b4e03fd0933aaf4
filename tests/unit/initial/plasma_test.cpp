// The plasma in a box, against what its distributions are.
#include "expect_error.h"
#include "unit/initial/statistics.h"

#include <farfield/error.h>
#include <farfield/run.h>

#include <gtest/gtest.h>

#include <limits>

namespace farfield {
namespace {

InitialOptions options_of(std::int64_t n) {
    InitialOptions options;
    options.kind = InitialKind::plasma;
    options.n = n;
    options.seed = 2024;
    options.box = {2.0, 3.0, 5.0};
    options.particle_mass = 0.25;
    options.particle_charge = 0.5;
    options.temperature = 4.0;
    return options;
}

TEST(Plasma, FillsItsBoxEvenly) {
    const auto bodies = make_bodies(options_of(40000));
    bodies.validate();
    constexpr std::array lengths{2.0, 3.0, 5.0};
    constexpr std::size_t bins = 4;
    std::array<double, bins * bins * bins> counts{}; // of the charges, too, which a pattern would show
    std::array<double, bins * bins * bins> positive{};
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        std::size_t bin = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double x = bodies.position[3 * i + k];
            ASSERT_GE(x, 0.0);
            ASSERT_LT(x, lengths[k]);
            bin = bins * bin + static_cast<std::size_t>(bins * x / lengths[k]);
        }
        counts[bin] += 1.0;
        if (bodies.charge[i] > 0.0) positive[bin] += 1.0;
    }
    const auto chi2 = [](const auto& found, double total) {
        const double expected = total / static_cast<double>(found.size());
        double sum = 0.0;
        for (const double count : found) sum += (count - expected) * (count - expected) / expected;
        return sum;
    };
    // 63 degrees of freedom: mean 63, standard deviation 11.2
    EXPECT_LT(chi2(counts, 40000.0), 63.0 + 4.5 * 11.2);
    EXPECT_LT(chi2(positive, 20000.0), 63.0 + 4.5 * 11.2);
    EXPECT_GT(chi2(counts, 40000.0), 63.0 - 4.5 * 11.2);
}

TEST(Plasma, IsNeutralAndAtRestAndAsWarmAsAsked) {
    const auto options = options_of(40000);
    const auto bodies = make_bodies(options);
    std::int64_t positive = 0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        EXPECT_EQ(bodies.mass[i], 0.25);
        EXPECT_EQ(std::abs(bodies.charge[i]), 0.5);
        positive += bodies.charge[i] > 0.0 ? 1 : 0;
    }
    EXPECT_EQ(positive, 20000);
    for (const double momentum : statistics::mean(bodies, bodies.velocity)) EXPECT_NEAR(momentum, 0.0, 1e-15);
    // each axis: variance T/m = 16, of n numbers within 16 √(2/n); fourth moment 3 · 16², within 16² √(96/n)
    for (std::size_t k = 0; k < 3; ++k) {
        double square = 0.0, fourth = 0.0;
        for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
            const double v2 = std::pow(bodies.velocity[3 * i + k], 2);
            square += v2 / 40000.0;
            fourth += v2 * v2 / 40000.0;
        }
        EXPECT_NEAR(square, 16.0, 4.5 * 16.0 * std::sqrt(2.0 / 40000.0)) << k;
        EXPECT_NEAR(fourth, 3.0 * 256.0, 4.5 * 256.0 * std::sqrt(96.0 / 40000.0)) << k;
    }
}

TEST(Plasma, ABodyDoesNotDependOnTheNumberOfBodies) {
    const auto few = make_bodies(options_of(10));
    const auto more = make_bodies(options_of(100));
    for (std::size_t i = 0; i < 30; ++i) {
        EXPECT_EQ(few.position[i], more.position[i]);
        EXPECT_NEAR(few.velocity[i] - few.velocity[i % 3], more.velocity[i] - more.velocity[i % 3], 1e-13);
    }
}

TEST(Plasma, NamesWhatIsNotAllowed) {
    const auto refused = [](auto change, std::initializer_list<std::string> words) {
        auto options = options_of(10);
        change(options);
        test::expect_contains(test::error_of<InvalidArgument>([&] { (void)make_bodies(options); }), words);
    };
    refused([](auto& o) { o.n = 11; }, {"n = 11", "even"});
    refused([](auto& o) { o.n = 0; }, {"n = 0", "from 2"});
    refused([](auto& o) { o.box = {}; }, {"box = 0", "force.period"});
    refused([](auto& o) { o.box[1] = std::numeric_limits<double>::infinity(); }, {"box = inf"});
    refused([](auto& o) { o.particle_mass = 0.0; }, {"particle_mass = 0"});
    refused([](auto& o) { o.particle_charge = -1.0; }, {"particle_charge = -1"});
    refused([](auto& o) { o.temperature = -1.0; }, {"temperature = -1"});
    refused([](auto& o) { o.temperature = std::nan(""); }, {"temperature = nan"});
}

} // namespace
} // namespace farfield
