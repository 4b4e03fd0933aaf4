// Vortices that are placed anew, against sums in long double, Lamb and Oseen's vortex and what the flow
// keeps; and the parts of it: the lattice, the moments, the interpolation.
#include "run_support.h"

#include "dynamics/propagators/propagator.h"
#include "dynamics/vorticity/interpolation.h"
#include "dynamics/vorticity/lattice.h"
#include "dynamics/vorticity/moments.h"
#include "dynamics/vorticity/reinitialise.h"
#include "io/csv.h"

#include <farfield/options.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace farfield {
namespace {

using namespace test;
using Real = long double;
constexpr Real precise_pi = 3.14159265358979323846264338327950288L;

struct Blobs {
    std::vector<double> points; // N×2
    std::vector<double> circulation;
    double variance = 1.0;
};

Blobs some_blobs(unsigned seed, int n, double size) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> side(-1.0, 1.0);
    Blobs out{.points = {}, .circulation = {}, .variance = size * size};
    for (int i = 0; i < n; ++i) {
        out.points.insert(out.points.end(), {3.0 + side(engine), -2.0 + side(engine)});
        out.circulation.push_back(side(engine) + 0.3);
    }
    return out;
}

Bodies bodies_of(const Blobs& blobs) {
    Bodies out;
    for (std::size_t i = 0; i < blobs.circulation.size(); ++i) {
        out.position.insert(out.position.end(), {blobs.points[2 * i], blobs.points[2 * i + 1], 0.0});
        out.velocity.insert(out.velocity.end(), 3, 0.0);
        out.mass.push_back(std::abs(blobs.circulation[i]));
        out.charge.push_back(blobs.circulation[i]);
        out.id.push_back(10 + i);
    }
    return out;
}

Blobs blobs_of(const Bodies& bodies, double size) {
    Blobs out{.points = {}, .circulation = bodies.charge, .variance = size * size};
    for (std::size_t i = 0; i < bodies.charge.size(); ++i)
        out.points.insert(out.points.end(), {bodies.position[3 * i], bodies.position[3 * i + 1]});
    return out;
}

Real vorticity_at(const Blobs& blobs, Real x, Real y) {
    Real sum = 0;
    for (std::size_t i = 0; i < blobs.circulation.size(); ++i) {
        const Real dx = x - blobs.points[2 * i], dy = y - blobs.points[2 * i + 1];
        sum +=
            blobs.circulation[i] * std::exp(-(dx * dx + dy * dy) / (2 * static_cast<Real>(blobs.variance)));
    }
    return sum / (2 * precise_pi * static_cast<Real>(blobs.variance));
}

std::array<Real, 2> velocity_at(const Blobs& blobs, Real x, Real y) {
    std::array<Real, 2> sum{};
    for (std::size_t i = 0; i < blobs.circulation.size(); ++i) {
        const Real dx = x - blobs.points[2 * i], dy = y - blobs.points[2 * i + 1];
        const Real r2 = dx * dx + dy * dy;
        if (r2 == 0) continue;
        const Real speed = blobs.circulation[i] * -std::expm1(-r2 / (2 * static_cast<Real>(blobs.variance))) /
                           (2 * precise_pi * r2);
        sum[0] -= speed * dy;
        sum[1] += speed * dx;
    }
    return sum;
}

// Σ Γ, Σ Γ x, Σ Γ y, Σ Γ (x² + y² + 2σ²).
std::array<Real, 4> kept_by(const Blobs& blobs) {
    std::array<Real, 4> out{};
    for (std::size_t i = 0; i < blobs.circulation.size(); ++i) {
        const Real x = blobs.points[2 * i], y = blobs.points[2 * i + 1], gamma = blobs.circulation[i];
        const std::array<Real, 4> terms{gamma, gamma * x, gamma * y,
                                        gamma * (x * x + y * y + 2 * static_cast<Real>(blobs.variance))};
        for (std::size_t k = 0; k < 4; ++k) out[k] += terms[k];
    }
    return out;
}

ForceOptions viscous(double sigma, double viscosity) {
    ForceOptions out{.kernel = Kernel::vortex2d, .sigma = sigma, .viscosity = viscosity};
    out.reinitialise = Reinitialise::rbf;
    return out;
}

