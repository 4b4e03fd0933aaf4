// Diagnostics against sums in long double, written from the definitions; independence of threads and of the
// order of the bodies.
#include "dynamics/bodies/radii.h"
#include "systems.h"

#include <farfield/run.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using Real = long double;

struct Expected {
    Real kinetic = 0;
    Real potential = 0;
    Real momentum[3] = {};
    Real angular[3] = {};
    Real angular_scale = 0; // Σ m |x × v|
    Real radii[3] = {};
};

// From the centre of mass: spheres of 0.9 of the radius of the one before, about the centre of mass of the
// bodies in it, while they hold more than 100 bodies and 1 % of them.
void shrink_to_density_centre(const Bodies& b, Real (&centre)[3]) {
    const auto distance = [&](std::size_t i) {
        Real r2 = 0;
        for (int k = 0; k < 3; ++k) r2 += std::pow(b.position[3 * i + k] - centre[k], 2);
        return std::sqrt(r2);
    };
    std::vector<bool> in(b.mass.size(), true);
    Real radius = 0;
    for (std::size_t i = 0; i < in.size(); ++i) radius = std::max(radius, distance(i));
    std::size_t count = in.size();
    const std::size_t least = std::max<std::size_t>(100, in.size() / 100);
    while (count > least) {
        radius *= 0.9L;
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = in[i] && distance(i) <= radius;
        count = static_cast<std::size_t>(std::count(in.begin(), in.end(), true));
        if (count < least) return;
        Real mass = 0;
        Real sum[3] = {};
        for (std::size_t i = 0; i < in.size(); ++i)
            for (int k = 0; in[i] && k < 3; ++k) {
                mass += k == 0 ? b.mass[i] : 0.0;
                sum[k] += static_cast<Real>(b.mass[i]) * b.position[3 * i + k];
            }
        for (int k = 0; k < 3; ++k) centre[k] = sum[k] / mass;
    }
}

/// The Lagrangian radii, about the density centre, which is returned.
std::array<Real, 3> find_radii(const Bodies& b, Real (&radii)[3]) {
    Real mass = 0;
    Real centre[3] = {};
    for (std::size_t i = 0; i < b.mass.size(); ++i) {
        mass += b.mass[i];
        for (int k = 0; k < 3; ++k) centre[k] += static_cast<Real>(b.mass[i]) * b.position[3 * i + k];
    }
    for (auto& c : centre) c /= mass;
    shrink_to_density_centre(b, centre);
    std::vector<std::pair<Real, Real>> shells; // distance, mass
    for (std::size_t i = 0; i < b.mass.size(); ++i) {
        Real r2 = 0;
        for (int k = 0; k < 3; ++k) r2 += std::pow(b.position[3 * i + k] - centre[k], 2);
        shells.emplace_back(std::sqrt(r2), b.mass[i]);
    }
    std::sort(shells.begin(), shells.end());
    for (int f = 0; f < 3; ++f) {
        const Real wanted = (f == 0 ? 0.1L : f == 1 ? 0.5L : 0.9L) * mass;
        Real inside = 0;
        for (const auto& [r, m] : shells) {
            inside += m;
            radii[f] = r;
            if (inside >= wanted * (1 - 1e-12L)) break;
        }
    }
    return {centre[0], centre[1], centre[2]};
}

Expected expected(const Bodies& b, const ForceOptions& force) {
    Expected out;
    const auto& s = force.kernel == Kernel::coulomb ? b.charge : b.mass;
    const Real sign = force.kernel == Kernel::coulomb ? 1 : -1;
    for (std::size_t i = 0; i < b.mass.size(); ++i) {
        const Real m = b.mass[i];
        const Real x[3] = {b.position[3 * i], b.position[3 * i + 1], b.position[3 * i + 2]};
        const Real v[3] = {b.velocity[3 * i], b.velocity[3 * i + 1], b.velocity[3 * i + 2]};
        const Real l[3] = {x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]};
        for (int k = 0; k < 3; ++k) {
            out.kinetic += m * v[k] * v[k] / 2;
            out.momentum[k] += m * v[k];
            out.angular[k] += m * l[k];
        }
        out.angular_scale += m * std::sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
        for (std::size_t j = 0; j < i; ++j) {
            Real r2 = static_cast<Real>(force.softening) * force.softening;
            for (int k = 0; k < 3; ++k) r2 += (x[k] - b.position[3 * j + k]) * (x[k] - b.position[3 * j + k]);
            out.potential += sign * force.G * s[i] * s[j] / std::sqrt(r2);
        }
    }
    find_radii(b, out.radii);
    return out;
}

