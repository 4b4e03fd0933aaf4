// Simulations in periodic boxes that stay on a GPU: beside the CPU's, over restarts, and what they refuse.
#include "expect_error.h"
#include "support.h"
#include "unit/dynamics/run_support.h"

#include "dynamics/forces/settings.h"
#include "dynamics/simulation/state.h"
#include "gpu/sizes.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace farfield {
namespace {

using namespace test;

constexpr double box_length = 4.0;
using Period = std::array<double, 3>;
constexpr Period cube{box_length, box_length, box_length}, slab{box_length, box_length, 0.0},
    wire{box_length, 0.0, 0.0};

/// A warm plasma, some bodies of which cross the box within a few steps.
Bodies plasma(int n, double speed = 1.0) {
    InitialOptions options;
    options.kind = InitialKind::plasma;
    options.n = n;
    options.seed = 3;
    options.box = cube;
    options.particle_charge = std::sqrt(box_length * box_length * box_length / (4.0 * std::numbers::pi * n));
    auto bodies = make_bodies(options);
    for (auto& v : bodies.velocity) v *= speed;
    return bodies;
}

ForceOptions in_box(Method method, const Period& period = cube, double tolerance = 1e-3) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .softening = 0.02,
            .period = period,
            .tolerance = tolerance,
            .device = {.kind = DeviceKind::cuda}};
}

std::vector<Method> methods_of(const Period& period) {
    if (period == cube) return {Method::direct, Method::fmm, Method::ewald, Method::pme};
    return {Method::direct, Method::fmm};
}

// From the same forces, to the tolerances: few steps let their errors grow but little.
TEST(GpuPeriodicSimulation, FollowsTheCpu) {
    NEEDS_GPU();
    for (const auto& period : {cube, slab, wire})
        for (const auto method : methods_of(period))
            for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
                auto force = in_box(method, period, 1e-5);
                force.softening = 2e-3;
                force.precision = Precision::float64;
                force.G = 1.25;
                const TimeOptions time{.integrator = integrator, .step = 0.01, .end = 0.1};
                Simulation gpu(plasma(200, 8.0), force, time), cpu(plasma(200, 8.0), on_cpu(force), time);
                const auto start = gpu.diagnostics(), same = cpu.diagnostics();
                EXPECT_NEAR(start.potential, same.potential, 3e-5 * std::abs(same.potential));
                EXPECT_NEAR(start.kinetic, same.kinetic, 1e-12 * same.kinetic);
                EXPECT_TRUE(std::isnan(start.angular_momentum[0]));
                EXPECT_TRUE(std::isnan(start.lagrangian_radii[1]));
                EXPECT_GT(start.acceleration_error, 0.0);
                EXPECT_LE(start.acceleration_error, force.tolerance);
                EXPECT_LE(start.potential_error, force.tolerance);
                gpu.advance_to(time.end);
                cpu.advance_to(time.end);
                EXPECT_EQ(SimulationAccess::backend(gpu).device, DeviceKind::cuda);
                EXPECT_LT(relative_difference(gpu.bodies().velocity, cpu.bodies().velocity), 1e-4);
                const auto& x = gpu.bodies().position;
                for (std::size_t i = 0; i < x.size(); ++i) {
                    if (period[i % 3] == 0.0) continue;
                    EXPECT_GE(x[i], 0.0);
                    EXPECT_LT(x[i], box_length);
                }
            }
}

// Operators are made once for many steps, so that the box has other cells than for one sum.
TEST(GpuPeriodicSimulation, HasTheFieldsOfASum) {
    NEEDS_GPU();
    for (const auto method : {Method::direct, Method::fmm})
        for (const auto precision : {Precision::mixed, Precision::float64}) {
            auto force = in_box(method);
            force.precision = precision;
            Simulation simulation(plasma(1500, 8.0), force, {.step = 0.01, .end = 1.0});
            simulation.advance_to(0.05);
            const auto options =
                sum_options_of(force, SimulationAccess::force_settings(simulation), precision);
            const auto& bodies = simulation.bodies();
            const auto results =
                sum(matrix_view(std::span<const double>(bodies.position), 3),
                    ConstArrayView(std::span<const double>(bodies.charge)), options, Output::field);
            auto expected = results.field;
            for (std::size_t i = 0; i < expected.size(); ++i)
                expected[i] *= bodies.charge[i / 3] / bodies.mass[i / 3];
            EXPECT_LT(relative_difference(simulation.acceleration(), expected), 2.0 * force.tolerance);
        }
}