// Every site within reach is there, each once, and none that is much farther.
TEST(Lattice, HoldsTheSitesNearPoints) {
    const auto blobs = some_blobs(3, 40, 1.0);
    const Lattice lattice{.anchor = {0.37, 0.11}, .spacing = 0.07};
    for (const double reach : {0.0, 0.3, 1.5}) {
        const auto runs = sites_near(lattice, blobs.points, reach);
        const auto sites = positions_of(lattice, runs);
        EXPECT_EQ(static_cast<std::int64_t>(sites.size()), 2 * count_of(runs));
        std::set<std::pair<long, long>> held;
        const auto distance = [&](double x, double y) { // the larger of the two, to the nearest point
            double least = HUGE_VAL;
            for (std::size_t i = 0; i < blobs.points.size(); i += 2)
                least = std::min(least,
                                 std::max(std::abs(x - blobs.points[i]), std::abs(y - blobs.points[i + 1])));
            return least;
        };
        for (std::size_t i = 0; i < sites.size(); i += 2) {
            held.emplace(std::lround((sites[i] - 0.37) / 0.07), std::lround((sites[i + 1] - 0.11) / 0.07));
            EXPECT_LE(distance(sites[i], sites[i + 1]), reach + 2.0 * 0.07);
        }
        EXPECT_EQ(2 * held.size(), sites.size());
        for (long row = -80; row < 40; ++row)
            for (long column = -10; column < 90; ++column)
                if (distance(0.37 + 0.07 * static_cast<double>(column),
                             0.11 + 0.07 * static_cast<double>(row)) <= reach) {
                    EXPECT_TRUE(held.contains({column, row})) << column << ' ' << row;
                }
    }
}

TEST(Moments, AreSetAndKept) {
    const auto blobs = some_blobs(5, 60, 1.0);
    auto circulation = blobs.circulation;
    const std::array centre{3.0, -2.0};
    const VortexMoments wanted{1.5, -0.25, 0.125, 3.0};
    set_moments(blobs.points, circulation, centre, 0.5, wanted);
    const auto now = moments_of(blobs.points, circulation, centre, 0.5);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(now[k], wanted[k], 1e-13) << k;
    auto change = some_blobs(6, 60, 1.0).circulation;
    MomentSpace(blobs.points, centre, 0.5).take_out_of(change);
    for (const double moment : moments_of(blobs.points, change, centre, 0.5)) EXPECT_NEAR(moment, 0.0, 1e-12);
    EXPECT_GT(std::abs(change[0]), 1e-3);
}

// One vortex, and vortices on a line, have fewer moments of their own.
TEST(Moments, OfFewVortices) {
    std::vector<double> one{2.0};
    set_moments(std::vector{0.5, 0.5}, one, {0.0, 0.0}, 1.0, {3.0, 1.5, 1.5, 1.5});
    EXPECT_DOUBLE_EQ(one[0], 3.0);
    std::vector<double> line{1.0, 1.0, 1.0};
    set_moments(std::vector{-1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, line, {0.0, 0.0}, 1.0, {3.5, 0.5, 0.0, 2.5});
    const std::vector<double> expected{1.0, 1.0, 1.5};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(line[i], expected[i], 1e-14);
}

// Strengths of Gaussians from values that no start is near to; the residual by sums in long double. What
// is to be kept is kept.
TEST(Interpolation, ReachesItsResidual) {
    const Lattice lattice{.anchor = {3.0, -2.0}, .spacing = 0.25};
    const auto sites = positions_of(lattice, sites_near(lattice, std::vector{3.0, -2.0}, 1.5));
    std::vector<double> values;
    for (std::size_t i = 0; i < sites.size(); i += 2)
        values.push_back(
            std::exp(-(sites[i] - 3.0) * (sites[i] - 3.0) - (sites[i + 1] + 1.8) * (sites[i + 1] + 2.0)));
    for (const double tolerance : {1e-3, 1e-6}) {
        GaussMatrix matrix(sites, 0.09, {.tolerance = 0.01 * tolerance});
        std::vector<double> strengths(values.size(), 0.0);
        EXPECT_GT(matrix.solve(values, strengths, tolerance, [](std::vector<double>&) {}), 3);
        Real rest2 = 0, all2 = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Real sum = vorticity_at({sites, strengths, 0.09}, sites[2 * i], sites[2 * i + 1]) * 2 *
                             precise_pi * 0.09;
            rest2 += (values[i] - sum) * (values[i] - sum);
            all2 += static_cast<Real>(values[i]) * values[i];
        }
        const auto residual = static_cast<double>(std::sqrt(rest2 / all2));
        EXPECT_LE(residual, 1.1 * tolerance);
        EXPECT_NEAR(matrix.residual(values, strengths), residual, 0.05 * tolerance);
    }
    const MomentSpace moments(sites, lattice.anchor, 0.25);
    auto strengths = values;
    const auto before = moments_of(sites, strengths, lattice.anchor, 0.25);
    GaussMatrix matrix(sites, 0.09, {.tolerance = 1e-6});
    EXPECT_GT(matrix.solve(values, strengths, 1e-4, [&](auto& change) { moments.take_out_of(change); }), 3);
    const auto after = moments_of(sites, strengths, lattice.anchor, 0.25);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(after[k], before[k], 1e-9 * std::abs(before[3])) << k;
}

