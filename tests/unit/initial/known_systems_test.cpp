// Systems of few bodies against what is known of them, and what holds for every model.
#include "dynamics/initial/model.h"
#include "io/snapshot.h"
#include "unit/initial/statistics.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <numbers>
#include <set>
#include <string>

#include <unistd.h>

using namespace farfield;
using namespace farfield::statistics;

namespace {

Bodies make(InitialKind kind, std::int64_t n = 0) {
    InitialOptions options;
    options.kind = kind;
    options.n = n;
    return make_bodies(options);
}

// Accelerations for G = 1, unit masses, from Newton's law.
std::vector<double> derivative(const std::vector<double>& state) {
    std::vector<double> out(18, 0.0);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            out[3 * i + k] = state[9 + 3 * i + k];
            for (std::size_t j = 0; j < 3; ++j) {
                if (i == j) continue;
                const std::array<double, 3> d{state[3 * j] - state[3 * i],
                                              state[3 * j + 1] - state[3 * i + 1],
                                              state[3 * j + 2] - state[3 * i + 2]};
                out[9 + 3 * i + k] += d[k] / std::pow(length(d), 3);
            }
        }
    return out;
}

std::vector<double> moved(const std::vector<double>& state, const std::vector<double>& slope, double by) {
    std::vector<double> out(state);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += by * slope[i];
    return out;
}

void runge_kutta(std::vector<double>& state, double time, int steps) {
    const double h = time / steps;
    for (int n = 0; n < steps; ++n) {
        const auto k1 = derivative(state);
        const auto k2 = derivative(moved(state, k1, 0.5 * h));
        const auto k3 = derivative(moved(state, k2, 0.5 * h));
        const auto k4 = derivative(moved(state, k3, h));
        for (std::size_t i = 0; i < state.size(); ++i)
            state[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
    }
}

// Semi-major axis and inclination to the x-y plane (degrees) of a two-body orbit about mass `mu`.
std::array<double, 2> orbit(const std::array<double, 3>& x, const std::array<double, 3>& v, double mu) {
    const double a = 1.0 / (2.0 / length(x) - dot(v, v) / mu);
    const std::array<double, 3> h{x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2],
                                  x[0] * v[1] - x[1] * v[0]};
    return {a, std::acos(h[2] / length(h)) * 180.0 / std::numbers::pi};
}

std::array<double, 3> difference(const std::vector<double>& values, std::size_t i, std::size_t j) {
    return {values[3 * i] - values[3 * j], values[3 * i + 1] - values[3 * j + 1],
            values[3 * i + 2] - values[3 * j + 2]};
}

} // namespace

// After a third of the period each body is where another was; after all of it, where it was itself. The error
// of the fourth-order steps falls below 1e-10 and that of the initial values is a rounding.
TEST(FigureEight, ReturnsAndPermutes) {
    const Bodies bodies = make(InitialKind::figure_eight);
    ASSERT_EQ(bodies.size(), 3);
    std::vector<double> start(bodies.position);
    start.insert(start.end(), bodies.velocity.begin(), bodies.velocity.end());
    constexpr double period = 6.3259139829144729;
    std::vector<double> state(start);
    runge_kutta(state, period / 3.0, 2000);
    std::set<std::size_t> taken;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            const auto a = row(state, i);
            const auto b = row(start, j);
            if (i != j && length({a[0] - b[0], a[1] - b[1], a[2] - b[2]}) < 1e-9) taken.insert(j);
        }
    EXPECT_EQ(taken.size(), 3U);
    runge_kutta(state, period * 2.0 / 3.0, 4000);
    for (std::size_t i = 0; i < 18; ++i) EXPECT_NEAR(state[i], start[i], 1e-9);
}

// Mass ratios: IAU 2009/2012 best estimates (Sun/planet; Earth and Moon apart). Axes and inclinations to the
// ecliptic: Standish's Keplerian elements at J2000; the state's own (osculating) elements differ from those
// means by the pull of the other planets, up to half a percent of the axis for the outer ones.
TEST(SolarSystem, MassesAndOrbits) {
    const Bodies bodies = make(InitialKind::solar_system);
    bodies.validate();
    ASSERT_EQ(bodies.size(), 10);
    InitialOptions options;
    options.kind = InitialKind::solar_system;
    const double g = natural_G(options);
    EXPECT_NEAR(g, 2.959122082855911e-4, 1e-18);
    struct Known {
        std::size_t index;
        double sun_over_mass;
        double axis;
        double inclination;
    };
    const std::array<Known, 8> known{{{1, 6023600, 0.38710, 7.005},
                                      {2, 408523.71, 0.72334, 3.395},
                                      {5, 3098703.6, 1.52371, 1.850},
                                      {6, 1047.3486, 5.2029, 1.304},
                                      {7, 3497.898, 9.5367, 2.486},
                                      {8, 22902.98, 19.1892, 0.773},
                                      {9, 19412.24, 30.0699, 1.770},
                                      {3, 332946.05, 1.0, 0.0}}};
    for (const auto& planet : known) {
        EXPECT_NEAR(bodies.mass[planet.index] * planet.sun_over_mass, 1.0, 2e-5) << planet.index;
        if (planet.index == 3) continue; // the Moon moves it: below
        const auto [axis, inclination] =
            orbit(difference(bodies.position, planet.index, 0), difference(bodies.velocity, planet.index, 0),
                  g * (1.0 + bodies.mass[planet.index]));
        EXPECT_NEAR(axis / planet.axis, 1.0, 0.006) << planet.index;
        EXPECT_NEAR(inclination, planet.inclination, 0.01) << planet.index;
    }
    for (const double x : mean(bodies, bodies.position)) EXPECT_NEAR(x, 0.0, 1e-15);
    for (const double v : mean(bodies, bodies.velocity)) EXPECT_NEAR(v, 0.0, 1e-18);
}

