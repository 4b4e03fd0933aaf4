// Clusters of many bodies: their profiles, velocities and energies against the formulas of the papers.
// Seeds are fixed; the limits allow what chance does once in ten thousand.
#include "dynamics/initial/hernquist_distribution.h"
#include "dynamics/initial/king_profile.h"
#include "unit/initial/statistics.h"

#include <gtest/gtest.h>

#include <numbers>

using namespace farfield;
using namespace farfield::statistics;

namespace {

InitialOptions options_of(InitialKind kind, std::int64_t n) {
    InitialOptions options;
    options.kind = kind;
    options.n = n;
    options.seed = 12345;
    return options;
}

void expect_at_rest_at_origin(const Bodies& bodies) {
    for (const double x : mean(bodies, bodies.position)) EXPECT_NEAR(x, 0.0, 1e-14);
    for (const double v : mean(bodies, bodies.velocity)) EXPECT_NEAR(v, 0.0, 1e-14);
}

void expect_at_rest(const Bodies& bodies) {
    for (const double v : mean(bodies, bodies.velocity)) EXPECT_NEAR(v, 0.0, 1e-14);
}

// A sample of n bodies has V and T right to about 1/√n, relatively.
void expect_standard_units(const Bodies& bodies) {
    const double scatter = 4.0 / std::sqrt(static_cast<double>(bodies.size()));
    const double t = kinetic(bodies);
    const double v = potential(bodies);
    EXPECT_NEAR(v, -0.5, 0.5 * scatter);
    EXPECT_NEAR(-t / v, 0.5, 0.5 * scatter);
    EXPECT_NEAR(t + v, -0.25, 0.25 * scatter);
}

constexpr double plummer_a = 3.0 * std::numbers::pi / 16.0;
constexpr std::int64_t many = 20000;
constexpr std::int64_t some = 6000; // for sums over pairs

} // namespace

TEST(Plummer, MassProfile) {
    const Bodies bodies = make_bodies(options_of(InitialKind::plummer, many));
    const auto law = [](double r) { return std::pow(1.0 + plummer_a * plummer_a / (r * r), -1.5); };
    EXPECT_LT(kolmogorov_smirnov(lengths(bodies.position), law), ks_limit);
    expect_at_rest_at_origin(bodies);
}

TEST(Plummer, VelocitiesAreIsotropicWithThePapersDispersion) {
    const Bodies bodies = make_bodies(options_of(InitialKind::plummer, many));
    // σ² = GM/(6 √(r² + a²)) in each direction.
    const auto found =
        scaled_dispersions(bodies, 1e9, [](double r) { return 1.0 / (6.0 * std::hypot(r, plummer_a)); });
    EXPECT_NEAR(found[0], 1.0, 0.04);
    EXPECT_NEAR(found[1], 1.0, 0.03);
}

TEST(Plummer, SpeedsFollowTheDistributionFunction) {
    const Bodies bodies = make_bodies(options_of(InitialKind::plummer, many));
    std::vector<double> ratios(static_cast<std::size_t>(bodies.size()));
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        const double escape = std::sqrt(2.0 / std::hypot(length(row(bodies.position, i)), plummer_a));
        ratios[i] = length(row(bodies.velocity, i)) / escape;
    }
    // The cumulative integral of q²(1 − q²)^(7/2), by the midpoint rule.
    const auto integral = [](double q) {
        double sum = 0.0;
        for (int i = 0; i < 200; ++i) {
            const double x = q * (i + 0.5) / 200.0;
            sum += x * x * std::pow(1.0 - x * x, 3.5) * q / 200.0;
        }
        return sum;
    };
    const double whole = integral(1.0);
    EXPECT_LT(kolmogorov_smirnov(ratios, [&](double q) { return q < 1.0 ? integral(q) / whole : 1.0; }),
              ks_limit);
}

TEST(Plummer, StandardUnits) { expect_standard_units(make_bodies(options_of(InitialKind::plummer, some))); }