// The vorticity of new vortices at places anywhere, against that of the old ones. With σ² doubled one
// Gaussian on a lattice of spacing 0.8σ has an aliasing error of 5e-7, and sums of many have less.
TEST(Reinitialise, KeepsTheVorticityAndItsMoments) {
    for (const int n : {1, 50}) {
        const auto old = some_blobs(7, n, 0.3 * std::sqrt(2.0));
        const auto options = viscous(0.3, 1.0);
        const auto bodies = bodies_of(old);
        Reinitialisations record;
        const auto fresh = reinitialised({bodies, bodies.position, old.variance}, options, {}, record);
        fresh.validate();
        EXPECT_EQ(fresh.id.front(), bodies.id.back() + 1);
        const auto now = blobs_of(fresh, 0.3);
        Real worst = 0, largest = 0;
        std::mt19937 engine(11);
        std::uniform_real_distribution<double> side(-3.0, 3.0);
        for (int k = 0; k < 400; ++k) {
            const Real x = 3.0 + side(engine), y = -2.0 + side(engine);
            const Real before = vorticity_at(old, x, y);
            worst = std::max(worst, std::abs(vorticity_at(now, x, y) - before));
            largest = std::max(largest, std::abs(before));
        }
        EXPECT_LT(static_cast<double>(worst / largest), 2e-6) << n;
        EXPECT_GT(record.residual, 0.0);
        EXPECT_LE(record.residual, 1e-6);
        EXPECT_LE(record.vorticity_error, 2e-6);
        EXPECT_EQ(record.count, 1U);
        EXPECT_GT(record.predicted_bytes, 72.0 * static_cast<double>(fresh.size()));
        const auto kept = kept_by(old), keeps = kept_by(now);
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_NEAR(static_cast<double>(keeps[k]), static_cast<double>(kept[k]), 1e-10) << n << ' ' << k;
    }
}

TEST(Reinitialise, SaysWhatItCannotDo) {
    const auto old = some_blobs(9, 1, 0.6);
    const auto bodies = bodies_of(old);
    auto options = viscous(0.3, 1.0);
    Reinitialisations record;
    const auto attempt = [&](const Bodies& from, const std::function<bool()>& stop) {
        (void)reinitialised({from, from.position, old.variance}, options, stop, record);
    };
    EXPECT_THROW(attempt(bodies, [] { return true; }), Interrupted);
    options.overlap = 1.5;
    options.residual_tolerance = 1e-9;
    expect_contains(error_of<ToleranceNotReached>([&] { attempt(bodies, {}); }),
                    {"residual", "1e-09", "overlap", "residual_tolerance"});
    EXPECT_EQ(record.count, 0U);
    options = viscous(0.3, 1.0);
    auto apart = bodies_of(some_blobs(9, 2, 0.6));
    apart.position[0] = 1e13;
    expect_contains(error_of<InvalidArgument>([&] { attempt(apart, {}); }), {"too far for a lattice"});
    auto last = bodies;
    last.id[0] = std::numeric_limits<std::uint64_t>::max() - 1;
    expect_contains(error_of<InvalidArgument>([&] { attempt(last, {}); }), {"smaller ids"});
    options.sigma = 1e-9; // a lattice that no machine holds
    expect_contains(error_of<InvalidArgument>([&] { attempt(bodies, {}); }), {"GiB", "overlap"});
}

TEST(Reinitialise, VorticesWithoutCirculationStay) {
    auto bodies = bodies_of(some_blobs(9, 3, 0.6));
    bodies.charge.assign(3, 0.0);
    Reinitialisations record;
    const auto now = reinitialised({bodies, bodies.position, 0.5}, viscous(0.3, 1.0), {}, record);
    EXPECT_EQ(now.position, bodies.position);
    EXPECT_EQ(record.count, 1U);
}

