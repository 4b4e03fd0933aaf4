// Simulation on a GPU against the CPU's, against analytic orbits, and what it refuses.
#include "parity/orbit_cases.h"
#include "support.h"
#include "unit/dynamics/run_support.h"

#include "dynamics/bodies/diagnostics.h"
#include "dynamics/simulation/state.h"
#include "gpu/sizes.h"

namespace farfield {
namespace {

using namespace test;

INSTANTIATE_TEST_SUITE_P(OnGpu, Orbits,
                         ::testing::Values(IntegratorOn{Integrator::leapfrog, DeviceKind::cuda},
                                           IntegratorOn{Integrator::yoshida4, DeviceKind::cuda}),
                         name_of_pair);

struct Pair {
    Simulation gpu, cpu;
};
Pair both(const Bodies& bodies, const ForceOptions& force, const TimeOptions& time) {
    return {Simulation(bodies, force, time), Simulation(bodies, on_cpu(force), time)};
}

TEST(GpuSimulation, RunsThere) {
    NEEDS_GPU();
    const Simulation simulation(crowd(100, 1), on_gpu(), {.step = 0.01, .end = 0.1});
    EXPECT_EQ(SimulationAccess::backend(simulation).device, DeviceKind::cuda);
    EXPECT_TRUE(simulation.notes().empty());
}

// At every step the forces are those of the CPU at the same places, to the precision (see
// step_paths_test.cpp).
TEST(GpuSimulation, HasTheForcesOfTheCpuAtEveryStep) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        const auto bodies = plummer_bodies(1000);
        const auto force = on_gpu(precision);
        Simulation gpu(bodies, force, {.step = 1.0 / 128, .end = 10.0 / 128});
        while (!gpu.finished()) {
            gpu.step();
            const auto exact = exact_acceleration(gpu.bodies(), force);
            auto same_place = on_cpu(force);
            const Simulation cpu(gpu.bodies(), same_place, {.step = 1.0, .end = 1.0});
            const double cpu_error = relative_difference(cpu.acceleration(), exact);
            const double floor = precision == Precision::float64 ? 3e-15 : 2e-7;
            EXPECT_LE(relative_difference(gpu.acceleration(), exact), 1.5 * cpu_error + floor);
        }
    }
}

// On the host, from what comes back; potentials stay on the GPU, and every pair is computed: nothing to
// raise.
TEST(GpuSimulation, ComparesItsForcesWithATolerance) {
    NEEDS_GPU();
    auto force = on_gpu(Precision::float32);
    force.tolerance = 1e-4;
    Simulation simulation(plummer_bodies(120), force, {.step = 1.0 / 128, .end = 1.0});
    simulation.step();
    const auto row = simulation.diagnostics();
    EXPECT_NEAR(
        row.acceleration_error,
        relative_difference(simulation.acceleration(), exact_acceleration(simulation.bodies(), force)),
        1e-3 * row.acceleration_error);
    EXPECT_TRUE(std::isnan(row.potential_error));
    force.tolerance = 1e-12;
    expect_contains(error_of<ToleranceNotReached>(
                        [&] { Simulation(plummer_bodies(120), force, {.step = 1.0 / 128, .end = 1.0}); }),
                    {"accelerations", "tolerance = 1e-12", "precision = double"});
    force.method = Method::automatic;
    force.precision = Precision::float64;
    const Simulation automatic(plummer_bodies(120), force, {.step = 1.0 / 128, .end = 1.0});
    EXPECT_EQ(SimulationAccess::force_settings(automatic).method, Method::direct);
}

// 1,000 bodies take the persistent kernel, 9,000 do not.
TEST(GpuSimulation, FollowsThePlummerTrajectoryOfTheCpu) {
    NEEDS_GPU();
    for (const std::size_t n : gpu_test::sizes_up_to(1000, {1000, 9000})) {
        auto [gpu, cpu] =
            both(plummer_bodies(static_cast<int>(n)), on_gpu(), {.step = 1.0 / 256, .end = 100.0 / 256});
        gpu.advance_to(1.0);
        cpu.advance_to(1.0);
        EXPECT_EQ(gpu.step_count(), 100U);
        EXPECT_LE(relative_difference(gpu.bodies().position, cpu.bodies().position), 1e-12);
        EXPECT_LE(relative_difference(gpu.bodies().velocity, cpu.bodies().velocity), 1e-12);
    }
}

TEST(GpuSimulation, HasTheSameBitsFromRunToRunAndAcrossRestarts) {
    NEEDS_GPU();
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4})
        for (const std::size_t n : gpu_test::sizes_up_to(1000, {1000, 9000})) {
            const auto bodies = plummer_bodies(static_cast<int>(n));
            const auto force = on_gpu(Precision::mixed);
            const TimeOptions time{.integrator = integrator, .step = 1.0 / 128, .end = 0.3};
            Simulation whole(bodies, force, time), again(bodies, force, time);
            whole.advance_to(0.3);
            while (!again.finished()) again.step();
            EXPECT_EQ(whole.bodies().position, again.bodies().position);
            EXPECT_EQ(whole.bodies().velocity, again.bodies().velocity);
            for (const int stop : {1, 7, 23}) {
                Simulation first(bodies, force, time);
                SimulationAccess::advance(first, static_cast<std::uint64_t>(stop));
                auto second = SimulationAccess::restore(SimulationAccess::capture(first), force, time);
                second.advance_to(0.3);
                EXPECT_EQ(second.step_count(), whole.step_count());
                EXPECT_EQ(second.bodies().position, whole.bodies().position);
                EXPECT_EQ(second.acceleration(), whole.acceleration());
            }
        }
}