void expect_oracle(const Bodies& bodies, const ForceOptions& force) {
    Simulation simulation(bodies, force, {.step = 0.1, .end = 1.0}, 0.5);
    const auto d = simulation.diagnostics();
    const auto e = expected(bodies, force);
    // Pairwise sums of some 200 terms: a few roundings of 1e-16 of the sum of magnitudes.
    const auto close = [](double value, Real oracle, Real scale) {
        EXPECT_LT(std::abs(value - oracle), 1e-14L * scale);
    };
    EXPECT_EQ(d.time, 0.5);
    close(d.kinetic, e.kinetic, e.kinetic);
    close(d.potential, e.potential, 10 * std::abs(e.potential));
    EXPECT_EQ(d.total, d.kinetic + d.potential);
    EXPECT_EQ(d.relative_energy_error, 0.0);
    EXPECT_EQ(d.virial_ratio, -d.kinetic / d.potential);
    for (int k = 0; k < 3; ++k) {
        close(d.momentum[k], e.momentum[k], 1);
        close(d.angular_momentum[k], e.angular[k], e.angular_scale);
        close(d.lagrangian_radii[k], e.radii[k], e.radii[k]);
    }
}

TEST(Diagnostics, AgreeWithLongDoubleForGravity) {
    auto bodies = test::crowd(201, 3);
    for (std::size_t i = 0; i < bodies.position.size(); ++i) bodies.position[i] += 3.0; // off the origin
    expect_oracle(bodies, {.G = 1.5, .softening = 0.03});
}

TEST(Diagnostics, AgreeWithLongDoubleForCharges) {
    auto bodies = test::crowd(150, 4);
    for (int i = 0; i < 150; ++i) bodies.charge.push_back(i % 3 == 0 ? -0.2 : 0.11);
    expect_oracle(bodies, {.kernel = Kernel::coulomb, .G = 0.5});
}

/// So many that blocks of bodies are left alone and distances have buckets.
void expect_radii(const Bodies& bodies) {
    Real radii[3];
    const auto centre = find_radii(bodies, radii);
    const Real roundings = 1e-14L * (std::hypot(centre[0], centre[1], centre[2]) + radii[2]);
    const auto of_one = density_centre(bodies, 1);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_LT(std::abs(of_one[k] - centre[k]), roundings);
    const auto found = lagrangian_radii(bodies, 1);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_LT(std::abs(found[k] - radii[k]), roundings);
    for (const int threads : {2, 7}) {
        EXPECT_EQ(density_centre(bodies, threads), of_one);
        EXPECT_EQ(lagrangian_radii(bodies, threads), found);
    }
}

TEST(LagrangianRadii, OfPlummersModelAgreeWithLongDouble) {
    InitialOptions options;
    options.n = 20000;
    expect_radii(make_bodies(options));
}

// Spheres hold both clusters at first, and leave the lighter one in one step after the other.
TEST(LagrangianRadii, OfTwoClustersAgreeWithLongDouble) {
    InitialOptions options;
    options.kind = InitialKind::two_clusters;
    options.n = 20000;
    options.mass_ratio = 0.4;
    options.separation = 30.0;
    options.impact_parameter = 1.0;
    expect_radii(make_bodies(options));
}

TEST(LagrangianRadii, WithFewFarBodiesAgreeWithLongDouble) {
    auto bodies = test::crowd(10000, 12);
    for (std::size_t i = 0; i < 10000; i += 500) bodies.position[3 * i] = i % 1000 == 0 ? 1e6 : 3e3;
    expect_radii(bodies);
    for (double& x : bodies.position) x += 1e4; // far from the origin
    expect_radii(bodies);
}

TEST(LagrangianRadii, WithBodiesAtOnePlaceAndWithoutMassAgreeWithLongDouble) {
    auto bodies = test::crowd(6000, 13);
    for (std::size_t i = 0; i < 2000; ++i)
        for (std::size_t k = 0; k < 3; ++k) bodies.position[3 * i + k] = bodies.position[k];
    for (std::size_t i = 3; i < 6000; i += 7) bodies.mass[i] = 0.0;
    expect_radii(bodies);
}

// A median of equal masses is the distance of the body in the middle, for many of them, too, and where they
// have one distance from the centre, nearly.
TEST(LagrangianRadii, OfManyEqualMassesDoNotDependOnRounding) {
    constexpr std::size_t n = 4000000;
    Bodies bodies;
    bodies.mass.assign(n, 1.0 / n);
    bodies.position.assign(3 * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) // on both sides, the farther out the later
        bodies.position[3 * i] = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + 0.01 * static_cast<double>(i) / n);
    const auto centre = density_centre(bodies, 2);
    const auto radii = lagrangian_radii(bodies, 2);
    std::vector<double> distances;
    for (std::size_t i = 0; i < n; ++i)
        distances.push_back(std::hypot(bodies.position[3 * i] - centre[0], centre[1], centre[2]));
    std::sort(distances.begin(), distances.end());
    const std::array<std::size_t, 3> last{n / 10 - 1, n / 2 - 1, n / 10 * 9 - 1};
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(radii[k], distances[last[k]], 1e-15);
}