TEST(Plummer, CutoffRadius) {
    auto options = options_of(InitialKind::plummer, some);
    options.cutoff_radius = 2.0;
    const Bodies bodies = make_bodies(options);
    const auto radii = lengths(bodies.position);
    EXPECT_LT(*std::max_element(radii.begin(), radii.end()),
              2.0 + 0.1); // 0.1: the move to the centre of mass
    const auto shape = [](double r) { return std::pow(1.0 + plummer_a * plummer_a / (r * r), -1.5); };
    EXPECT_LT(kolmogorov_smirnov(radii, [&](double r) { return std::min(1.0, shape(r) / shape(2.0)); }),
              ks_limit);
}

TEST(Hernquist, MassProfile) {
    const Bodies bodies = make_bodies(options_of(InitialKind::hernquist, many));
    const double a = 1.04 / 3.0;
    const auto law = [&](double r) { return std::min(1.0, std::pow(r / (r + a) * 1.01, 2)); };
    EXPECT_LT(kolmogorov_smirnov(lengths(bodies.position), law), ks_limit);
    expect_at_rest(bodies);
}

// The tail reaches to 100 scale lengths: moved to the centre of mass, the cusp would lie off the origin by
// more than the radius counted here.
TEST(Hernquist, CuspIsAtTheOrigin) {
    constexpr double radius = 0.02;
    constexpr double scale_length = 1.04 / 3.0;
    const double root = radius / (radius + scale_length) / (100.0 / 101.0);
    double found = 0.0;
    double expected = 0.0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        auto options = options_of(InitialKind::hernquist, many);
        options.seed = seed;
        for (const double r : lengths(make_bodies(options).position)) found += r < radius ? 1.0 : 0.0;
        expected += root * root * many;
    }
    EXPECT_NEAR(found, expected, 4.0 * std::sqrt(expected));
}

TEST(King, CoreIsAtTheOrigin) {
    auto options = options_of(InitialKind::king, many);
    options.w0 = 15.0;
    const KingProfile profile = king_profile(options.w0);
    const double virial_radius =
        -0.5 * profile.total_mass() * profile.total_mass() / profile.potential_energy;
    const auto core = static_cast<std::size_t>(
        std::upper_bound(profile.mass.begin(), profile.mass.end(), 0.002 * profile.total_mass()) -
        profile.mass.begin());
    double expected = 0.0;
    double found = 0.0;
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
        expected += profile.mass[core] / profile.total_mass() * many;
        for (const double r : lengths(make_bodies(options).position))
            found += r < profile.x[core] / virial_radius ? 1.0 : 0.0;
    }
    EXPECT_NEAR(found, expected, 4.0 * std::sqrt(expected));
}

TEST(Hernquist, DispersionOfThePaper) {
    const Bodies bodies = make_bodies(options_of(InitialKind::hernquist, many));
    const double a = 1.04 / 3.0;
    const double mass = 1.01 * 1.01; // of the whole model
    const auto eq10 = [&](double r) {
        const double x = r / a;
        const double y = 1.0 + x;
        return mass / (12.0 * a) *
               (12.0 * x * y * y * y * std::log(y / x) - x / y * (25.0 + x * (52.0 + x * (42.0 + 12.0 * x))));
    };
    const auto found = scaled_dispersions(bodies, 10.0 * a, eq10);
    EXPECT_NEAR(found[0], 1.0, 0.05);
    EXPECT_NEAR(found[1], 1.0, 0.05);
}

// Where q is small the terms of the paper's form cancel to q⁵: long double keeps six digits there.
TEST(Hernquist, DistributionFunctionOfThePaper) {
    for (long double q : {0.03L, 0.1L, 0.19L, 0.199999L, 0.200001L, 0.21L, 0.5L, 0.8L, 0.95L, 0.9999L}) {
        const long double u = 1 - q * q;
        const long double paper =
            (3 * std::asin(q) + q * std::sqrt(u) * (1 - 2 * q * q) * (8 * q * q * q * q - 8 * q * q - 3)) /
            std::pow(u, 2.5L);
        EXPECT_NEAR(hernquist_distribution(static_cast<double>(q * q)) / static_cast<double>(paper), 1.0,
                    1e-8)
            << "q = " << q;
    }
}

TEST(Hernquist, StandardUnits) {
    expect_standard_units(make_bodies(options_of(InitialKind::hernquist, some)));
}

