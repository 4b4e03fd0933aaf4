// Forces with a tolerance: compared at the start and at each row of diagnostics, raised where they fall
// short, refused where nothing is left to raise.
#include "run_support.h"
#include "systems.h"

#include "dynamics/run/checkpoint.h"
#include "io/csv.h"

#include <farfield/farfield.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farfield {
namespace {

using namespace test;

class ForceTolerance : public testing::Test {
protected:
    const TemporaryFolder folder; // NOLINT(misc-non-private-member-variables-in-classes): a fixture
    const Case lattice = lattice_case(folder / "lattice.csv");
};

nlohmann::json summary_of(const fs::path& folder) {
    return nlohmann::json::parse(bytes_of(folder / "summary.json"));
}

Simulation start(const Case& simulation_case) {
    return Simulation(make_bodies(simulation_case.initial), simulation_case.force, simulation_case.time);
}

// Over the norm of the first, as the library has it.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double squares = 0.0;
    double norm = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        squares += (a[i] - b[i]) * (a[i] - b[i]);
        norm += a[i] * a[i];
    }
    return std::sqrt(squares / norm);
}

TEST_F(ForceTolerance, IsComparedAtEachRow) {
    const auto result = run_case(lattice, {.out = folder / "out"});
    const auto table = read_csv(folder / "out" / "diagnostics.csv");
    ASSERT_EQ(table.rows(), 13);
    for (const auto* name : {"acceleration_error", "potential_error"})
        for (const double error : *table.find(name)) {
            EXPECT_GT(error, 0.0) << name;
            EXPECT_LE(error, 3e-3) << name;
        }
    EXPECT_GT(result.acceleration_error, 3e-3) << "steps were taken with it before the order was raised";
    const auto force = summary_of(folder / "out").at("force");
    EXPECT_EQ(force.at("method"), "fmm");
    EXPECT_EQ(force.at("largest_relative_errors").at("acceleration"), result.acceleration_error);
    EXPECT_EQ(force.at("largest_relative_errors").at("potential"), result.potential_error);
}

// All 127 bodies are sampled: the error told is that against accelerations and energies of every pair.
TEST_F(ForceTolerance, TellsTheErrorOfAccelerationsAndEnergies) {
    auto simulation_case = lattice;
    auto simulation = start(simulation_case);
    const auto& force = simulation_case.force;
    simulation_case.force = {.kernel = force.kernel,
                             .method = Method::direct,
                             .G = force.G,
                             .tolerance = force.tolerance,
                             .precision = Precision::float64};
    auto every_pair = start(simulation_case);
    const auto found = simulation.diagnostics();
    const auto exact = every_pair.diagnostics();
    EXPECT_NEAR(found.acceleration_error,
                relative_difference(simulation.acceleration(), every_pair.acceleration()), 1e-9);
    EXPECT_GT(found.potential_error, 1e-9);
    EXPECT_NE(found.potential, exact.potential) << "the energy is that of the expansions";
    // |½ Σ q Δφ| ≤ ½ |q| |Δφ|; charges are ±1.
    const auto& bodies = simulation.bodies();
    const auto potential = sum(matrix_view(std::span<const double>(bodies.position), 3),
                               ConstArrayView(std::span<const double>(bodies.charge)),
                               {.kernel = Kernel::coulomb}, Output::potential)
                               .potential;
    const double norm =
        std::sqrt(std::inner_product(potential.begin(), potential.end(), potential.begin(), 0.0));
    const double bound = 0.5 * std::sqrt(static_cast<double>(bodies.size())) * found.potential_error * norm;
    EXPECT_LE(std::abs(found.potential - exact.potential), 1.01 * bound);
    EXPECT_LT(exact.acceleration_error, 1e-13);
}

TEST_F(ForceTolerance, RaisesTheOrderInMidRun) {
    auto simulation = start(lattice);
    const int first = SimulationAccess::force_settings(simulation).order;
    int raised_at = 0;
    for (int row = 1; row <= 12 && raised_at == 0; ++row) {
        SimulationAccess::advance(simulation, 8);
        const auto before = simulation.bodies();
        const auto found = simulation.diagnostics();
        EXPECT_LE(found.acceleration_error, 3e-3);
        if (SimulationAccess::force_settings(simulation).order == first) continue;
        raised_at = row;
        EXPECT_EQ(simulation.bodies().position, before.position)
            << "a leapfrog drifts before it asks for forces";
        EXPECT_NE(simulation.bodies().velocity, before.velocity) << "the last step was not taken again";
        const auto& settings = SimulationAccess::force_settings(simulation);
        EXPECT_GT(std::max(settings.worst_acceleration_error, settings.worst_potential_error), 3e-3);
    }
    ASSERT_GT(raised_at, 0) << "this case is to miss its tolerance on the way";
    // What a new simulation of that order computes for these bodies.
    auto force = lattice.force;
    force.order = SimulationAccess::force_settings(simulation).order;
    EXPECT_GT(force.order, first);
    const Simulation fresh(simulation.bodies(), force, lattice.time);
    EXPECT_EQ(fresh.acceleration(), simulation.acceleration());
}