TEST(GpuPeriodicSimulation, KeepsEnergy) {
    NEEDS_GPU();
    const auto bodies = plasma(gpu_test::sized(4000, 500));
    for (const auto method : methods_of(cube)) {
        auto force = in_box(method, cube, 1e-4);
        force.softening = 8e-3;
        Simulation simulation(bodies, force, {.step = 0.001, .end = 0.08});
        const auto start = simulation.diagnostics();
        simulation.advance_to(0.08);
        const auto end = simulation.diagnostics();
        EXPECT_LT(std::abs(end.total - start.total), 2e-3 * end.kinetic);
        EXPECT_NE(end.kinetic, start.kinetic);
    }
}

TEST(GpuPeriodicSimulation, HasTheSameBitsAcrossRestarts) {
    NEEDS_GPU();
    for (const auto& period : {cube, slab})
        for (const auto method : methods_of(period))
            for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
                const auto bodies = plasma(gpu_test::sized(1000, 300), 10.0);
                const auto force = in_box(method, period);
                const TimeOptions time{.integrator = integrator, .step = 0.01, .end = 0.1};
                Simulation whole(bodies, force, time), again(bodies, force, time);
                whole.advance_to(time.end);
                while (!again.finished()) again.step();
                EXPECT_EQ(whole.bodies().position, again.bodies().position);
                EXPECT_EQ(whole.bodies().velocity, again.bodies().velocity);
                for (const int stop : {1, 7}) {
                    Simulation first(bodies, force, time);
                    SimulationAccess::advance(first, static_cast<std::uint64_t>(stop));
                    auto second = SimulationAccess::restore(SimulationAccess::capture(first), force, time);
                    second.advance_to(time.end);
                    EXPECT_EQ(second.bodies().position, whole.bodies().position);
                    EXPECT_EQ(second.acceleration(), whole.acceleration());
                }
            }
}

void expect_gravity_as_by_ewald(Method method, double softening) {
    auto force = in_box(method, cube, 1e-5);
    force.kernel = Kernel::gravity;
    force.background = Background::uniform;
    force.softening = softening;
    const auto bodies = plasma(600);
    const TimeOptions time{.step = 0.005, .end = 0.05};
    auto by_ewald = on_cpu(force);
    by_ewald.method = Method::ewald;
    by_ewald.tolerance = 1e-8; // so that the tolerance of the GPU's sums is left to them alone
    Simulation gpu(bodies, force, time), cpu(bodies, by_ewald, time);
    EXPECT_LT(relative_difference(gpu.acceleration(), cpu.acceleration()), 3e-5);
    // the energy is a sum in which potentials of both signs cancel: their norm bounds its error
    auto potentials = sum(matrix_view(std::span<const double>(bodies.position), 3),
                          ConstArrayView(std::span<const double>(bodies.mass)),
                          {.kernel = Kernel::gravity,
                           .method = Method::ewald,
                           .softening = force.softening,
                           .period = force.period,
                           .background = force.background,
                           .tolerance = 1e-8},
                          Output::potential)
                          .potential;
    double square = 0.0;
    for (const double phi : potentials) square += phi * phi;
    const auto n = static_cast<double>(potentials.size());
    EXPECT_NEAR(gpu.diagnostics().potential, cpu.diagnostics().potential,
                force.tolerance * 0.5 * std::sqrt(n * square));
}

TEST(GpuPeriodicSimulation, HasGravityWithABackground) {
    NEEDS_GPU();
    for (const auto method : {Method::direct, Method::fmm, Method::ewald, Method::pme})
        for (const double softening : {0.0, 0.002, 0.3}) {
            SCOPED_TRACE(testing::Message() << name_of(method) << ' ' << softening);
            expect_gravity_as_by_ewald(method, softening);
        }
}

