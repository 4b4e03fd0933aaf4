// Each integrator on the CPU: orbits of two bodies (parity/orbit_cases.h); time reversal of the symplectic
// ones; the figure-eight after one period; adaptive Hermite steps.
#include "systems.h"

#include "dynamics/integrators/integrator.h"
#include "parity/orbit_cases.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace farfield {
namespace {

using test::KeplerOrbit;

class EachIntegrator : public testing::TestWithParam<Integrator> {};
INSTANTIATE_TEST_SUITE_P(All, EachIntegrator, testing::ValuesIn([] {
                             std::vector<Integrator> all;
                             for (const auto* d : integrators()) all.push_back(d->value);
                             return all;
                         }()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

using test::Orbits;
INSTANTIATE_TEST_SUITE_P(OnCpu, Orbits, testing::ValuesIn([] {
                             std::vector<test::IntegratorOn> all;
                             for (const auto* d : integrators()) all.push_back({d->value, DeviceKind::cpu});
                             return all;
                         }()),
                         test::name_of_pair);

Bodies run(Bodies bodies, Integrator integrator, double step, double end, const ForceOptions& force = {}) {
    Simulation simulation(std::move(bodies), force, {.integrator = integrator, .step = step, .end = end});
    simulation.advance_to(end);
    EXPECT_TRUE(simulation.finished());
    EXPECT_EQ(simulation.time(), end);
    return simulation.bodies();
}

// Forth, velocities flipped, and back: only rounding is left. A step of 1/64 leaves truncation errors of 1e-3
// (leapfrog), so the bound of 1e-11 tells reversibility from mere accuracy.
TEST_P(EachIntegrator, RunsBackToItsStartIfSymplectic) {
    const auto start = test::crowd(20, 5);
    const ForceOptions force{.softening = 0.05};
    auto middle = run(start, GetParam(), 1.0 / 64, 1.0, force);
    for (double& v : middle.velocity) v = -v;
    const auto back = run(middle, GetParam(), 1.0 / 64, 1.0, force);
    const double error = test::distance(back.position, start.position);
    if (descriptor_of(GetParam()).symplectic)
        EXPECT_LT(error, 1e-11);
    else
        EXPECT_GT(error, 1e-11);
}

// Simó's initial values have 8 digits, so the orbit closes to some 1e-7 at best; the order gives the rest:
// from the error at a step, the error at half that step.
TEST_P(EachIntegrator, FigureEightReturnsToItsStart) {
    const auto start = test::figure_eight();
    const double period = test::figure_eight_period;
    const auto fine = run(start, Integrator::yoshida4, period / 16384, period);
    EXPECT_LT(test::distance(fine.position, start.position), 1e-6);

    const double coarse_error =
        test::distance(run(start, GetParam(), period / 1024, period).position, fine.position);
    const double fine_error =
        test::distance(run(start, GetParam(), period / 2048, period).position, fine.position);
    EXPECT_NEAR(std::log2(coarse_error / fine_error), descriptor_of(GetParam()).order, 0.2)
        << coarse_error << ' ' << fine_error;
    EXPECT_LT(test::distance(run(start, GetParam(), period / 2048, period).position, start.position),
              1e-6 + 1.1 * fine_error);
}

TEST(Hermite4, AdaptiveStepsFollowTheOrbit) {
    const KeplerOrbit orbit{.mu = 1, .a = 1, .e = 0.9L};
    const double end = static_cast<double>(orbit.period());
    const auto exact = test::two_bodies(orbit, 0.75, 0.25, end);
    std::vector<double> errors;
    for (double eta : {0.02, 0.005}) {
        Simulation simulation(
            test::two_bodies(orbit, 0.75, 0.25), {},
            {.integrator = Integrator::hermite4, .step = 1.0, .end = end, .adaptive = true, .eta = eta});
        double before = 0.0;
        double shortest = 1.0;
        double longest = 0.0;
        while (!simulation.finished()) {
            simulation.step();
            // Not the cautious first steps, nor the last, which is cut at the end.
            if (simulation.step_count() > 16 && !simulation.finished()) {
                shortest = std::min(shortest, simulation.time() - before);
                longest = std::max(longest, simulation.time() - before);
            }
            before = simulation.time();
        }
        // Kepler's time scale goes as r^{3/2}: (1.9/0.1)^1.5 = 83 between apocentre and pericentre.
        EXPECT_GT(longest / shortest, 20.0);
        EXPECT_LT(longest / shortest, 200.0);
        errors.push_back(test::distance(simulation.bodies().position, exact.position));
    }
    // A quarter of η is half of every step: order 4 gives 16.
    EXPECT_GT(errors[0] / errors[1], 8.0) << errors[0] << ' ' << errors[1];
    EXPECT_LT(errors[1], 1e-4);
}

TEST(Integrators, HaveNamesForEveryValue) {
    for (const auto* d : integrators()) {
        EXPECT_EQ(from_name<Integrator>(name_of(d->value)), d->value);
        EXPECT_FALSE(d->text.empty());
    }
    EXPECT_EQ(names_of<Integrator>().size(), 4U);
    EXPECT_FALSE(from_name<Integrator>("euler"));
}

} // namespace
} // namespace farfield