TEST_F(ForceTolerance, SaysThatTheOrderWasRaised) {
    Messages messages;
    run_case(lattice, {.out = folder / "out"}, messages.hooks());
    expect_contains(messages.text, {"missed tolerance = 0.003", "expansions of order", "before)"});
}

TEST_F(ForceTolerance, StaysInASavedSimulation) {
    auto simulation = start(lattice);
    const int first = SimulationAccess::force_settings(simulation).order;
    const auto advance = [](Simulation& of) {
        SimulationAccess::advance(of, 8);
        (void)of.diagnostics();
    };
    while (!simulation.finished() && SimulationAccess::force_settings(simulation).order == first)
        advance(simulation);
    ASSERT_FALSE(simulation.finished());
    auto copy = simulation_from_bytes(simulation_bytes(simulation));
    EXPECT_EQ(SimulationAccess::force_settings(copy).order,
              SimulationAccess::force_settings(simulation).order);
    advance(simulation);
    advance(copy);
    EXPECT_EQ(copy.bodies().position, simulation.bodies().position);
    EXPECT_EQ(copy.bodies().velocity, simulation.bodies().velocity);
}

TEST_F(ForceTolerance, ThatIsMissedAtTheStartIsAnError) {
    auto simulation_case = lattice;
    simulation_case.force.tolerance = 1e-9;
    simulation_case.force.precision = Precision::float32;
    expect_contains(
        error_of<ToleranceNotReached>([&] { (void)start(simulation_case); }),
        {"accelerations", "above tolerance = 1e-09", "order 20", "'float'", "precision = double"});
    simulation_case.force.precision = Precision::float64;
    simulation_case.force.order = 4;
    expect_contains(error_of<ToleranceNotReached>([&] { (void)start(simulation_case); }),
                    {"of order 4", "leave order out"});
    simulation_case.force = {.kernel = Kernel::coulomb, .tolerance = 1e-10, .precision = Precision::float32};
    expect_contains(error_of<ToleranceNotReached>([&] { (void)start(simulation_case); }), {"'direct'"});
    simulation_case.force.precision = Precision::float64;
    EXPECT_NO_THROW((void)start(simulation_case));
}

// An order by hand stays: the run ends where it does not suffice, and can be looked at.
TEST_F(ForceTolerance, ThatIsMissedOnTheWayLeavesTheCheckpoint) {
    auto simulation_case = lattice;
    simulation_case.output.checkpoint_every = 0.0009765625;
    simulation_case.force.order = SimulationAccess::force_settings(start(simulation_case)).order;
    const auto text =
        error_of<ToleranceNotReached>([&] { run_case(simulation_case, {.out = folder / "out"}); });
    expect_contains(text, {"step ", "t = ", "above tolerance = 0.003"});
    const auto checkpoint = read_checkpoint(folder / "out" / "checkpoint.h5");
    EXPECT_GT(checkpoint.state.step, 0U);
    EXPECT_LT(checkpoint.state.time, 0.09375);
    EXPECT_FALSE(fs::exists(folder / "out" / "summary.json"));
    EXPECT_EQ(error_of<ToleranceNotReached>(
                  [&] { run_case(simulation_case, {.out = folder / "out", .restart = true}); }),
              text);
}

TEST_F(ForceTolerance, HoldsForChargesAndAnyG) {
    Bodies bodies = crowd(120, 5);
    bodies.charge.resize(120);
    for (std::size_t i = 0; i < 120; ++i) bodies.charge[i] = i % 3 == 0 ? 0.0 : i % 2 == 0 ? 2.0 : -1.0;
    Simulation simulation(
        bodies, {.kernel = Kernel::coulomb, .method = Method::fmm, .G = 3.0, .tolerance = 1e-3, .leaf = 4},
        {.step = 1e-4, .end = 1e-3});
    const Simulation exact(bodies, {.kernel = Kernel::coulomb, .G = 3.0}, {.step = 1e-4, .end = 1e-3});
    EXPECT_NEAR(simulation.diagnostics().acceleration_error,
                relative_difference(simulation.acceleration(), exact.acceleration()), 1e-9);
}

TEST_F(ForceTolerance, IsNothingForHermite) {
    expect_contains(error_of<InvalidArgument>([&] {
                        Simulation(crowd(4, 1), {.softening = 0.1, .tolerance = 1e-6},
                                   {.integrator = Integrator::hermite4, .step = 0.1, .end = 1.0});
                    }),
                    {"hermite4", "leave tolerance = 1e-06 out", "leapfrog"});
}

} // namespace
} // namespace farfield