Case decaying_vortex() {
    Case out;
    out.name = "decay";
    out.initial.kind = InitialKind::vortex_patch;
    out.initial.n = 400;
    out.initial.radius = 0.3;
    out.initial.circulation = 2.0;
    out.force = viscous(0.5, 0.125); // σ² doubles in one unit of time
    out.time = {.integrator = Integrator::rk4, .step = 0.25, .end = 12.0};
    out.output.diagnostics_every = 1.0;
    out.output.pictures = false;
    return out;
}

// Lamb and Oseen: ω = Γ exp(−r²/2s²)/2πs² with s² = radius² + σ₀² + 2νt. In twelve times of doubling s² grows
// from 0.34 to 3.34. The start misses 9e-7 of the velocity (what 5 radii cut off); each time adds about 1e-8.
TEST(Reinitialise, VorticesDecayAsLambAndOseenSayThroughTwelveTimes) {
    const auto decay = decaying_vortex();
    Simulation simulation(make_bodies(decay.initial), decay.force, decay.time);
    const auto before = simulation.diagnostics();
    simulation.advance_to(12.0);
    const auto now = simulation.diagnostics();
    EXPECT_EQ(now.vortices->reinitialisations, 12U);
    EXPECT_EQ(now.vortices->count, simulation.bodies().size());
    EXPECT_GT(now.vortices->count, 1500);
    EXPECT_LE(now.vortices->residual, 1e-6);
    EXPECT_GT(now.vortices->vorticity_error, 0.0);
    EXPECT_EQ(now.vortices->sigma, 0.5);
    EXPECT_NEAR(now.vortices->circulation, before.vortices->circulation, 1e-13);
    EXPECT_NEAR(now.vortices->impulse[0], 0.0, 1e-12);
    EXPECT_NEAR(now.vortices->impulse[1], 0.0, 1e-12);
    const double growth = now.vortices->angular_impulse - before.vortices->angular_impulse;
    EXPECT_NEAR(growth / (4.0 * 0.125 * 2.0 * 12.0), 1.0, 1e-7); // 2e-8 by steps of rk4
    const auto blobs = blobs_of(simulation.bodies(), 0.5);
    const Real variance = 0.34L + 2 * 0.125L * 12;
    const Real peak = 2 / (2 * precise_pi * variance);
    for (int k = 1; k <= 40; ++k) {
        const Real r = 0.25L * k, x = r * std::cos(static_cast<Real>(k)),
                   y = r * std::sin(static_cast<Real>(k));
        const Real vorticity = peak * std::exp(-r * r / (2 * variance));
        const Real speed = -std::expm1(-r * r / (2 * variance)) * 2 / (2 * precise_pi * r);
        EXPECT_NEAR(static_cast<double>((vorticity_at(blobs, x, y) - vorticity) / peak), 0.0, 3e-6) << k;
        const auto velocity = velocity_at(blobs, x, y);
        EXPECT_NEAR(static_cast<double>(velocity[0] + speed * y / r), 0.0, 1e-6 * static_cast<double>(speed))
            << k;
        EXPECT_NEAR(static_cast<double>(velocity[1] - speed * x / r), 0.0, 1e-6 * static_cast<double>(speed))
            << k;
    }
}

// Copies made between two times go on to the same bits, also where a tolerance is compared.
TEST(Reinitialise, SavedSimulationsGoOn) {
    auto decay = decaying_vortex();
    decay.force.method = Method::fmm;
    decay.force.tolerance = 1e-6;
    Simulation simulation(make_bodies(decay.initial), decay.force, decay.time);
    simulation.advance_to(2.5);
    (void)simulation.diagnostics();
    auto copy = simulation_from_bytes(simulation_bytes(simulation));
    EXPECT_EQ(copy.diagnostics().vortices->reinitialisations, 2U);
    simulation.advance_to(4.0);
    copy.advance_to(4.0);
    EXPECT_EQ(copy.bodies().position, simulation.bodies().position);
    EXPECT_EQ(copy.bodies().charge, simulation.bodies().charge);
    const auto now = copy.diagnostics();
    EXPECT_EQ(now.vortices->reinitialisations, 4U);
    EXPECT_GT(now.acceleration_error, 0.0);
    EXPECT_LE(now.acceleration_error, 1e-6);
    copy.set_positions(copy.bodies().position);
    EXPECT_EQ(copy.bodies().velocity, simulation.bodies().velocity);
}

