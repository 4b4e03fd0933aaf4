// Simulations that are changed between two steps, or saved and loaded: they go on as one that began there.
#include "run_support.h"
#include "systems.h"

#include <farfield/run.h>

#include <limits>

namespace farfield {
namespace {

using namespace test;

class Changed : public testing::TestWithParam<Integrator> {};
INSTANTIATE_TEST_SUITE_P(All, Changed,
                         testing::Values(Integrator::leapfrog, Integrator::yoshida4, Integrator::hermite4),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(Changed, GoesOnFromWhatIsSet) {
    const ForceOptions force{.softening = 0.1};
    TimeOptions time{.integrator = GetParam(), .step = 0.25, .end = 8.0};
    Simulation simulation(crowd(50, 1), force, time);
    simulation.step();
    static_cast<void>(simulation.diagnostics());
    const auto* position = simulation.bodies().position.data();
    const auto other = crowd(50, 2);
    const double pairs = simulation.pairs_evaluated();
    simulation.set_positions(other.position);
    simulation.set_velocities(other.velocity);
    time.step = 0.125;
    simulation.set_time_options(time);
    EXPECT_EQ(simulation.bodies().position.data(), position) << "there may be views of them";
    EXPECT_GT(simulation.pairs_evaluated(), pairs);
    EXPECT_EQ(simulation.diagnostics().relative_energy_error, 0.0) << "energy errors refer to the new state";
    Simulation fresh(simulation.bodies(), force, time, 0.25);
    simulation.advance_to(2.0);
    fresh.advance_to(2.0);
    EXPECT_EQ(simulation.step_count(), 1U + 14U);
    EXPECT_EQ(simulation.bodies().position, fresh.bodies().position);
    EXPECT_EQ(simulation.bodies().velocity, fresh.bodies().velocity);
}

TEST_P(Changed, StaysAsItWasWhereItRefuses) {
    const TimeOptions time{.integrator = GetParam(), .step = 0.25, .end = 8.0};
    Simulation simulation(crowd(5, 1), {}, time);
    Simulation undisturbed(crowd(5, 1), {}, time);
    auto bad = simulation.bodies().position;
    bad[7] = std::numeric_limits<double>::quiet_NaN();
    expect_contains(error_of<InvalidArgument>([&] { simulation.set_positions(bad); }), {"row 2"});
    bad.assign(15, 0.0); // all in one place, without softening
    EXPECT_THROW(simulation.set_positions(bad), InvalidArgument);
    expect_contains(error_of<InvalidArgument>([&] { simulation.set_velocities(std::span(bad).first(6)); }),
                    {"velocities: 6 numbers for 5 bodies", "15"});
    auto wrong = time;
    wrong.step = -1.0;
    EXPECT_THROW(simulation.set_time_options(wrong), InvalidArgument);
    wrong = time;
    wrong.integrator = GetParam() == Integrator::leapfrog ? Integrator::hermite4 : Integrator::leapfrog;
    expect_contains(error_of<InvalidArgument>([&] { simulation.set_time_options(wrong); }), {"stays"});
    simulation.step();
    undisturbed.step();
    EXPECT_EQ(simulation.bodies().position, undisturbed.bodies().position);
    EXPECT_EQ(simulation.bodies().velocity, undisturbed.bodies().velocity);
}

TEST_P(Changed, GoesOnToTheSameBitsWhenLoaded) {
    const TemporaryFolder folder;
    const auto file = folder / "saved.h5";
    TimeOptions time{.integrator = GetParam(), .step = 0.25, .end = 7.3};
    time.adaptive = GetParam() == Integrator::hermite4;
    Simulation simulation(crowd(50, 1), {.G = 1.5, .softening = 0.1, .threads = 2}, time, -1.0);
    static_cast<void>(simulation.diagnostics());
    simulation.advance_to(0.9); // off the grid
    save_simulation(simulation, file);
    auto loaded = load_simulation(file);
    auto copied = simulation_from_bytes(simulation_bytes(simulation));
    simulation.advance_to(7.3);
    for (auto* other : {&loaded, &copied}) {
        EXPECT_EQ(other->time(), 0.9);
        EXPECT_EQ(other->force_options().G, 1.5);
        EXPECT_EQ(other->force_options().threads, 2);
        other->advance_to(7.3);
        EXPECT_EQ(other->step_count(), simulation.step_count());
        EXPECT_EQ(other->bodies().position, simulation.bodies().position);
        EXPECT_EQ(other->bodies().velocity, simulation.bodies().velocity);
        EXPECT_EQ(other->diagnostics().relative_energy_error, simulation.diagnostics().relative_energy_error);
    }
}

} // namespace
} // namespace farfield