TEST(GpuPeriodicSimulation, RefusesWhatItCannotDo) {
    NEEDS_GPU();
    const auto bodies = plasma(64);
    const TimeOptions time{.step = 0.01, .end = 0.1};
    const auto refused = [&](const ForceOptions& force, const Bodies& of,
                             std::initializer_list<std::string> words) {
        expect_contains(error_of<InvalidArgument>([&] { Simulation(of, force, time); }), words);
    };
    auto force = in_box(Method::fmm);
    force.softening = 30.0; // images cancel but for e^(−2πε/L)
    refused(force, bodies, {"softening", "30", "ewald"});
    for (const auto method : methods_of(cube)) {
        force = in_box(method);
        force.device.gpus = {0, 1};
        refused(force, bodies, {"one GPU"});
    }
    auto charged = bodies;
    charged.charge[0] *= 2.0;
    for (const auto method : {Method::direct, Method::fmm})
        refused(in_box(method), charged, {"sum to", "background"});
    auto same = bodies;
    const double place[3] = {1.25, 0.5, 3.0}; // that of the first one and of an image of the second
    for (std::size_t k = 0; k < 3; ++k) same.position[k] = same.position[3 + k] = place[k];
    same.position[3] += box_length;
    force = in_box(Method::fmm);
    force.softening = 0.0;
    refused(force, same, {"bodies 1 and 2", "same place"});
    // and `auto` takes what runs there
    Simulation automatic(bodies, in_box(Method::automatic), time);
    EXPECT_EQ(SimulationAccess::backend(automatic).device, DeviceKind::cuda);
}

// Images of any softening, by every method; `auto` takes one of those that are for boxes.
TEST(GpuPeriodicSimulation, TakesLargeSoftenings) {
    NEEDS_GPU();
    auto methods = methods_of(cube);
    methods.push_back(Method::automatic);
    for (const auto method : methods) {
        SCOPED_TRACE(name_of(method));
        auto force = in_box(method, cube, 1e-5);
        force.softening = 0.3;
        auto by_ewald = on_cpu(force);
        by_ewald.method = Method::ewald;
        const TimeOptions time{.step = 0.01, .end = 0.05};
        Simulation gpu(plasma(500), force, time), cpu(plasma(500), by_ewald, time);
        const auto taken = SimulationAccess::force_settings(gpu).method;
        if (method == Method::automatic)
            EXPECT_TRUE(taken == Method::pme || taken == Method::ewald) << name_of(taken);
        else
            EXPECT_EQ(taken, method);
        EXPECT_EQ(SimulationAccess::backend(gpu).device, DeviceKind::cuda);
        EXPECT_LT(relative_difference(gpu.acceleration(), cpu.acceleration()), 3e-5);
        gpu.advance_to(time.end);
        cpu.advance_to(time.end);
        EXPECT_NEAR(gpu.diagnostics().total, cpu.diagnostics().total, 3e-5 * cpu.diagnostics().kinetic);
    }
}

// Along open axes, too.
TEST(GpuPeriodicSimulation, SoftensImagesOfSlabsAndWires) {
    NEEDS_GPU();
    for (const auto& period : {slab, wire})
        for (const auto method : {Method::direct, Method::fmm}) {
            auto force = in_box(method, period, 1e-4);
            force.softening = 0.3;
            force.precision = Precision::float64;
            const TimeOptions time{.step = 0.01, .end = 0.05};
            Simulation gpu(plasma(300), force, time), cpu(plasma(300), on_cpu(force), time);
            EXPECT_LT(relative_difference(gpu.acceleration(), cpu.acceleration()), 2e-4);
            EXPECT_LE(gpu.diagnostics().acceleration_error, force.tolerance);
            gpu.advance_to(time.end);
            cpu.advance_to(time.end);
            EXPECT_NEAR(gpu.diagnostics().total, cpu.diagnostics().total, 2e-4 * cpu.diagnostics().kinetic);
        }
}

// A run that is stopped and goes on writes the same files.
TEST(GpuPeriodicRun, StopsAndGoesOn) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    Case simulation_case;
    simulation_case.initial.kind = InitialKind::plasma;
    simulation_case.initial.n = 500;
    simulation_case.initial.box = cube;
    simulation_case.force = in_box(Method::fmm, cube, 1e-3);
    simulation_case.force.softening = 0.02;
    simulation_case.time = {.step = 0.01, .end = 0.1};
    simulation_case.output.diagnostics_every = 0.02;
    run_case(simulation_case, {.out = folder / "whole"}, {});
    expect_contains(bytes_of(folder / "whole" / "summary.json"),
                    {"\"device\": \"cuda\"", "\"method\": \"fmm\""});
    int stops = 0;
    for (bool finished = false; !finished;) {
        int polls = 0;
        RunHooks hooks;
        hooks.stop_requested = [&] { return ++polls == 3; };
        finished =
            run_case(simulation_case, {.out = folder / "stopped", .restart = stops > 0}, hooks).finished;
        stops += finished ? 0 : 1;
    }
    EXPECT_GE(stops, 1);
    expect_same_results(folder / "whole", folder / "stopped");
}

} // namespace
} // namespace farfield
