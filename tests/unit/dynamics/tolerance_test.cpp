// Forces with a tolerance: compared at the start and at each row of diagnostics, raised where they fall
// short, refused where nothing is left to raise; and the method that a simulation chooses once.
#include "run_support.h"
#include "systems.h"

#include "dynamics/forces/tolerance.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/propagators/method_choice.h"
#include "dynamics/run/checkpoint.h"
#include "io/csv.h"
#include "sums/costs/cost_file.h"
#include "sums/fmm/gpu_shape.h"

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

// Forces by a rule of their own: an error that each order halves, and that grows with each row.
struct MadeUpForces {
    ForceSettings settings{.method = Method::fmm, .order = 4};
    double error = 1e-3;
    int computed = 0;

    ForceErrors keep(const ForceOptions& force, bool after_steps) {
        return keep_tolerance(force, settings,
                              {.compare =
                                   [&] {
                                       return ForceErrors{now(), now() / 2.0};
                                   },
                               .compute_again = [&] { ++computed; },
                               .after_steps = after_steps});
    }
    [[nodiscard]] double now() const { return error * std::exp2(4 - settings.order); }
};

TEST(ForceOrder, IsRaisedUntilTheToleranceIsKept) {
    const ForceOptions force{.method = Method::fmm, .tolerance = 2e-3, .precision = Precision::float64};
    MadeUpForces forces;
    EXPECT_EQ(forces.keep(force, false).acceleration, 1e-3);
    EXPECT_EQ(forces.settings.worst_acceleration_error, 1e-3);
    EXPECT_EQ(forces.settings.worst_potential_error, 5e-4);
    forces.error = 1e-2;
    EXPECT_LE(forces.keep(force, true).acceleration, 2e-3);
    EXPECT_GE(forces.settings.order, 7); // 1e-2 / 2³ < 2e-3
    EXPECT_GE(forces.computed, 1);
    EXPECT_EQ(forces.settings.worst_acceleration_error, 1e-2) << "steps were taken with it";
    // Before the first step what is too large was of no use to anybody.
    MadeUpForces at_start;
    at_start.error = 1e-2;
    at_start.keep(force, false);
    EXPECT_LE(at_start.settings.worst_acceleration_error, 2e-3);
    EXPECT_GT(at_start.settings.worst_acceleration_error, 0.0);
}

TEST(ForceOrder, StaysWithoutAToleranceOrByHand) {
    MadeUpForces forces;
    forces.error = 0.5;
    forces.keep({.method = Method::fmm}, true);
    EXPECT_EQ(forces.settings.order, 4);
    EXPECT_EQ(forces.settings.worst_acceleration_error, 0.0);
    const ForceOptions by_hand{.method = Method::fmm, .tolerance = 1e-3, .order = 4};
    expect_contains(error_of<ToleranceNotReached>([&] { forces.keep(by_hand, true); }),
                    {"accelerations is 0.5", "order 4", "leave order out"});
    EXPECT_EQ(forces.computed, 0);
    forces.error = NAN; // as of a sum that is no number
    EXPECT_THROW(forces.keep({.method = Method::direct, .tolerance = 1e-3}, true), ToleranceNotReached);
}

TEST(ForceMethod, IsChosenOnce) {
    const auto settled = [](int n, const ForceOptions& force, Integrator integrator = Integrator::leapfrog) {
        return settle_force(force, integrator, crowd(n, 3), 100.0);
    };
    ForceOptions force{.method = Method::automatic, .device = {.kind = DeviceKind::cpu}};
    EXPECT_EQ(settled(100, force).method, Method::direct);
    expect_contains(settled(100, force).reason, {"neither a tolerance"});
    force.tolerance = 1e-3;
    EXPECT_EQ(settled(1000, force).method, Method::direct);
    const auto many = settled(100000, force);
    EXPECT_EQ(many.method, Method::fmm);
    EXPECT_GT(many.order, 0);
    EXPECT_GT(many.leaf, 1);
    expect_contains(many.reason, {"cost table", "'direct'", "'fmm'"});
    EXPECT_EQ(settled(1000, force, Integrator::hermite4).method, Method::direct);
    // The bits of a run do not depend on threads.
    for (const int threads : {1, 2, 64}) {
        force.threads = threads;
        for (const int n : {2000, 4000, 8000, 16000}) {
            auto of_one = force;
            of_one.threads = 1;
            EXPECT_EQ(settled(n, force).method, settled(n, of_one).method) << n;
        }
    }
}

// What was given for expansions is of no use to the method that `auto` took, and no error.
TEST(ForceMethod, ThatAutoTakesGetsItsOwnOptions) {
    const ForceOptions force{.method = Method::automatic, .order = 7, .separation = 2, .grading = 0.3};
    const auto settings = settle_force(force, Integrator::leapfrog, crowd(100, 3), 100.0);
    ASSERT_EQ(settings.method, Method::direct);
    const auto options = sum_options_of(force, settings, Precision::float64);
    EXPECT_NO_THROW(check_options(options));
    EXPECT_EQ(options.order, 0);
    auto by_hand = force;
    by_hand.method = Method::fmm;
    EXPECT_EQ(sum_options_of(by_hand, {.method = Method::fmm}, Precision::float64).order, 7);
}

// Leaves on a GPU have a size of their own, and plans made of what is settled have the same tree.
TEST(ForceMethod, IsSettledForItsDevice) {
    ForceOptions force{.method = Method::fmm, .tolerance = 1e-6, .device = {.kind = DeviceKind::cpu}};
    force.precision = Precision::float64;
    for (const int n : {500, 20000, 100000}) {
        const auto bodies = crowd(n, 3);
        force.device.kind = DeviceKind::cpu;
        const auto on_cpu = settle_force(force, Integrator::leapfrog, bodies, 100.0);
        force.device.kind = DeviceKind::cuda;
        const auto on_gpu = settle_force(force, Integrator::leapfrog, bodies, 100.0);
        EXPECT_EQ(on_gpu.method, Method::fmm);
        EXPECT_EQ(on_gpu.order, on_cpu.order);
        EXPECT_EQ(on_gpu.m2l, M2L::matrix);
        SumProblem problem;
        problem.kernel = &kernel_info(Kernel::gravity);
        problem.sources = problem.targets = n;
        problem.tolerance = force.tolerance;
        const auto shape_by = [&](const ForceSettings& settings) {
            return gpu_fmm_shape(problem, sum_options_of(force, settings, force.precision),
                                 cost_table_in_use().table);
        };
        const auto open = shape_by({.method = Method::fmm}), settled = shape_by(on_gpu);
        EXPECT_EQ(settled.order.order, open.order.order);
        EXPECT_EQ(settled.grid.cells(), open.grid.cells()) << n;
        EXPECT_EQ(settled.tree.most, open.tree.most) << n;
    }
    EXPECT_EQ(deciding_cost_table(force), "") << "the table has no part in it";
    force.method = Method::automatic;
    EXPECT_EQ(settle_force(force, Integrator::leapfrog, crowd(100, 3), 100.0).method, Method::direct);
}

TEST(ForceMethod, IsToldAndWritten) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.force.method = Method::automatic;
    simulation_case.force.tolerance = 1e-3;
    Messages messages;
    run_case(simulation_case, {.out = folder / "out"}, messages.hooks());
    expect_contains(messages.text, {"method = auto takes 'direct'"});
    const auto summary = summary_of(folder / "out");
    EXPECT_EQ(summary.at("force").at("method"), "direct");
    EXPECT_EQ(summary.at("options").at("force").at("method"), "auto");
}

} // namespace
} // namespace farfield
