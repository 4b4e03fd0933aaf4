// Simulations by fast multipole forces that stay on a GPU: against every pair, against the CPU's run of the
// same method, and what they refuse. Their restarts are in fmm_run_test.cpp.
#include "support.h"
#include "unit/dynamics/run_support.h"

#include "dynamics/forces/settings.h"
#include "dynamics/integrators/integrator.h"
#include "dynamics/simulation/state.h"
#include "gpu/sizes.h"

#include <farfield/sum.h>

#include <cstdint>
#include <random>

namespace farfield {
namespace {

using namespace test;

// Leaves of few bodies, so that small clusters have far fields, too.
ForceOptions by_fmm(int order, Precision precision = Precision::float64, Kernel kernel = Kernel::gravity) {
    return {.kernel = kernel,
            .method = Method::fmm,
            .order = order,
            .leaf = 16,
            .precision = precision,
            .device = {.kind = DeviceKind::cuda}};
}

Bodies charged(Bodies bodies) {
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) bodies.charge.push_back(i % 3 == 0 ? -0.01 : 0.02);
    return bodies;
}

// Errors of expansions of order 24 are some 1e-9 (1.5 + 0.31·24 digits), far below those of steps.
constexpr int precise = 24;

TEST(GpuFmmSimulation, RunsThere) {
    NEEDS_GPU();
    auto force = by_fmm(0);
    force.leaf = 0;
    const Simulation simulation(plummer_bodies(3000), force, {.step = 0.01, .end = 0.1});
    EXPECT_EQ(SimulationAccess::backend(simulation).device, DeviceKind::cuda);
    EXPECT_EQ(SimulationAccess::backend(simulation).variant, Variant::automatic);
    const auto& settings = SimulationAccess::force_settings(simulation);
    EXPECT_EQ(settings.method, Method::fmm);
    EXPECT_EQ(settings.m2l, M2L::automatic); // each order has its own
    EXPECT_GT(settings.order, 0);
    EXPECT_GT(settings.leaf, 0);
}

// The bodies are on the first GPU; each computes its share of the forces.
TEST(GpuFmmSimulation, HasTheBitsOfOneGpuOnSeveral) {
    NEEDS_GPU();
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
        auto force = by_fmm(6, Precision::mixed);
        force.softening = 0.01;
        const TimeOptions time{.integrator = integrator, .step = 1.0 / 256, .end = 8.0 / 256};
        Simulation one(plummer_bodies(2000), force, time);
        one.advance_to(time.end);
        force.device.gpus = {0, 0, 0};
        Simulation several(plummer_bodies(2000), force, time);
        several.advance_to(time.end);
        EXPECT_EQ(several.bodies().position, one.bodies().position);
        EXPECT_EQ(several.acceleration(), one.acceleration());
        EXPECT_EQ(several.diagnostics().potential, one.diagnostics().potential);
    }
}

// The same bits: a simulation adds nothing to the sum of its method.
TEST(GpuFmmSimulation, HasTheFieldsOfASum) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64})
        for (const int n : {1, 2, 40, 1500}) {
            auto force = by_fmm(6, precision);
            force.softening = n == 40 ? 0.0 : 0.05;
            Simulation simulation(crowd(n, 4), force, {.step = 1.0 / 64, .end = 1.0});
            simulation.advance_to(5.0 / 64);
            const auto options =
                sum_options_of(force, SimulationAccess::force_settings(simulation), precision);
            const auto& bodies = simulation.bodies();
            const auto results =
                sum(matrix_view(std::span<const double>(bodies.position), 3),
                    ConstArrayView(std::span<const double>(bodies.mass)), options, Output::field);
            EXPECT_EQ(simulation.acceleration(), results.field) << n << ' ' << name_of(precision);
        }
}

// The sample that is compared has the bodies with the largest values; all of them are near to it.
TEST(GpuFmmSimulation, HasTheForcesOfEveryPairAtEveryStep) {
    NEEDS_GPU();
    for (const auto kernel : {Kernel::gravity, Kernel::coulomb})
        for (const double tolerance : {1e-3, 1e-8}) {
            auto force = by_fmm(0, Precision::automatic, kernel);
            force.G = 1.25;
            force.tolerance = tolerance;
            Simulation simulation(charged(crowd(gpu_test::sized(1000, 300), 8)), force,
                                  {.step = 1.0 / 128, .end = 10.0 / 128});
            while (!simulation.finished()) {
                simulation.step();
                const auto row = simulation.diagnostics();
                const double error = relative_difference(simulation.acceleration(),
                                                         exact_acceleration(simulation.bodies(), force));
                EXPECT_LE(error, 1.5 * tolerance);
                EXPECT_LE(row.acceleration_error, 4.0 * error); // it is a sample's
                EXPECT_GE(row.acceleration_error, error / 4.0);
                EXPECT_GT(row.potential_error, 0.0);
                EXPECT_LE(row.potential_error, tolerance);
            }
        }
}