// Concentrations log10(r_t/r_c) of King (1966) and of Binney & Tremaine, Galactic Dynamics, fig. 4.9.
TEST(King, ConcentrationOfKnownModels) {
    const std::array<std::array<double, 2>, 6> known{
        {{1.0, 0.296}, {3.0, 0.672}, {5.0, 1.030}, {6.0, 1.255}, {9.0, 2.119}, {12.0, 2.739}}};
    for (const auto& [w0, concentration] : known)
        EXPECT_NEAR(std::log10(king_profile(w0).tidal_radius()), concentration, 0.0015) << "W0 = " << w0;
}

TEST(King, DensityIsTheLoweredMaxwellians) {
    for (const double w : {0.5, 1.0, 3.0, 6.0, 12.0})
        EXPECT_NEAR(king_density(w) / (std::exp(w) * std::erf(std::sqrt(w)) -
                                       std::sqrt(4.0 * w / std::numbers::pi) * (1.0 + 2.0 * w / 3.0)),
                    1.0, 1e-12)
            << "W = " << w; // below W = 0.5 the terms of this form cancel
}

// Radii against a mass profile integrated here, by the midpoint rule in equal steps with the error function.
TEST(King, MassProfile) {
    const double w0 = 6.0;
    const auto density = [](double w) {
        return w <= 0.0 ? 0.0
                        : std::exp(w) * std::erf(std::sqrt(w)) -
                              std::sqrt(4.0 * w / std::numbers::pi) * (1.0 + 2.0 * w / 3.0);
    };
    std::vector<double> mass{0.0};
    const double h = 1e-3;
    double w = w0;
    double inside = 0.0;
    double energy = 0.0;
    for (double x = 0.5 * h; w > 0.0; x += h) { // w at x − h/2; mass inside x − h/2
        const double half_w = w - (x > h ? 0.5 * h * inside / ((x - 0.5 * h) * (x - 0.5 * h)) : 0.0);
        const double half_mass =
            inside + 4.5 * h * (x - 0.25 * h) * (x - 0.25 * h) * density(w) / density(w0);
        const double shell = 9.0 * h * x * x * density(half_w) / density(w0);
        energy -= half_mass * shell / x;
        w -= h * half_mass / (x * x);
        inside += shell;
        mass.push_back(inside);
    }
    const double unit = -2.0 * energy / (inside * inside); // 1/virial radius
    const Bodies bodies = make_bodies(options_of(InitialKind::king, many));
    const auto law = [&](double r) {
        const auto place = std::min(static_cast<std::size_t>(r / unit / h), mass.size() - 1);
        return mass[place] / inside;
    };
    EXPECT_LT(kolmogorov_smirnov(lengths(bodies.position), law), ks_limit);
    expect_at_rest(bodies);
}

// Each speed, through the cumulative law u²(e^(W−u²) − 1) of its place, becomes a uniform number.
TEST(King, SpeedsFollowTheLoweredMaxwellian) {
    for (const double w0 : {0.5, 3.0, 9.0}) {
        auto options = options_of(InitialKind::king, many);
        options.w0 = w0;
        const Bodies bodies = make_bodies(options);
        const KingProfile profile = king_profile(w0);
        const double virial_radius =
            -0.5 * profile.total_mass() * profile.total_mass() / profile.potential_energy;
        const double unit = std::sqrt(2.0 * virial_radius / profile.total_mass());
        std::vector<double> numbers;
        for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
            const double x = length(row(bodies.position, i)) * virial_radius;
            const auto after = std::upper_bound(profile.x.begin(), profile.x.end(), x);
            if (after == profile.x.end()) continue; // on the edge
            const auto b = static_cast<std::size_t>(after - profile.x.begin());
            const double t = (x - profile.x[b - 1]) / (profile.x[b] - profile.x[b - 1]);
            const double w = profile.w[b - 1] + t * (profile.w[b] - profile.w[b - 1]);
            const auto law = [&](double u) {
                const double gauss =
                    0.25 * std::sqrt(std::numbers::pi) * std::erf(u) - 0.5 * u * std::exp(-u * u);
                return std::exp(w) * gauss - u * u * u / 3.0;
            };
            const double u = std::min(length(row(bodies.velocity, i)) / unit, std::sqrt(w));
            numbers.push_back(law(u) / law(std::sqrt(w)));
        }
        EXPECT_LT(kolmogorov_smirnov(numbers, [](double p) { return p; }), ks_limit) << "W0 = " << w0;
    }
}