// Expansions of order 2 miss the tolerance after the step that ends with new vortices: it is taken again from
// the old ones.
TEST(Reinitialise, AStepThatIsTakenAgainPlacesThemOnce) {
    const auto decay = decaying_vortex();
    auto force = decay.force;
    force.method = Method::fmm;
    force.tolerance = 1e-7;
    MotionState motion;
    motion.bodies = make_bodies(decay.initial);
    motion.core_variance = 1.99 * 0.25;
    motion.force = {.method = Method::fmm, .reason = "a test", .order = 2, .leaf = 8};
    auto exact = motion;
    exact.force = {.method = Method::direct, .reason = "a test"};
    const auto stepped = [](const ForceOptions& options, MotionState& state) {
        const auto propagator =
            make_propagator({.force = options, .integrator = Integrator::rk4, .continues = true}, state);
        propagator->advance({.count = 1, .length = 0.25});
        propagator->capture(true);
        return propagator->fetch();
    };
    const auto row = stepped(force, motion);
    EXPECT_GT(motion.force.order, 2);
    EXPECT_LE(row->acceleration_error, 1e-7);
    EXPECT_EQ(row->vortices->reinitialisations, 1U);
    EXPECT_EQ(motion.reinitialised.count, 1U);
    EXPECT_EQ(motion.bodies.id.front(), 401U);
    force.method = Method::direct;
    force.tolerance = 0.0;
    (void)stepped(force, exact);
    EXPECT_EQ(motion.core_variance, exact.core_variance);
    ASSERT_EQ(motion.bodies.position.size(), exact.bodies.position.size());
    for (std::size_t i = 0; i < exact.bodies.position.size(); ++i)
        EXPECT_NEAR(motion.bodies.position[i], exact.bodies.position[i], 1e-3) << i;
    const auto now = blobs_of(motion.bodies, 0.5), wanted = blobs_of(exact.bodies, 0.5);
    for (const double x : {0.2, 0.6, 1.5}) // the first stage was that of order 2
        EXPECT_NEAR(static_cast<double>(vorticity_at(now, x, 0.3) / vorticity_at(wanted, x, 0.3)), 1.0, 1e-3);
}

TEST(Reinitialise, RunsTellHowOftenAndHowWell) {
    const TemporaryFolder folder;
    auto decay = decaying_vortex();
    decay.time.end = 3.0;
    decay.output.animation = true;
    decay.output.snapshot_every = 1.0;
    run_case(decay, {.out = folder / "out"});
    const auto table = read_csv(folder / "out" / "diagnostics.csv");
    EXPECT_EQ(*table.find("reinitialisations"), (std::vector{0.0, 1.0, 2.0, 3.0}));
    EXPECT_EQ(table.find("vortices")->front(), 400.0);
    EXPECT_NE(table.find("vortices")->back(), 400.0);
    EXPECT_LE(table.find("residual")->back(), 1e-6);
    EXPECT_GT(table.find("vorticity_error")->back(), 0.0);
    const auto summary = bytes_of(folder / "out/summary.json");
    expect_contains(summary, {"\"reinitialisations\": {", "\"count\": 3", "\"largest_residual\"",
                              "\"predicted_bytes\"", "\"core_growth\": 1.414"});
    const auto read = read_case(folder / "out" / "case.toml");
    EXPECT_EQ(read.force.reinitialise, Reinitialise::rbf);
    EXPECT_EQ(read.force.overlap, 0.8);
    EXPECT_TRUE(fs::exists(folder / "out/animation.png"));
}

TEST(Reinitialise, WrongOptionsAreRefused) {
    const auto refuse = [](const std::function<void(ForceOptions&)>& change) {
        auto decay = decaying_vortex();
        change(decay.force);
        return error_of<InvalidArgument>(
            [&] { const Simulation simulation(make_bodies(decay.initial), decay.force, decay.time); });
    };
    expect_contains(refuse([](auto& f) { f.viscosity = 0.0; }), {"reinitialise", "viscosity"});
    expect_contains(refuse([](auto& f) { f.core_growth = 1.04; }), {"core_growth", "1.05"});
    expect_contains(refuse([](auto& f) { f.overlap = 2.0; }), {"overlap", "from 0.3 to 1.5"});
    expect_contains(refuse([](auto& f) { f.vorticity_threshold = 0.0; }), {"vorticity_threshold"});
    expect_contains(refuse([](auto& f) { f.residual_tolerance = -1.0; }), {"residual_tolerance"});
    expect_contains(refuse([](auto& f) {
                        f.reinitialise = Reinitialise::none;
                        f.overlap = 0.7;
                    }),
                    {"overlap", "not used", "reinitialise"});
    expect_contains(refuse([](auto& f) {
                        f.kernel = Kernel::gravity;
                        f.sigma = f.viscosity = 0.0;
                    }),
                    {"reinitialise", "not used", "gravity"});
}

} // namespace
} // namespace farfield