// One GPU that plays several, by both designs and all exchanges; a restart may use another number.
TEST(GpuSimulation, HasTheSameBitsOnAnyNumberOfGpus) {
    NEEDS_GPU();
    for (const std::size_t n : gpu_test::sizes_up_to(1000, {1000, 9001})) {
        auto bodies = plummer_bodies(static_cast<int>(n));
        for (std::size_t i = 0; i < bodies.position.size(); i += 3) bodies.position[i] += 1000.0; // far off
        auto force = on_gpu(Precision::mixed);
        const TimeOptions time{.step = 1.0 / 128, .end = 20.0 / 128};
        Simulation one(bodies, force, time);
        one.advance_to(1.0);
        const auto row = one.diagnostics();
        for (const auto& gpus : {std::vector<int>{0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0}})
            for (const auto design : {MultiGpu::threads, MultiGpu::single})
                for (const auto exchange : {Exchange::host, Exchange::mapped, Exchange::write_combined}) {
                    force.device.gpus = gpus;
                    force.multi_gpu = design;
                    force.exchange = exchange;
                    Simulation several(bodies, force, time);
                    SimulationAccess::advance(several, 7);
                    auto restarted = SimulationAccess::restore(SimulationAccess::capture(several),
                                                               on_gpu(Precision::mixed), time);
                    several.advance_to(1.0);
                    restarted.advance_to(1.0);
                    EXPECT_EQ(several.bodies().position, one.bodies().position);
                    EXPECT_EQ(several.bodies().velocity, one.bodies().velocity);
                    EXPECT_EQ(restarted.bodies().velocity, one.bodies().velocity);
                    EXPECT_EQ(several.diagnostics().total, row.total);
                }
    }
}

// The diagnostics of the CPU on the same bodies define what the GPU adds up; both round differently.
TEST(GpuSimulation, HasTheDiagnosticsOfTheCpu) {
    NEEDS_GPU();
    for (const int n : {1, 2, 300, 3000}) {
        for (const auto kernel : {Kernel::gravity, Kernel::coulomb}) {
            auto bodies = crowd(n, 21);
            for (std::size_t i = 0; i < bodies.mass.size(); ++i)
                bodies.charge.push_back(i % 3 == 0 ? -0.01 : 0.02);
            auto force = on_gpu(Precision::float32);
            force.kernel = kernel;
            force.G = 1.25;
            auto [gpu, cpu] = both(bodies, force, {.step = 0.01, .end = 1.0});
            const auto a = gpu.diagnostics();
            const auto b = cpu.diagnostics();
            EXPECT_NEAR(a.kinetic, b.kinetic, 1e-14 * b.kinetic);
            EXPECT_NEAR(a.potential, b.potential, 1e-13 * std::abs(b.potential));
            EXPECT_NEAR(a.total, b.total, 1e-13 * (b.kinetic + std::abs(b.potential)));
            for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_NEAR(a.momentum[k], b.momentum[k], 1e-14);
                EXPECT_NEAR(a.angular_momentum[k], b.angular_momentum[k], 1e-14);
            }
            EXPECT_EQ(a.lagrangian_radii, b.lagrangian_radii);
            const auto again = gpu.diagnostics();
            EXPECT_EQ(a.kinetic, again.kinetic);
            EXPECT_EQ(a.potential, again.potential);
        }
    }
}

// Leapfrog and yoshida4 keep momentum to rounding, and energy to the error of their steps: leapfrog here
// within 1e-4, checked against the CPU's own error, which is the integrator's.
TEST(GpuSimulation, KeepsWhatIsToBeKept) {
    NEEDS_GPU();
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
        auto [gpu, cpu] = both(plummer_bodies(gpu_test::sized(2048, 256)), on_gpu(),
                               {.integrator = integrator, .step = 1.0 / 128, .end = 1.0});
        const auto start = gpu.diagnostics();
        (void)cpu.diagnostics();
        gpu.advance_to(1.0);
        cpu.advance_to(1.0);
        const auto end = gpu.diagnostics();
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_NEAR(end.momentum[k], start.momentum[k], 1e-14);
            EXPECT_NEAR(end.angular_momentum[k], start.angular_momentum[k], 1e-13);
        }
        EXPECT_LT(std::abs(end.relative_energy_error), 1e-4);
        EXPECT_NEAR(end.relative_energy_error, cpu.diagnostics().relative_energy_error, 1e-10);
    }
}

TEST(GpuSimulation, RefusesHermiteWithARemedy) {
    const auto text = error_of<InvalidArgument>([] {
        const Simulation simulation(crowd(10, 1), on_gpu(),
                                    {.integrator = Integrator::hermite4, .step = 0.1, .end = 1.0});
    });
    expect_contains(text, {"hermite4", "CPU", "yoshida4", "device = cuda"});
}

TEST(GpuSimulation, KeepsItsArraysInPlace) {
    NEEDS_GPU();
    Simulation simulation(crowd(64, 2), on_gpu(), {.step = 0.01, .end = 1.0});
    const double* before = simulation.bodies().position.data();
    const double x = *before;
    simulation.step();
    EXPECT_EQ(simulation.bodies().position.data(), before);
    EXPECT_NE(*before, x);
}

} // namespace
} // namespace farfield
