// Simulation: the clock, restoring, what it refuses, and what it says where a step fails.
#include "run_support.h"
#include "systems.h"
#include "trajectory_oracles.h"

#include "dynamics/simulation/state.h"

#include <limits>

namespace farfield {
namespace {

using namespace test;
TEST(Simulation, IgnoresChargesUnderGravity) {
    auto bodies = crowd(10, 13);
    Simulation without(bodies, {.softening = 0.1}, {.step = 0.01, .end = 0.1});
    bodies.charge.assign(10, 5.0);
    Simulation with(bodies, {.softening = 0.1}, {.step = 0.01, .end = 0.1});
    without.advance_to(0.1);
    with.advance_to(0.1);
    EXPECT_EQ(with.bodies().position, without.bodies().position);
}

TEST(Simulation, CountsStepsByAnInteger) {
    Simulation simulation(crowd(4, 1), {.softening = 0.1}, {.step = 0.1, .end = 1.0}, 0.0);
    EXPECT_EQ(simulation.steps_remaining(), 10U);
    for (int n = 1; n <= 7; ++n) {
        simulation.step();
        EXPECT_EQ(simulation.time(), n * 0.1); // not a sum of tenths
    }
    simulation.advance_to(0.9);
    EXPECT_EQ(simulation.step_count(), 9U);
    simulation.advance_to(100.0);
    EXPECT_EQ(simulation.step_count(), 10U);
    EXPECT_EQ(simulation.time(), 1.0);
    EXPECT_TRUE(simulation.finished());
    EXPECT_TRUE(simulation.notes().empty());
    simulation.step();
    EXPECT_EQ(simulation.step_count(), 10U);
    EXPECT_EQ(simulation.steps_remaining(), 0U);
}

TEST(Simulation, StartsAtTheTimeItIsGiven) {
    Simulation simulation(crowd(4, 1), {.softening = 0.1}, {.step = 0.25, .end = 11.0}, 10.0);
    EXPECT_EQ(simulation.time(), 10.0);
    simulation.step();
    EXPECT_EQ(simulation.time(), 10.25);
    simulation.advance_to(11.0);
    EXPECT_EQ(simulation.step_count(), 4U);
}

// The last step is cut to the time asked for, and the next ones are counted from there.
TEST(Simulation, AdvancesToTheTimeItIsAsked) {
    Simulation simulation(crowd(4, 1), {.softening = 0.1}, {.step = 0.25, .end = 4.0});
    simulation.advance_to(0.6);
    EXPECT_EQ(simulation.time(), 0.6);
    EXPECT_EQ(simulation.step_count(), 3U);
    LeapfrogOracle oracle(crowd(4, 1), {.softening = 0.1});
    for (const double length : {0.25, 0.25, 0.6 - 0.5, 0.25}) oracle.step(length);
    simulation.step();
    EXPECT_EQ(simulation.time(), 0.6 + 0.25);
    EXPECT_LT(largest_difference(oracle.x, simulation.bodies().position), 1e-14);
    simulation.advance_to(0.85);
    EXPECT_EQ(simulation.step_count(), 4U) << "that is the time already";
    simulation.advance_to(4.0);
    EXPECT_EQ(simulation.step_count(), 17U) << "12 steps of 1/4 and one of 0.15 after 0.85";
    EXPECT_TRUE(simulation.finished());
}

// A time that is on the grid up to rounding is reached by whole steps: 3·0.1 > 0.3.
TEST(Simulation, TakesWholeStepsToTimesOfTheGrid) {
    Simulation by_steps(crowd(4, 1), {.softening = 0.1}, {.step = 0.1, .end = 1.0});
    Simulation by_time(crowd(4, 1), {.softening = 0.1}, {.step = 0.1, .end = 1.0});
    for (int n = 1; n <= 9; ++n) {
        by_steps.step();
        by_time.advance_to(n / 10.0);
        EXPECT_EQ(by_time.time(), n / 10.0);
    }
    EXPECT_EQ(by_time.step_count(), 9U);
    EXPECT_EQ(by_time.bodies().position, by_steps.bodies().position);
}

// hermite4 with steps of its own: cut on the way, the steps after are about as long as they were.
TEST(Simulation, AdaptiveStepsEndAtTheTimeAsked) {
    const TimeOptions time{.integrator = Integrator::hermite4, .step = 1.0, .end = 100.0, .adaptive = true};
    Simulation whole(crowd(20, 3), {.softening = 0.05}, time);
    Simulation cut(crowd(20, 3), {.softening = 0.05}, time);
    whole.advance_to(0.5);
    for (int n = 0; n < 8; ++n) {
        cut.advance_to(n / 16.0 + 1e-7); // a step so short tells nothing of the next one
        EXPECT_EQ(cut.time(), n / 16.0 + 1e-7);
        cut.advance_to((n + 1) / 16.0);
    }
    EXPECT_EQ(whole.time(), 0.5);
    EXPECT_EQ(cut.time(), 0.5);
    EXPECT_LE(cut.step_count(), whole.step_count() + 16U);
    EXPECT_LT(distance(cut.bodies().position, whole.bodies().position), 1e-5);
}

TEST(Simulation, AdvancesToFiniteTimesAheadOnly) {
    Simulation simulation(crowd(4, 1), {.softening = 0.1}, {.step = 0.25, .end = 4.0});
    simulation.advance_to(1.0);
    for (const double time :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()})
        expect_contains(error_of<InvalidArgument>([&] { simulation.advance_to(time); }),
                        {"advance_to", "finite"});
    expect_contains(error_of<InvalidArgument>([&] { simulation.advance_to(0.75); }),
                    {"0.75 has passed", "at 1;"});
    EXPECT_EQ(simulation.time(), 1.0);
}

// So many bodies that a step asks within it. The first question is that of the first evaluation.
class GivenUp : public testing::TestWithParam<Integrator> {};
INSTANTIATE_TEST_SUITE_P(All, GivenUp,
                         testing::Values(Integrator::leapfrog, Integrator::yoshida4, Integrator::hermite4),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(GivenUp, LeavesTheStateBeforeTheStep) {
    const auto bodies = crowd(5000, 1);
    const TimeOptions time{.integrator = GetParam(), .step = 0.25, .end = 4.0};
    const ForceOptions force{.softening = 0.1};
    EXPECT_THROW(Simulation(bodies, force, time, 0.0, [] { return true; }), Interrupted);
    Simulation simulation(bodies, force, time);
    Simulation undisturbed(bodies, force, time);
    const auto* position = simulation.bodies().position.data();
    simulation.step([] { return true; });
    simulation.advance_to(1.0, [] { return true; });
    EXPECT_EQ(simulation.step_count(), 0U);
    EXPECT_EQ(simulation.bodies().position, bodies.position);
    EXPECT_EQ(simulation.bodies().velocity, bodies.velocity);
    EXPECT_EQ(simulation.bodies().position.data(), position) << "there may be views of them";
    EXPECT_THROW(static_cast<void>(simulation.diagnostics([] { return true; })), Interrupted);
    simulation.step();
    undisturbed.step();
    EXPECT_EQ(simulation.bodies().position, undisturbed.bodies().position);
    EXPECT_EQ(simulation.bodies().velocity, undisturbed.bodies().velocity);
}

// Where the run ends must not change the steps before.
TEST(Simulation, ShortensTheLastStepAlone) {
    Simulation simulation(crowd(4, 1), {.softening = 0.1}, {.step = 0.3, .end = 1.0});
    Simulation longer(crowd(4, 1), {.softening = 0.1}, {.step = 0.3, .end = 2.0});
    ASSERT_EQ(simulation.notes().size(), 1U);
    expect_contains(simulation.notes()[0], {"time.end = 1", "time.step = 0.3", "shortened"});
    for (int n = 0; n < 3; ++n) {
        simulation.step();
        longer.step();
    }
    EXPECT_EQ(simulation.bodies().position, longer.bodies().position);
    simulation.step();
    EXPECT_TRUE(simulation.finished());
    EXPECT_EQ(simulation.time(), 1.0);
    LeapfrogOracle oracle(crowd(4, 1), {.softening = 0.1});
    const Real step = 0.3; // as double
    for (int n = 0; n < 3; ++n) oracle.step(step);
    oracle.step(1 - 3 * step);
    EXPECT_LT(largest_difference(oracle.x, simulation.bodies().position), 1e-14);
}

TEST(Simulation, HonoursThePrecision) {
    const auto bodies = crowd(64, 21);
    std::vector<std::vector<double>> accelerations;
    for (auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
        Simulation simulation(bodies, {.softening = 0.05, .precision = precision}, {.step = 0.1, .end = 1.0});
        accelerations.push_back(simulation.acceleration());
    }
    EXPECT_GT(distance(accelerations[0], accelerations[1]), 1e-9);
    EXPECT_LT(distance(accelerations[0], accelerations[1]), 1e-4);
    EXPECT_GT(distance(accelerations[0], accelerations[2]), 1e-9);
    EXPECT_LT(distance(accelerations[0], accelerations[2]), 1e-4);
}

TEST(Simulation, RestoresEveryIntegratorToTheBit) {
    for (auto name : names_of<Integrator>()) {
        const TimeOptions time{.integrator = *from_name<Integrator>(name),
                               .step = 1.0 / 32,
                               .end = 1.0,
                               .adaptive = name == "hermite4"};
        const ForceOptions force{.softening = 0.05};
        Simulation whole(crowd(16, 2), force, time);
        (void)whole.diagnostics();
        for (int n = 0; n < 7; ++n) whole.step();
        auto restored = SimulationAccess::restore(SimulationAccess::capture(whole), force, time);
        while (!whole.finished()) {
            whole.step();
            restored.step();
            ASSERT_EQ(whole.bodies().position, restored.bodies().position) << name;
            ASSERT_EQ(whole.bodies().velocity, restored.bodies().velocity) << name;
            ASSERT_EQ(whole.time(), restored.time()) << name;
        }
        EXPECT_TRUE(restored.finished());
        EXPECT_EQ(whole.diagnostics().relative_energy_error, restored.diagnostics().relative_energy_error);
    }
}

TEST(Simulation, RefusesAStateWhoseAccelerationsComeOutDifferently) {
    Simulation simulation(crowd(16, 2), {.softening = 0.05}, {.step = 0.1, .end = 1.0});
    simulation.step();
    auto state = SimulationAccess::capture(simulation);
    state.motion.acceleration[5] = std::nextafter(state.motion.acceleration[5], 1.0);
    const auto text = error_of<BackendUnavailable>(
        [&] { SimulationAccess::restore(state, {.softening = 0.05}, {.step = 0.1, .end = 1.0}); });
    expect_contains(text, {"last bits", "snapshot"});
}

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_refused(const Bodies& bodies, const ForceOptions& force, const TimeOptions& time,
                    std::initializer_list<std::string> parts) {
    expect_contains(error_of<InvalidArgument>([&] { Simulation(bodies, force, time); }), parts);
}

TEST(Simulation, RefusesOptionsThatAreNotAllowed) {
    const auto bodies = crowd(4, 1);
    const TimeOptions time{.step = 0.1, .end = 1.0};
    for (double step : {0.0, -0.1, nan_value, infinity})
        expect_refused(bodies, {}, {.step = step, .end = 1.0}, {"time.step is", "> 0"});
    for (double end : {-1.0, nan_value, infinity})
        expect_refused(bodies, {}, {.step = 0.1, .end = end}, {"time.end is"});
    expect_refused(bodies, {}, {.step = 1e-300, .end = 1.0}, {"larger step"});
    expect_refused(bodies, {}, {.step = 0.1, .end = 1.0, .adaptive = true},
                   {"adaptive", "hermite4", "leapfrog"});
    for (double eta : {0.0, -1.0, nan_value})
        expect_refused(
            bodies, {},
            {.integrator = Integrator::hermite4, .step = 0.1, .end = 1.0, .adaptive = true, .eta = eta},
            {"time.eta is"});
    for (double G : {0.0, -1.0, nan_value, infinity}) expect_refused(bodies, {.G = G}, time, {"G is", "> 0"});
    for (double softening : {-0.1, nan_value, infinity})
        expect_refused(bodies, {.softening = softening}, time, {"softening is"});
    expect_refused(bodies, {.threads = -1}, time, {"threads is -1"});
}

TEST(Simulation, RefusesBodiesThatAreNotAllowed) {
    const TimeOptions time{.step = 0.1, .end = 1.0};
    const auto refused = [&](auto&& change, std::initializer_list<std::string> parts,
                             const ForceOptions& force = {}) {
        auto bodies = crowd(4, 1);
        change(bodies);
        expect_refused(bodies, force, time, parts);
    };
    refused([](Bodies& b) { b = {}; }, {"no bodies"});
    refused([](Bodies& b) { b.position[7] = nan_value; }, {"row 2", "position y", "nan"});
    refused([](Bodies& b) { b.velocity[11] = infinity; }, {"row 3", "velocity z", "inf"});
    refused([](Bodies& b) { b.mass[1] = nan_value; }, {"row 1", "mass", "nan"});
    refused([](Bodies& b) { b.mass[1] = -1.0; }, {"row 1", "mass is -1"});
    refused([](Bodies& b) { b.charge = {1, 2, 3, infinity}; }, {"row 3", "charge", "inf"});
    refused([](Bodies& b) { b.charge = {1, 2}; }, {"charge has 2 values", "4"});
    refused([](Bodies& b) { b.position.pop_back(); }, {"position has 11 values", "12"});
    refused([](Bodies& b) { b.velocity.pop_back(); }, {"velocity has 11 values"});
    refused([](Bodies& b) { b.id[3] = 2; }, {"rows 1 and 3", "id 2"});
    refused([](Bodies&) {}, {"no charges"}, {.kernel = Kernel::coulomb});
    refused(
        [](Bodies& b) {
            b.charge = {1, 1, 1, 1};
            b.mass[2] = 0.0;
        },
        {"body 3 (row 2)", "mass 0"}, {.kernel = Kernel::coulomb});
    refused([](Bodies& b) { std::copy_n(b.position.begin(), 3, b.position.begin() + 6); }, {"0", "2"});
}

TEST(Simulation, NumbersBodiesWithoutIds) {
    auto bodies = crowd(3, 1);
    bodies.id.clear();
    const Simulation simulation(bodies, {.softening = 0.1}, {.step = 0.1, .end = 1.0});
    EXPECT_EQ(simulation.bodies().id, (std::vector<std::uint64_t>{1, 2, 3}));
}

// Speeds near the largest double: the places overflow after a few steps. The message names the step and a
// body.
TEST(Simulation, StopsWhereAccelerationsStopBeingFinite) {
    for (auto name : names_of<Integrator>()) {
        auto bodies = crowd(3, 1);
        bodies.id = {7, 8, 9};
        for (auto& v : bodies.velocity) v = v > 0 ? 1e300 : -1e300;
        Simulation simulation(bodies, {},
                              {.integrator = *from_name<Integrator>(name), .step = 1e7, .end = 1e10});
        const auto text = error_of<InvalidArgument>([&] { simulation.advance_to(1e10); });
        expect_contains(text, {"step ", " from t = "});
        EXPECT_TRUE(text.find("body ") != std::string::npos || text.find("row ") != std::string::npos)
            << text;
    }
}

} // namespace
} // namespace farfield
