// Trajectories against the same schemes in long double.
#include "systems.h"
#include "trajectory_oracles.h"

#include <gtest/gtest.h>

namespace farfield {
namespace {

using namespace test;

// 128 steps: rounding of 1e-16 a step and unit lengths, grown by the few e-foldings that one crossing time
// has.
void expect_oracle_trajectory(const Bodies& bodies, const ForceOptions& force) {
    Simulation simulation(bodies, force, {.step = 1.0 / 128, .end = 1.0});
    LeapfrogOracle oracle(bodies, force);
    while (!simulation.finished()) {
        simulation.step();
        oracle.step(1.0L / 128);
    }
    EXPECT_EQ(simulation.step_count(), 128U);
    EXPECT_LT(largest_difference(oracle.x, simulation.bodies().position), 1e-12);
    EXPECT_LT(largest_difference(oracle.v, simulation.bodies().velocity), 1e-12);
    EXPECT_GT(distance(bodies.position, simulation.bodies().position), 0.1);
}

TEST(Trajectories, FollowsTheLongDoubleLeapfrogWithGravity) {
    auto bodies = crowd(24, 11);
    bodies.mass[3] = 0.0; // test particles
    bodies.mass[17] = 0.0;
    expect_oracle_trajectory(bodies, {.G = 1.7, .softening = 0.1});
}

TEST(Trajectories, FollowsTheLongDoubleLeapfrogWithCharges) {
    auto bodies = crowd(24, 12);
    for (std::size_t i = 0; i < 24; ++i)
        bodies.charge.push_back((i % 2 == 0 ? 0.3 : -0.3) + 0.01 * static_cast<double>(i));
    for (auto& m : bodies.mass) m *= 24;
    expect_oracle_trajectory(bodies, {.kernel = Kernel::coulomb, .G = 0.8, .softening = 0.1});
}

TEST(Trajectories, FollowsYoshidasCompositionInLongDouble) {
    const ForceOptions force{.softening = 0.1};
    Simulation simulation(crowd(24, 14), force,
                          {.integrator = Integrator::yoshida4, .step = 1.0 / 64, .end = 1.0});
    LeapfrogOracle oracle(crowd(24, 14), force);
    const Real w = 1 / (2 - std::cbrt(Real(2)));
    while (!simulation.finished()) {
        simulation.step();
        for (const Real part : {w, 1 - 2 * w, w}) oracle.step(part / 64);
    }
    EXPECT_LT(largest_difference(oracle.x, simulation.bodies().position), 1e-12);
    EXPECT_LT(largest_difference(oracle.v, simulation.bodies().velocity), 1e-12);
}

TEST(Trajectories, FollowsHermitesSchemeInLongDouble) {
    Simulation simulation(crowd(24, 15), {.softening = 0.1},
                          {.integrator = Integrator::hermite4, .step = 1.0 / 64, .end = 1.0});
    HermiteOracle oracle(crowd(24, 15), 0.1);
    while (!simulation.finished()) {
        simulation.step();
        oracle.step(1.0L / 64);
    }
    EXPECT_LT(largest_difference(oracle.x, simulation.bodies().position), 1e-12);
    EXPECT_LT(largest_difference(oracle.v, simulation.bodies().velocity), 1e-12);
}

} // namespace
} // namespace farfield