// A sphere around bodies at its centre never has fewer, however small it is.
TEST(LagrangianRadii, OfBodiesAtTheCentreAreZero) {
    auto bodies = test::crowd(300, 15);
    std::fill_n(bodies.position.begin(), 3 * 280, 0.0);
    EXPECT_EQ(density_centre(bodies, 2), (std::array<double, 3>{}));
    EXPECT_EQ(lagrangian_radii(bodies, 2)[1], 0.0);
}

// The square of its distance is: a run says so.
TEST(LagrangianRadii, OfABodyTooFarAwayAreInfinite) {
    auto bodies = test::crowd(200, 14);
    bodies.position[30] = 1e200;
    EXPECT_EQ(lagrangian_radii(bodies, 2)[2], HUGE_VAL);
}

// A tenth of the mass flies far off: the radii are still those of the cluster.
TEST(Diagnostics, RadiiAreAboutTheDensityCentre) {
    auto bodies = test::crowd(1000, 5);
    for (double& v : bodies.velocity) v = 0.0;
    for (std::size_t i = 0; i < 1000; ++i) bodies.mass[i] = 1e-3;
    const auto alone = Simulation(bodies, {.softening = 0.1}, {.step = 0.1, .end = 1.0}).diagnostics();
    for (std::size_t i = 900; i < 1000; ++i) bodies.position[3 * i] += 300.0;
    const auto torn = Simulation(bodies, {.softening = 0.1}, {.step = 0.1, .end = 1.0}).diagnostics();
    EXPECT_NEAR(torn.lagrangian_radii[1], alone.lagrangian_radii[1], 0.15 * alone.lagrangian_radii[1]);
}

// Ten equal masses: the 1st, 5th and 9th body reach 10, 50 and 90 %, though 0.1 + 0.1 + … is not exact.
TEST(Diagnostics, LagrangianRadiiOfEqualMasses) {
    std::vector<double> x;
    for (int i = 1; i <= 5; ++i)
        for (double side : {-1.0, 1.0}) x.insert(x.end(), {side * (i + (side > 0 ? 0.0 : 1e-3)), 0, 0});
    auto bodies = test::make(x, std::vector<double>(30, 0.0), std::vector<double>(10, 0.1));
    Simulation simulation(bodies, {}, {.step = 0.1, .end = 1.0});
    const auto radii = simulation.diagnostics().lagrangian_radii;
    const double centre = -5e-4; // of mass: the left half is 1e-3 further out
    EXPECT_NEAR(radii[0], 1.0 + centre + 1e-3, 1e-12);
    EXPECT_NEAR(radii[1], 3.0, 1e-2);
    EXPECT_NEAR(radii[2], 5.0, 1e-2);
}

TEST(Diagnostics, OfMasslessBodiesAreZeroNotNan) {
    auto bodies = test::crowd(5, 6);
    bodies.mass.assign(5, 0.0);
    Simulation simulation(bodies, {}, {.step = 0.1, .end = 1.0});
    const auto d = simulation.diagnostics();
    EXPECT_EQ(d.total, 0.0);
    EXPECT_EQ(d.virial_ratio, 0.0);
    EXPECT_EQ(d.relative_energy_error, 0.0);
    EXPECT_EQ(d.lagrangian_radii, (std::array<double, 3>{}));
}

TEST(Diagnostics, HaveTheSameBitsForAnyNumberOfThreads) {
    const auto bodies = test::crowd(1000, 8);
    std::vector<Diagnostics> all;
    for (int threads : {1, 2, 7}) {
        Simulation simulation(bodies, {.softening = 0.01, .threads = threads}, {.step = 0.01, .end = 0.02});
        (void)simulation.diagnostics();
        simulation.advance_to(0.02);
        all.push_back(simulation.diagnostics());
    }
    for (const auto& d : all) {
        EXPECT_EQ(d.kinetic, all[0].kinetic);
        EXPECT_EQ(d.potential, all[0].potential);
        EXPECT_EQ(d.relative_energy_error, all[0].relative_energy_error);
        EXPECT_EQ(d.angular_momentum, all[0].angular_momentum);
        EXPECT_EQ(d.lagrangian_radii, all[0].lagrangian_radii);
    }
}

TEST(Diagnostics, PotentialIsInDoubleWhateverThePrecisionOfTheForces) {
    const auto bodies = test::crowd(100, 9);
    std::vector<double> potentials;
    for (auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
        Simulation simulation(bodies, {.softening = 0.01, .precision = precision},
                              {.step = 0.01, .end = 0.02});
        potentials.push_back(simulation.diagnostics().potential);
    }
    EXPECT_EQ(potentials[1], potentials[0]);
    EXPECT_EQ(potentials[2], potentials[0]);
}

} // namespace
} // namespace farfield