TEST(GpuFmmSimulation, KeepsEnergyAsTheCpuDoes) {
    NEEDS_GPU();
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
        const auto bodies = plummer_bodies(gpu_test::sized(1000, 300));
        auto force = by_fmm(precise);
        if (integrator == Integrator::leapfrog) force.softening = 0.02;
        const TimeOptions time{.integrator = integrator, .step = 1.0 / 512, .end = 0.0625};
        Simulation gpu(bodies, force, time), cpu(bodies, on_cpu(force), time);
        (void)gpu.diagnostics();
        (void)cpu.diagnostics();
        gpu.advance_to(time.end);
        cpu.advance_to(time.end);
        const auto a = gpu.diagnostics(), b = cpu.diagnostics();
        EXPECT_LE(relative_difference(gpu.bodies().position, cpu.bodies().position), 1e-7);
        EXPECT_LE(relative_difference(gpu.bodies().velocity, cpu.bodies().velocity), 1e-7);
        EXPECT_NEAR(a.relative_energy_error, b.relative_energy_error, 1e-7);
        EXPECT_NEAR(a.potential, b.potential, 1e-7 * std::abs(b.potential));
        EXPECT_LT(std::abs(a.relative_energy_error), 1e-3) << "the steps are too long for this cluster";
        EXPECT_NE(a.relative_energy_error, 0.0);
    }
}

// A GPU adds up in another order than the CPU.
TEST(GpuFmmSimulation, HasTheDiagnosticsOfTheCpu) {
    NEEDS_GPU();
    for (const int n : {1, 2, 300, 3000})
        for (const auto kernel : {Kernel::gravity, Kernel::coulomb}) {
            auto force = by_fmm(20, Precision::mixed, kernel);
            force.G = 1.25;
            const auto bodies = charged(crowd(n, 21));
            const TimeOptions time{.step = 0.01, .end = 1.0};
            Simulation gpu(bodies, force, time), cpu(bodies, on_cpu(force), time);
            const auto a = gpu.diagnostics(), b = cpu.diagnostics();
            EXPECT_NEAR(a.kinetic, b.kinetic, 1e-14 * b.kinetic);
            EXPECT_NEAR(a.potential, b.potential, 1e-7 * std::abs(b.potential));
            for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_NEAR(a.momentum[k], b.momentum[k], 1e-14);
                EXPECT_NEAR(a.angular_momentum[k], b.angular_momentum[k], 1e-14);
            }
            EXPECT_EQ(a.lagrangian_radii, b.lagrangian_radii);
            EXPECT_EQ(a.potential, gpu.diagnostics().potential);
        }
}

// Bodies near the places of a lattice, at rest, fall towards each other: smooth motion, without close pairs.
Bodies falling_lattice() {
    std::mt19937_64 random(17);
    std::vector<double> x;
    for (int place = 0; place < 216; ++place)
        for (const int k : {place % 6, place / 6 % 6, place / 36})
            x.push_back((k + 0.2 * (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5)) / 6.0);
    return make(x, std::vector<double>(x.size(), 0.0), std::vector<double>(216, 1.0 / 216));
}

// Halving the step divides the error by 2^order, up to terms of the next order, which change the slope by
// less than 0.3. Bodies change their cells: what expansions leave, some 4e-10 here, must be less than that of
// the steps.
TEST(GpuFmmSimulation, ConvergesAtTheOrderOfTheIntegrator) {
    NEEDS_GPU();
    constexpr double end = 0.25;
    auto force = by_fmm(32);
    force.leaf = 8;
    const auto places = [&](Integrator integrator, int steps) {
        Simulation simulation(falling_lattice(), force, {integrator, end / steps, end});
        simulation.advance_to(end);
        EXPECT_EQ(simulation.step_count(), static_cast<std::uint64_t>(steps));
        return simulation.bodies().position;
    };
    const auto exact = places(Integrator::yoshida4, 256);
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
        std::vector<double> errors;
        for (const int steps : {8, 16, 32})
            errors.push_back(relative_difference(places(integrator, steps), exact));
        const double order = descriptor_of(integrator).order;
        for (std::size_t i = 1; i < errors.size(); ++i)
            EXPECT_NEAR(std::log2(errors[i - 1] / errors[i]), order, 0.3)
                << "errors " << errors[i - 1] << ' ' << errors[i];
        EXPECT_GT(errors.back(), 1e-10) << "expansions, not steps, decide this error";
    }
}