TEST(SolarSystem, EarthAndMoon) {
    const Bodies bodies = make(InitialKind::solar_system);
    const double g = 2.959122082855911e-4;
    EXPECT_NEAR(bodies.mass[3] / bodies.mass[4], 81.30057, 1e-5);
    EXPECT_NEAR(length(difference(bodies.position, 3, 0)), 0.98333, 2e-5); // two days before perihelion
    const double km_per_second = 149597870.7 / 86400.0;
    EXPECT_NEAR(length(difference(bodies.velocity, 3, 0)) * km_per_second, 30.29, 0.03);
    EXPECT_NEAR(length(difference(bodies.position, 4, 3)) * 149597870.7, 402448.0, 50.0);
    EXPECT_NEAR(length(difference(bodies.velocity, 4, 3)) * km_per_second, 0.97, 0.01);
    // Their barycentre's year is 365.2564 days; its orbit is the ecliptic.
    const double f = bodies.mass[4] / (bodies.mass[3] + bodies.mass[4]);
    std::array<double, 3> x{};
    std::array<double, 3> v{};
    for (std::size_t k = 0; k < 3; ++k) {
        x[k] = difference(bodies.position, 3, 0)[k] + f * difference(bodies.position, 4, 3)[k];
        v[k] = difference(bodies.velocity, 3, 0)[k] + f * difference(bodies.velocity, 4, 3)[k];
    }
    const double mu = g * (1.0 + bodies.mass[3] + bodies.mass[4]);
    const auto [axis, inclination] = orbit(x, v, mu);
    EXPECT_NEAR(2.0 * std::numbers::pi * std::sqrt(axis * axis * axis / mu), 365.2564, 0.05);
    EXPECT_LT(inclination, 0.001);
}

TEST(FromFile, KeepsTimeAndG) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("farfield_initial_" + std::to_string(static_cast<long>(::getpid())) + ".h5");
    SnapshotInfo info;
    info.time = 2.5;
    info.G = 3.0;
    const Bodies bodies = make(InitialKind::figure_eight);
    write_snapshot(path, bodies, info);
    InitialOptions options;
    options.kind = InitialKind::file;
    options.path = path;
    const InitialState state = make_initial_state(options);
    EXPECT_EQ(state.time, 2.5);
    EXPECT_EQ(state.G, 3.0);
    EXPECT_EQ(natural_G(options), 3.0);
    EXPECT_EQ(state.bodies.position, bodies.position);
    std::filesystem::remove(path);
}

TEST(InitialModels, DescriptorsInTheOrderOfTheKinds) {
    const auto names = names_of<InitialKind>();
    const auto models = initial_models();
    ASSERT_EQ(models.size(), names.size());
    for (std::size_t i = 0; i < models.size(); ++i) {
        EXPECT_EQ(name_of(models[i].kind), names[i]);
        EXPECT_FALSE(models[i].doc.empty());
    }
}

// Written down once (Intel, GCC 12): a change here changes everybody's runs, and a machine that differs is
// broken.
TEST(InitialModels, BitsNeverMove) {
    const std::vector<std::pair<InitialKind, std::uint64_t>> golden{
        {InitialKind::plummer, 0xD3FBECD6C49C5140U},      {InitialKind::uniform_sphere, 0xDCC07DA4567B73U},
        {InitialKind::hernquist, 0xC8A1D92DB7A04A30U},    {InitialKind::king, 0xD5E1DBB3AE40CF6CU},
        {InitialKind::two_clusters, 0x897149F446407D51U}, {InitialKind::figure_eight, 0x1B9D5D0BB10E9D89U},
        {InitialKind::solar_system, 0x662589E51587D293U}, {InitialKind::plasma, 0x8538B40084F917D6U},
    };
    for (const auto& [kind, want] : golden) {
        InitialOptions options;
        options.kind = kind;
        options.n = 1000;
        options.seed = 2024;
        if (kind == InitialKind::plasma) options.box = {2.0, 3.0, 5.0};
        EXPECT_EQ(hash(make_bodies(options)), want) << name_of(kind);
        options.seed = 2025;
        const bool random = kind != InitialKind::figure_eight && kind != InitialKind::solar_system;
        EXPECT_EQ(hash(make_bodies(options)) != want, random) << name_of(kind) << ": the seed";
    }
}

