// Propagators: the choice, steps in one go, captured states, and what methods of sums must offer.
#include "run_support.h"
#include "systems.h"

#include "dynamics/forces/method_support.h"
#include "dynamics/propagators/propagator.h"
#include "dynamics/simulation/state.h"

#include <cmath>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using namespace test;

MotionState motion_of(Bodies bodies) {
    MotionState motion;
    motion.bodies = std::move(bodies);
    return motion;
}

const ForceOptions on_host{.softening = 0.05, .device = {.kind = DeviceKind::cpu}};

TEST(Propagator, TakesStepsTogetherAsOneByOne) {
    for (const auto name : names_of<Integrator>()) {
        const auto integrator = *from_name<Integrator>(name);
        auto together = motion_of(crowd(16, 2)), one_by_one = motion_of(crowd(16, 2));
        const auto a = make_propagator({.force = on_host, .integrator = integrator}, together);
        const auto b = make_propagator({.force = on_host, .integrator = integrator}, one_by_one);
        EXPECT_EQ(a->pairs(), 16.0 * 15.0) << name; // the accelerations at the start
        a->advance({.count = 5, .length = 1.0 / 32});
        for (std::uint64_t k = 0; k < 5; ++k)
            b->advance({.count = 1, .length = 1.0 / 32, .before = k, .start = static_cast<double>(k) / 32});
        EXPECT_EQ(together.bodies.position, one_by_one.bodies.position) << name;
        EXPECT_EQ(together.bodies.velocity, one_by_one.bodies.velocity) << name;
        EXPECT_EQ(together.acceleration, one_by_one.acceleration) << name;
        EXPECT_EQ(a->pairs(), b->pairs()) << name;
        EXPECT_TRUE(a->backend() == b->backend()) << name;
        EXPECT_EQ(a->backend().device, DeviceKind::cpu) << name;
    }
}

TEST(Propagator, GivesDiagnosticsOfACaptureIfAsked) {
    auto motion = motion_of(crowd(16, 2));
    const auto propagator = make_propagator({.force = on_host}, motion);
    propagator->capture(false);
    EXPECT_FALSE(propagator->fetch().has_value());
    propagator->capture(true);
    const auto row = propagator->fetch();
    ASSERT_TRUE(row.has_value());
    Simulation simulation(crowd(16, 2), on_host, {.step = 0.1, .end = 1.0});
    EXPECT_EQ(row->total, simulation.diagnostics().total);
    EXPECT_EQ(row->lagrangian_radii, simulation.diagnostics().lagrangian_radii);
}

TEST(Propagator, TakesTheRungOfTheForce) {
    auto plain = motion_of(crowd(40, 2));
    const auto by_default = make_propagator({.force = on_host}, plain);
    EXPECT_EQ(by_default->backend().variant, Variant::simd); // too few bodies for `symmetric` to pay
    std::vector<double> naive;
    for (const auto variant : {Variant::naive, Variant::soa, Variant::simd, Variant::symmetric}) {
        auto motion = motion_of(crowd(40, 2));
        auto force = on_host;
        force.variant = variant;
        const auto propagator = make_propagator({.force = force}, motion);
        EXPECT_EQ(propagator->backend().variant, variant) << name_of(variant);
        propagator->advance({.count = 3, .length = 1.0 / 32});
        if (variant == Variant::naive) naive = motion.acceleration;
        if (variant == Variant::soa) {
            EXPECT_EQ(motion.acceleration, naive); // the same operations in the same order
        }
        for (std::size_t k = 0; k < naive.size(); ++k)
            EXPECT_NEAR(motion.acceleration[k], naive[k], 1e-13 * (1.0 + std::abs(naive[k])));
    }
}

// Massless, so on straight lines that meet at t = 1.
TEST(Propagator, NamesTheStepThatFailsAmongMany) {
    auto motion = motion_of(make({-1, 0, 0, 1, 0, 0}, {1, 0, 0, -1, 0, 0}, {0, 0}));
    motion.bodies.id = {5, 6};
    const auto propagator = make_propagator({.force = {.device = {.kind = DeviceKind::cpu}}}, motion);
    propagator->advance({.count = 2, .length = 0.25});
    expect_contains(error_of<InvalidArgument>([&] {
                        propagator->advance({.count = 8, .length = 0.25, .before = 2, .start = 0.5});
                    }),
                    {"step 4 from t = 0.75", "bodies 5 and 6", "softening"});
}

TEST(Propagator, SaysThatAPrecisionIsNotUsed) {
    auto motion = motion_of(crowd(4, 1));
    auto force = on_host;
    force.precision = Precision::float32;
    const auto leapfrog = make_propagator({.force = force}, motion);
    EXPECT_TRUE(leapfrog->notes().empty());
    const auto hermite = make_propagator({.force = force, .integrator = Integrator::hermite4}, motion);
    ASSERT_EQ(hermite->notes().size(), 1U);
    expect_contains(hermite->notes()[0], {"hermite4", "double", "precision = float"});
}

TEST(MethodSupport, RefusesHermiteWithoutJerks) {
    EXPECT_TRUE(supports_jerk(Method::direct));
    EXPECT_NO_THROW(check_jerk(Method::direct, Integrator::hermite4));
    const auto plain = Method::reference;
    EXPECT_FALSE(supports_jerk(plain));
    expect_contains(error_of<InvalidArgument>([&] { check_jerk(plain, Integrator::hermite4); }),
                    {"hermite4", "use method = direct", "yoshida4"});
    auto motion = motion_of(crowd(4, 1));
    auto force = on_host;
    force.method = plain;
    expect_contains(error_of<InvalidArgument>([&] {
                        (void)make_propagator({.force = force, .integrator = Integrator::hermite4}, motion);
                    }),
                    {"time derivatives"});
}

TEST(Simulation, AdvancesSeveralStepsAsOneByOne) {
    const TimeOptions time{.step = 0.3, .end = 1.0};
    Simulation together(crowd(4, 1), on_host, time), one_by_one(crowd(4, 1), on_host, time);
    SimulationAccess::advance(together, 2);
    EXPECT_EQ(together.step_count(), 2U);
    EXPECT_EQ(together.time(), 0.6);
    SimulationAccess::advance(together, 9); // the last of the two that are left is shortened
    EXPECT_TRUE(together.finished());
    EXPECT_EQ(together.step_count(), 4U);
    EXPECT_EQ(together.time(), 1.0);
    while (!one_by_one.finished()) one_by_one.step();
    EXPECT_EQ(together.bodies().position, one_by_one.bodies().position);
    SimulationAccess::advance(together, 1);
    EXPECT_EQ(together.step_count(), 4U);
}

} // namespace
} // namespace farfield