TEST(King, StandardUnits) {
    for (const double w0 : {1.0, 6.0, 12.0}) {
        auto options = options_of(InitialKind::king, some);
        options.w0 = w0;
        SCOPED_TRACE(w0);
        expect_standard_units(make_bodies(options));
    }
}

TEST(UniformSphere, MassProfileAndVirialRatio) {
    auto options = options_of(InitialKind::uniform_sphere, some);
    const Bodies warm = make_bodies(options);
    EXPECT_LT(kolmogorov_smirnov(lengths(warm.position),
                                 [](double r) { return std::min(1.0, std::pow(r / 1.2, 3)); }),
              ks_limit);
    expect_standard_units(warm);
    expect_at_rest_at_origin(warm);
    options.virial_ratio = 0.1;
    EXPECT_NEAR(kinetic(make_bodies(options)), 0.05, 0.002);
    options.virial_ratio = 0.0;
    const Bodies cold = make_bodies(options);
    EXPECT_EQ(kinetic(cold), 0.0);
    EXPECT_EQ(cold.position, warm.position);
    EXPECT_TRUE(cold.charge.empty());
}

TEST(UniformSphere, Charges) {
    auto options = options_of(InitialKind::uniform_sphere, 1000);
    options.charge = 2.0;
    const Bodies neutral = make_bodies(options);
    ASSERT_EQ(neutral.charge.size(), 1000U);
    EXPECT_EQ(std::count(neutral.charge.begin(), neutral.charge.end(), 0.002), 500);
    EXPECT_EQ(std::count(neutral.charge.begin(), neutral.charge.end(), -0.002), 500);
    options.negative_fraction = 0.25;
    const Bodies positive = make_bodies(options);
    EXPECT_EQ(std::count(positive.charge.begin(), positive.charge.end(), -0.002), 250);
    neutral.validate();
}

TEST(TwoClusters, OrbitAndMasses) {
    auto options = options_of(InitialKind::two_clusters, 3000);
    options.mass_ratio = 0.5;
    options.separation = 8.0;
    options.impact_parameter = 3.0;
    const Bodies bodies = make_bodies(options);
    bodies.validate();
    ASSERT_EQ(bodies.size(), 3000);
    expect_at_rest_at_origin(bodies);
    std::array<Bodies, 2> clusters;
    for (std::size_t i = 0; i < 3000; ++i) {
        Bodies& cluster = clusters[i < 2000 ? 0 : 1];
        for (std::size_t k = 0; k < 3; ++k) {
            cluster.position.push_back(bodies.position[3 * i + k]);
            cluster.velocity.push_back(bodies.velocity[3 * i + k]);
        }
        cluster.mass.push_back(bodies.mass[i]);
    }
    const auto x1 = mean(clusters[0], clusters[0].position);
    const auto x2 = mean(clusters[1], clusters[1].position);
    const auto v1 = mean(clusters[0], clusters[0].velocity);
    const auto v2 = mean(clusters[1], clusters[1].velocity);
    const std::array<double, 3> x{x2[0] - x1[0], x2[1] - x1[1], x2[2] - x1[2]};
    const std::array<double, 3> v{v2[0] - v1[0], v2[1] - v1[1], v2[2] - v1[2]};
    EXPECT_NEAR(length(x), 8.0, 1e-12);
    EXPECT_NEAR(x[1], 3.0, 1e-12);
    EXPECT_NEAR(0.5 * dot(v, v) - 1.5 / 8.0, 0.0, 1e-12); // parabolic: no energy at infinity
    EXPECT_LT(v[0], 0.0);
    EXPECT_NEAR(v[1], 0.0, 1e-12);
    // The second has half the mass and the same density: V ∝ M^(5/3).
    EXPECT_NEAR(potential(clusters[1]) / potential(clusters[0]), std::pow(0.5, 5.0 / 3.0), 0.04);
    options.relative_speed = 2.0;
    const Bodies fast = make_bodies(options);
    const double first = fast.velocity[0] - bodies.velocity[0]; // body 1 belongs to the first cluster
    EXPECT_NEAR(first, (2.0 - length(v)) / 3.0, 1e-12);
}