// The numbers of a body do not depend on how many there are; only the centre of mass does.
TEST(InitialModels, ABodyDoesNotDependOnTheNumberOfBodies) {
    for (const auto kind :
         {InitialKind::plummer, InitialKind::uniform_sphere, InitialKind::hernquist, InitialKind::king}) {
        const Bodies few = make(kind, 10);
        const Bodies more = make(kind, 100);
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_NEAR(difference(few.position, 9, 0)[k], difference(more.position, 9, 0)[k], 1e-14);
            EXPECT_NEAR(difference(few.velocity, 9, 0)[k], difference(more.velocity, 9, 0)[k], 1e-14);
        }
    }
}

TEST(InitialModels, OneBodyRests) {
    for (const auto kind :
         {InitialKind::plummer, InitialKind::uniform_sphere, InitialKind::hernquist, InitialKind::king}) {
        const Bodies bodies = make(kind, 1);
        bodies.validate();
        const bool stays = kind == InitialKind::hernquist || kind == InitialKind::king; // about its cusp
        if (!stays) {
            EXPECT_EQ(length(row(bodies.position, 0)), 0.0);
        }
        EXPECT_EQ(length(row(bodies.velocity, 0)), 0.0);
    }
}

TEST(InitialModels, ErrorsNameKeyValueAndWhatIsAllowed) {
    using Change = std::function<void(InitialOptions&)>;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    struct Mistake {
        InitialKind kind;
        Change change;
        std::vector<std::string> words;
    };
    const std::vector<Mistake> mistakes{
        {InitialKind::plummer, [](auto& o) { o.n = 0; }, {"n = 0", "from 1", "number of bodies"}},
        {InitialKind::king, [](auto& o) { o.n = -5; }, {"n = -5", "king"}},
        {InitialKind::plummer, [](auto& o) { o.cutoff_radius = -1; }, {"cutoff_radius = -1", "positive"}},
        {InitialKind::plummer, [&](auto& o) { o.cutoff_radius = nan; }, {"cutoff_radius = nan"}},
        {InitialKind::hernquist, [](auto& o) { o.cutoff_radius = 1; }, {"cutoff_radius = 1", "1.34"}},
        {InitialKind::uniform_sphere,
         [](auto& o) { o.virial_ratio = -0.1; },
         {"virial_ratio = -0.1", "cold"}},
        {InitialKind::uniform_sphere, [](auto& o) { o.charge = -1; }, {"charge = -1", "|q|"}},
        {InitialKind::uniform_sphere,
         [](auto& o) { o.negative_fraction = 2; },
         {"negative_fraction = 2", "1"}},
        {InitialKind::king, [](auto& o) { o.w0 = 0; }, {"w0 = 0", "0.01", "16"}},
        {InitialKind::king, [](auto& o) { o.w0 = 17; }, {"w0 = 17", "16"}},
        {InitialKind::king, [&](auto& o) { o.w0 = nan; }, {"w0 = nan"}},
        {InitialKind::two_clusters, [](auto& o) { o.n = 1; }, {"n = 1", "from 2"}},
        {InitialKind::two_clusters, [](auto& o) { o.mass_ratio = 0; }, {"mass_ratio = 0", "at most 1"}},
        {InitialKind::two_clusters, [](auto& o) { o.separation = 0; }, {"separation = 0", "positive"}},
        {InitialKind::two_clusters,
         [](auto& o) { o.impact_parameter = 99; },
         {"impact_parameter = 99", "separation"}},
        {InitialKind::two_clusters,
         [](auto& o) { o.relative_speed = -1; },
         {"relative_speed = -1", "parabolic"}},
        {InitialKind::two_clusters,
         [](auto& o) { o.model = InitialKind::file; },
         {"model = \"file\"", "plummer"}},
        {InitialKind::file, [](auto& o) { o.path = ""; }, {"path", ".csv"}},
    };
    for (const auto& mistake : mistakes) {
        InitialOptions options;
        options.kind = mistake.kind;
        options.n = 100;
        mistake.change(options);
        try {
            make_bodies(options);
            ADD_FAILURE() << "not refused: " << mistake.words.front();
        } catch (const InvalidArgument& error) {
            for (const auto& word : mistake.words)
                EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                    << error.what() << " does not say " << word;
        }
    }
}
