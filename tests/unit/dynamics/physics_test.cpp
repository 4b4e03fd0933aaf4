// Conservation and known values in systems that users run: a Plummer cluster and the solar system.
#include "effort.h"
#include "systems.h"

#include <farfield/run.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace farfield {
namespace {

// A quarter of the crossing-time scale of the full bar (N = 4096, 4 time units), which is a benchmark.
TEST(Plummer, KeepsEnergyMomentumAndAngularMomentum) {
    InitialOptions initial;
    initial.n = 256;
    initial.seed = 3;
    const auto bodies = make_bodies(initial);
    const double end_time = test::sized(0.5, 0.125);
    for (auto integrator : {Integrator::leapfrog, Integrator::yoshida4, Integrator::hermite4}) {
        Simulation simulation(bodies, {.softening = 0.01},
                              {.integrator = integrator, .step = 1.0 / 1024, .end = end_time});
        const auto start = simulation.diagnostics();
        simulation.advance_to(end_time);
        const auto end = simulation.diagnostics();
        EXPECT_LT(std::abs(end.relative_energy_error), 1e-4) << name_of(integrator);
        EXPECT_NE(end.relative_energy_error, 0.0) << name_of(integrator);
        // Leapfrog and its compositions keep both up to rounding; Hermite's corrector sees no Newton's third
        // law.
        const double tolerance = integrator == Integrator::hermite4 ? 1e-6 : 1e-13;
        const double scale = test::angular_scale(bodies);
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(end.angular_momentum[k], start.angular_momentum[k], tolerance * scale)
                << name_of(integrator);
            EXPECT_NEAR(end.momentum[k], start.momentum[k], tolerance) << name_of(integrator);
        }
    }
}

// The Earth-Moon barycentre about the Sun.
struct Heliocentric {
    std::array<double, 3> r{};
    std::array<double, 3> v{};
};

Heliocentric earth_about_sun(const Bodies& b) {
    constexpr std::size_t sun = 0;
    constexpr std::size_t earth = 3;
    constexpr std::size_t moon = 4;
    Heliocentric out;
    const double share = b.mass[moon] / (b.mass[earth] + b.mass[moon]);
    for (std::size_t k = 0; k < 3; ++k) {
        out.r[k] = (1 - share) * b.position[3 * earth + k] + share * b.position[3 * moon + k] -
                   b.position[3 * sun + k];
        out.v[k] = (1 - share) * b.velocity[3 * earth + k] + share * b.velocity[3 * moon + k] -
                   b.velocity[3 * sun + k];
    }
    return out;
}

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double norm(const std::array<double, 3>& a) { return std::sqrt(dot(a, a)); }

// Known values: the sidereal year of 365.25636 d; perihelion and aphelion of 0.98329 and 1.01671 au. The
// other planets pull the barycentre to and fro by up to some 20 seconds of arc along its orbit, 0.006 days;
// over ten years that leaves a tenth of it. The Moon's orbit, the shortest, has 109 steps.
TEST(SolarSystem, HasEarthsYearAndKeepsItsEnergyForTenYears) {
    InitialOptions initial;
    initial.kind = InitialKind::solar_system;
    const auto bodies = make_bodies(initial);
    ASSERT_EQ(bodies.size(), 10);
    const double step = 0.25;
    const double end = 3660.0;
    Simulation simulation(bodies, {.G = natural_G(initial)},
                          {.integrator = Integrator::yoshida4, .step = step, .end = end});
    const auto start_of_energy = simulation.diagnostics();
    EXPECT_LT(start_of_energy.total, 0.0);

    const auto start = earth_about_sun(bodies);
    std::vector<double> years; // times at which the barycentre crosses its first direction again
    double nearest = 10.0;
    double farthest = 0.0;
    double before = 0.0; // height over the line through the Sun that the orbit crosses at the start
    // A vector in the plane of the orbit, across the first direction.
    std::array<double, 3> across{};
    for (std::size_t k = 0; k < 3; ++k)
        across[k] = start.v[k] - start.r[k] * dot(start.r, start.v) / dot(start.r, start.r);
    while (!simulation.finished()) {
        simulation.step();
        const auto now = earth_about_sun(simulation.bodies());
        nearest = std::min(nearest, norm(now.r));
        farthest = std::max(farthest, norm(now.r));
        const double height = dot(now.r, across);
        if (before < 0.0 && height >= 0.0 && dot(now.r, start.r) > 0.0)
            years.push_back(simulation.time() - height / dot(now.v, across));
        before = height;
    }
    ASSERT_EQ(years.size(), 10U);
    EXPECT_NEAR(years.front(), 365.2564, 0.012);
    EXPECT_NEAR(years.back() / 10, 365.2564, 0.002);
    RecordProperty("first_year", std::to_string(years.front()));
    RecordProperty("mean_year", std::to_string(years.back() / 10));
    EXPECT_NEAR(nearest, 0.98329, 1e-4);
    EXPECT_NEAR(farthest, 1.01671, 1e-4);
    const auto last = simulation.diagnostics();
    EXPECT_LT(std::abs(last.relative_energy_error), 1e-9) << last.relative_energy_error;
    EXPECT_NE(last.relative_energy_error, 0.0);
}

} // namespace
} // namespace farfield