TEST(GpuFmmSimulation, RaisesTheOrderInMidRun) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    auto lattice = lattice_case(folder / "lattice.csv");
    lattice.force.device = {.kind = DeviceKind::cuda};
    Simulation simulation(make_bodies(lattice.initial), lattice.force, lattice.time);
    const int first = SimulationAccess::force_settings(simulation).order;
    int raised_at = 0;
    for (int row = 1; row <= 12 && raised_at == 0; ++row) {
        SimulationAccess::advance(simulation, 8);
        const auto before = simulation.bodies();
        const auto found = simulation.diagnostics();
        EXPECT_LE(found.acceleration_error, 3e-3);
        EXPECT_LE(found.potential_error, 3e-3);
        if (SimulationAccess::force_settings(simulation).order == first) continue;
        raised_at = row;
        EXPECT_EQ(simulation.bodies().position, before.position)
            << "a leapfrog drifts before it asks for forces";
        EXPECT_NE(simulation.bodies().velocity, before.velocity) << "the last step was not taken again";
    }
    ASSERT_GT(raised_at, 0) << "this case is to miss its tolerance on the way";
    const auto& settings = SimulationAccess::force_settings(simulation);
    EXPECT_GT(std::max(settings.worst_acceleration_error, settings.worst_potential_error), 3e-3);
    auto force = lattice.force;
    force.order = settings.order;
    EXPECT_GT(force.order, first);
    const Simulation fresh(simulation.bodies(), force, lattice.time);
    EXPECT_EQ(fresh.acceleration(), simulation.acceleration());
    auto copy = simulation_from_bytes(simulation_bytes(simulation));
    EXPECT_EQ(SimulationAccess::force_settings(copy).order, force.order);
    for (auto* of : {&simulation, &copy}) SimulationAccess::advance(*of, 8);
    EXPECT_EQ(copy.bodies().velocity, simulation.bodies().velocity);
}

// Cells get no smaller: an order by hand stays, and one that ends at the highest says so.
TEST(GpuFmmSimulation, RefusesToleranceOutOfReach) {
    NEEDS_GPU();
    auto force = by_fmm(3);
    force.tolerance = 1e-6;
    const auto text = [&] {
        return error_of<ToleranceNotReached>(
            [&] { Simulation(crowd(400, 5), force, {.step = 0.1, .end = 1.0}); });
    };
    expect_contains(text(), {"above tolerance = 1e-06", "of order 3", "leave order out"});
    force.order = 0;
    force.precision = Precision::mixed;
    force.tolerance = 1e-12;
    expect_contains(text(), {"of order 20", "precision = double"});
}

TEST(GpuFmmSimulation, StopsWhereUnsoftenedBodiesMeet) {
    NEEDS_GPU();
    auto bodies = make({-1, 0, 0, 1, 0, 0}, {1, 0, 0, -1, 0, 0}, {0, 0});
    bodies.id = {5, 6};
    Simulation simulation(bodies, by_fmm(6), {.step = 0.25, .end = 2.0});
    expect_contains(error_of<InvalidArgument>([&] {
                        simulation.advance_to(2.0);
                        (void)simulation.bodies();
                    }),
                    {"step 4 from t = 0.75", "bodies 5 and 6", "softening"});
    const auto together = make({1, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 0}, {1, 1});
    expect_contains(
        error_of<InvalidArgument>([&] { Simulation(together, by_fmm(6), {.step = 0.25, .end = 2.0}); }),
        {"bodies 1 and 2", "same place"});
}

TEST(GpuFmmSimulation, TakesOtherPlaces) {
    NEEDS_GPU();
    const auto bodies = crowd(500, 3), others = crowd(500, 4);
    const TimeOptions time{.step = 0.01, .end = 1.0};
    Simulation simulation(bodies, by_fmm(6), time);
    simulation.step();
    auto there = simulation.bodies();
    there.position = others.position;
    simulation.set_positions(others.position);
    Simulation fresh(there, by_fmm(6), time);
    EXPECT_EQ(simulation.acceleration(), fresh.acceleration());
    simulation.step();
    fresh.step();
    EXPECT_EQ(simulation.bodies().velocity, fresh.bodies().velocity);
}

TEST(GpuFmmSimulation, IsAskedForByName) {
    NEEDS_GPU();
    auto force = by_fmm(6);
    const TimeOptions time{.step = 0.01, .end = 1000.0};
    force.device = {};
    EXPECT_EQ(SimulationAccess::backend(Simulation(crowd(400, 5), force, time)).device, DeviceKind::cpu);
    force.method = Method::automatic;
    force.device = {.kind = DeviceKind::cuda};
    EXPECT_EQ(SimulationAccess::force_settings(Simulation(crowd(400, 5), force, time)).method,
              Method::direct);
}

} // namespace
} // namespace farfield
