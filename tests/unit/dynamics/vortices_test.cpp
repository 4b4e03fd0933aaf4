// Simulations of vortices against what is known of them: pairs, leapfrogging pairs by quadrature, the order
// of rk4, what the flow keeps, Lamb and Oseen's vortex, and what is refused.
#include "run_support.h"
#include "systems.h"

#include "io/csv.h"

#include <farfield/options.h>
#include <farfield/sum.h>

#include <cmath>
#include <random>

namespace farfield {
namespace {

using namespace test;
constexpr double pi = 3.14159265358979323846;

Bodies vortices(const std::vector<double>& x_y_circulation) {
    Bodies out;
    for (std::size_t i = 0; i < x_y_circulation.size(); i += 3) {
        out.position.insert(out.position.end(), {x_y_circulation[i], x_y_circulation[i + 1], 0.0});
        out.velocity.insert(out.velocity.end(), 3, 0.0);
        out.mass.push_back(0.0);
        out.charge.push_back(x_y_circulation[i + 2]);
    }
    return out;
}

ForceOptions flow(double sigma = 0.0, double viscosity = 0.0, Method method = Method::direct) {
    return {.kernel = Kernel::vortex2d, .method = method, .sigma = sigma, .viscosity = viscosity};
}

Simulation simulation_of(Bodies bodies, const ForceOptions& force, double end, double steps) {
    return Simulation(std::move(bodies), force,
                      {.integrator = Integrator::rk4, .step = end / steps, .end = end});
}

Bodies after(const Bodies& bodies, const ForceOptions& force, double end, double steps) {
    auto simulation = simulation_of(bodies, force, end, steps);
    simulation.advance_to(end);
    return simulation.bodies();
}

// Two vortices d apart turn with (Γ₁ + Γ₂)/(2πd²): once around in 4π²d²/(Γ₁ + Γ₂).
TEST(Vortices, PairsOfOneSignTurn) {
    const double d = 0.8;
    for (const auto method : {Method::direct, Method::reference})
        for (const double second : {1.5, 0.5}) {
            const auto start = vortices({0.3, -0.1, 1.5, 0.3 + d, -0.1, second});
            const double period = 4.0 * pi * pi * d * d / (1.5 + second);
            const auto quarter = after(start, flow(0.0, 0.0, method), period / 4.0, 250);
            EXPECT_NEAR(quarter.position[3] - quarter.position[0], 0.0, 1e-6);
            EXPECT_NEAR(quarter.position[4] - quarter.position[1], d, 1e-6); // counter-clockwise
            const auto whole = after(start, flow(0.0, 0.0, method), period, 1000);
            for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(whole.position[k], start.position[k], 1e-6) << k;
        }
}

// Opposite ones travel with Γ/(2πd); blobs with 1 − exp(−d²/2σ²) times that.
TEST(Vortices, PairsOfOppositeSignsTravel) {
    const double d = 0.5;
    for (const double sigma : {0.0, 0.4}) {
        const double factor = sigma > 0.0 ? -std::expm1(-d * d / (2.0 * sigma * sigma)) : 1.0;
        const auto end = after(vortices({0.0, 0.0, 2.0, d, 0.0, -2.0}), flow(sigma), 3.0, 60);
        const double way = 3.0 * factor * 2.0 / (2.0 * pi * d);
        EXPECT_NEAR(end.position[1] / way, 1.0, 1e-6);
        EXPECT_NEAR(end.position[4] / way, 1.0, 1e-6);
        EXPECT_NEAR(end.position[3] - end.position[0], d, 1e-9);
    }
}

// The upper vortices of two pairs in line, with half widths y₁ and y₂: S = y₁ + y₂ is kept, and so is
// K = (X² + Y²)/((S² − Y²)(X² + S²)) of X = x₁ − x₂ and Y = y₁ − y₂. A quarter of the period is the time from
// X = 0 to Y = 0 at the speed Y' = −(ΓX/π)(S² − Y²)/((X² + Y²)(X² + S²)), here in the angle of Y = Y₀ sin a.
double leapfrogging_period(double gamma, double y1, double y2) {
    const long double s = y1 + y2, y0 = y1 - y2;
    const long double k = y0 * y0 / ((s * s - y0 * y0) * s * s);
    const auto term = [&](long double angle) {
        const long double y = y0 * std::sin(angle);
        const long double rest = k * (s * s - y * y);
        const long double x2 = (rest * s * s - y * y) / (1.0L - rest);
        // x² vanishes with cos² of the angle: from y₀² − y² = y₀² cos²
        const long double speed =
            gamma / 3.14159265358979323846L * std::sqrt(x2) * (s * s - y * y) / ((x2 + y * y) * (x2 + s * s));
        return y0 * std::cos(angle) / speed;
    };
    constexpr int parts = 20000; // the rule of midpoints, whose ends are never met
    long double sum = 0.0L;
    for (int i = 0; i < parts; ++i)
        sum += term((static_cast<long double>(i) + 0.5L) / parts * 1.57079632679489661923L);
    return static_cast<double>(4.0L * sum / parts * 1.57079632679489661923L);
}

TEST(Vortices, LeapfroggingPairsReturnAfterTheirPeriod) {
    InitialOptions initial;
    initial.kind = InitialKind::leapfrogging_pairs;
    initial.circulation = 1.25;
    for (const double ratio : {0.3, 0.5, 0.8}) {
        initial.width_ratio = ratio;
        const auto start = make_bodies(initial);
        const double period = leapfrogging_period(1.25, 0.5, 0.5 * ratio);
        auto simulation = simulation_of(start, flow(), period, 4000);
        const auto& v = simulation.bodies().velocity;
        const double first_speed = std::abs(v[0] - v[6]); // of the two of one sign, past each other
        simulation.advance_to(period);
        const auto& x = simulation.bodies().position;
        EXPECT_LT(std::abs(x[0] - x[6]) / first_speed, 1e-6 * period) << ratio;
        EXPECT_NEAR(x[1] - x[7], start.position[1] - start.position[7], 1e-6);
        EXPECT_GT(x[0], 0.01) << "they travel to the right";
    }
}

std::vector<double> some_vortices(unsigned seed, int n) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> side(-1.0, 1.0);
    std::vector<double> out;
    for (int i = 0; i < 3 * n; ++i) out.push_back(side(engine));
    return out;
}

// Halving the step divides the error by 16.
TEST(Vortices, StepsAreOfOrderFour) {
    const auto start = vortices(some_vortices(3, 6));
    for (const auto& force : {flow(0.2), flow(0.2, 0.01)}) {
        const auto exact = after(start, force, 2.0, 1600);
        const double coarse = test::distance(after(start, force, 2.0, 50).position, exact.position);
        const double fine = test::distance(after(start, force, 2.0, 100).position, exact.position);
        EXPECT_GT(std::log2(coarse / fine), 3.7);
        EXPECT_LT(std::log2(coarse / fine), 4.6);
        EXPECT_GT(fine, 1e-13);
    }
}

struct Drift {
    double hamiltonian, angular, impulse;
};

Drift drift_of(const Bodies& start, double end, double steps) {
    auto simulation = simulation_of(start, flow(0.1), end, steps);
    const auto before = simulation.diagnostics();
    simulation.advance_to(end);
    const auto now = simulation.diagnostics();
    EXPECT_EQ(now.vortices->circulation, before.vortices->circulation);
    EXPECT_EQ(now.step, static_cast<std::uint64_t>(steps));
    return {std::abs(now.relative_energy_error),
            std::abs(now.vortices->angular_impulse - before.vortices->angular_impulse),
            std::hypot(now.vortices->impulse[0] - before.vortices->impulse[0],
                       now.vortices->impulse[1] - before.vortices->impulse[1])};
}

// What is no linear sum of places drifts with the fourth power of the step or a higher one; the impulse is
// linear, which every Runge-Kutta method keeps, but for rounding: 10⁴ steps of 5 terms of 2⁻⁵³.
TEST(Vortices, InvariantsOverTenThousandSteps) {
    const auto start = vortices(some_vortices(5, 5));
    const auto fine = drift_of(start, 100.0, 10000);
    const auto coarse = drift_of(start, 100.0, 5000);
    EXPECT_LT(fine.impulse, 1e-11);
    EXPECT_LT(fine.hamiltonian, 1e-8);
    EXPECT_LT(fine.angular, 1e-8);
    EXPECT_GT(coarse.hamiltonian / fine.hamiltonian, 12.0);
    EXPECT_GT(coarse.angular / fine.angular, 12.0);
}

// Lamb and Oseen: u = Γ/(2πr) (1 − exp(−r²/2s²)) with s² = radius² + σ₀² + 2νt, at points between the
// vortices. The grid of the patch misses 4e-6 of the Gaussian's tail and what 5 radii cut off.
TEST(Vortices, PatchesDecayAsLambAndOseenSay) {
    InitialOptions initial;
    initial.kind = InitialKind::vortex_patch;
    initial.n = 900;
    initial.circulation = 3.0;
    constexpr double sigma = 0.5, viscosity = 0.05, end = 8.0;
    auto simulation = simulation_of(make_bodies(initial), flow(sigma, viscosity), end, 80);
    const auto before = simulation.diagnostics();
    simulation.advance_to(end);
    const auto now = simulation.diagnostics();
    EXPECT_NEAR(now.vortices->sigma, std::sqrt(sigma * sigma + 2.0 * viscosity * end), 1e-14);
    EXPECT_NEAR((now.vortices->angular_impulse - before.vortices->angular_impulse) /
                    (4.0 * viscosity * 3.0 * end),
                1.0, 1e-9);
    EXPECT_EQ(now.relative_energy_error, 0.0) << "with viscosity the Hamiltonian is not kept";
    std::vector<double> points, targets;
    const auto& bodies = simulation.bodies();
    for (std::size_t i = 0; i < bodies.mass.size(); ++i)
        points.insert(points.end(), {bodies.position[3 * i], bodies.position[3 * i + 1]});
    for (int k = 1; k <= 20; ++k)
        targets.insert(targets.end(), {0.2 * k * std::cos(1.0 * k), 0.2 * k * std::sin(1.0 * k)});
    SumOptions options{.kernel = Kernel::vortex2d, .method = Method::reference};
    options.sigma = now.vortices->sigma;
    const auto result =
        sum(matrix_view(std::span<const double>(points), 2), matrix_view(std::span<const double>(targets), 2),
            matrix_view(std::span<const double>(bodies.charge), 1), options);
    const double variance = 1.0 + sigma * sigma + 2.0 * viscosity * end;
    for (int k = 1; k <= 20; ++k) {
        const double r = 0.2 * k;
        const double speed = 3.0 / (2.0 * pi * r) * -std::expm1(-r * r / (2.0 * variance));
        const auto at = static_cast<std::size_t>(2 * (k - 1));
        const double along = -result.field[at] * std::sin(1.0 * k) + result.field[at + 1] * std::cos(1.0 * k);
        const double outward =
            result.field[at] * std::cos(1.0 * k) + result.field[at + 1] * std::sin(1.0 * k);
        EXPECT_NEAR(along / speed, 1.0, 2e-4) << r;
        EXPECT_NEAR(outward / speed, 0.0, 2e-4) << r;
    }
}

// Sums by expansions move vortices as those of all pairs do, within the tolerance that each row tells.
TEST(Vortices, MoveByExpansionsToATolerance) {
    InitialOptions initial;
    initial.kind = InitialKind::vortex_patch; // a steady flow, in which errors do not grow
    initial.n = 45 * 45;
    initial.circulation = 10.0;
    auto force = flow(0.1, 1e-3);
    const auto exact = after(make_bodies(initial), force, 0.2, 5);
    force.method = Method::fmm;
    force.tolerance = 1e-7;
    auto simulation = simulation_of(make_bodies(initial), force, 0.2, 5);
    simulation.advance_to(0.2);
    const auto row = simulation.diagnostics();
    EXPECT_GT(row.acceleration_error, 0.0);
    EXPECT_LE(row.acceleration_error, 1e-7);
    EXPECT_LE(row.potential_error, 1e-7);
    EXPECT_LT(test::distance(simulation.bodies().position, exact.position), 1e-6);
    EXPECT_GT(test::distance(simulation.bodies().position, make_bodies(initial).position), 1e-2);
}

// The Hamiltonian −(1/4π) ΣΣ Γᵢ Γⱼ ln rᵢⱼ, impulses and the velocities beside the places.
TEST(Vortices, DiagnosticsAreWhatTheirNamesSay) {
    auto simulation = simulation_of(vortices({0.0, 0.0, 2.0, 3.0, 4.0, -1.0}), flow(), 1.0, 10);
    const auto row = simulation.diagnostics();
    EXPECT_NEAR(row.total, 2.0 * std::log(5.0) / (2.0 * pi), 1e-15);
    EXPECT_EQ(row.vortices->circulation, 1.0);
    EXPECT_EQ(row.vortices->impulse, (std::array{-3.0, -4.0}));
    EXPECT_EQ(row.vortices->angular_impulse, -25.0);
    EXPECT_NEAR(row.vortices->hamiltonian_scale, 9.0 / (4.0 * pi), 1e-15);
    const auto& v = simulation.bodies().velocity;
    EXPECT_NEAR(v[0], -1.0 / (2.0 * pi * 25.0) * 4.0, 1e-15); // −Γ (y − y')/2πr² of Γ = −1 at (3, 4)
    EXPECT_NEAR(v[1], 1.0 / (2.0 * pi * 25.0) * 3.0, 1e-15);
    auto blobs = simulation_of(vortices({0.0, 0.0, 2.0, 3.0, 4.0, -1.0}), flow(0.5), 1.0, 10);
    EXPECT_NEAR(blobs.diagnostics().vortices->angular_impulse, -25.0 + 2.0 * 0.25 * 1.0, 1e-14);
}

TEST(Vortices, CanBeSavedMovedAndTolerated) {
    auto force = flow(0.3, 0.02);
    force.tolerance = 1e-4;
    auto simulation = simulation_of(vortices(some_vortices(9, 30)), force, 1.0, 20);
    simulation.step();
    const auto row = simulation.diagnostics();
    EXPECT_GT(row.acceleration_error, 0.0);
    EXPECT_LT(row.acceleration_error, 1e-4);
    auto copy = simulation_from_bytes(simulation_bytes(simulation));
    simulation.advance_to(1.0);
    copy.advance_to(1.0);
    EXPECT_EQ(copy.bodies().position, simulation.bodies().position);
    EXPECT_EQ(copy.diagnostics().vortices->sigma, simulation.diagnostics().vortices->sigma);
    auto positions = copy.bodies().position;
    EXPECT_THROW(copy.set_velocities(copy.bodies().velocity), InvalidArgument);
    positions[2] = 1.0;
    EXPECT_THROW(copy.set_positions(positions), InvalidArgument);
    EXPECT_EQ(copy.bodies().velocity, simulation.bodies().velocity);
    positions[2] = 0.0;
    positions[0] += 1.0;
    copy.set_positions(positions);
    EXPECT_NE(copy.bodies().velocity, simulation.bodies().velocity);
    EXPECT_EQ(copy.diagnostics().vortices->sigma, simulation.diagnostics().vortices->sigma);
}

Case pair_case() {
    Case out;
    out.name = "pair";
    out.initial.kind = InitialKind::vortex_pair;
    out.force.kernel = Kernel::vortex2d;
    out.time = {.integrator = Integrator::rk4, .step = 0.125, .end = 1.0};
    out.output.diagnostics_every = 0.5;
    out.output.pictures = false;
    return out;
}

TEST(Vortices, RunsLeaveRowsOfWhatTheyKeep) {
    const TemporaryFolder folder;
    auto simulation_case = pair_case();
    simulation_case.force.sigma = 0.25;
    simulation_case.force.viscosity = 0.1;
    simulation_case.output.pictures = true;
    const auto result = run_case(simulation_case, {.out = folder / "out"});
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.energy_error, 0.0);
    EXPECT_TRUE(fs::exists(folder / "out/diagnostics.png"));
    const auto table = read_csv(folder / "out" / "diagnostics.csv");
    EXPECT_EQ(table.rows(), 3);
    EXPECT_EQ(table.find("step")->back(), 8.0);
    EXPECT_EQ(table.find("circulation")->back(), 2.0);
    EXPECT_NEAR(table.find("sigma")->back(), std::sqrt(0.0625 + 0.2), 1e-15);
    EXPECT_EQ(table.find("kinetic"), nullptr);
    const auto read = read_case(folder / "out" / "case.toml");
    EXPECT_EQ(read.force.sigma, 0.25);
    EXPECT_EQ(read.force.viscosity, 0.1);
    EXPECT_EQ(read.time.integrator, Integrator::rk4);
    EXPECT_EQ(read.force.G, 1.0);
}

// From the snapshot of a run, from a table, and from an array: the same vortices.
TEST(Vortices, BeginFromFiles) {
    const TemporaryFolder folder;
    run_case(pair_case(), {.out = folder / "first"});
    auto second = pair_case();
    second.initial.kind = InitialKind::file;
    second.initial.path = folder / "first/snapshot_0001.h5";
    second.time.end = 2.0;
    const auto result = run_case(second, {.out = folder / "second"});
    EXPECT_EQ(result.time, 2.0);
    EXPECT_EQ(result.steps, 8U);
    write_bytes(folder / "v.csv", "gamma,x,y\n1,-0.5,0\n1,0.5,0\n");
    auto third = pair_case();
    third.initial.kind = InitialKind::file;
    third.initial.path = folder / "v.csv";
    run_case(third, {.out = folder / "third"});
    EXPECT_EQ(bytes_of(folder / "first/diagnostics.csv"), bytes_of(folder / "third/diagnostics.csv"));
}

std::string refused(const std::vector<std::string>& overrides, const std::string& text) {
    const TemporaryFolder folder;
    return error_of<InvalidArgument>([&] {
        write_bytes(folder / "case.toml", text);
        run_case(read_case(folder / "case.toml", overrides), {.out = folder / "out"});
    });
}

TEST(Vortices, WrongCasesAreRefused) {
    const std::string good =
        "[initial]\nkind = \"vortex-pair\"\n[force]\nkernel = \"vortex2d\"\n[time]\nstep = "
        "0.1\nend = 1.0\n";
    const auto expect = [&](std::vector<std::string> overrides, std::initializer_list<std::string> parts) {
        expect_contains(refused(overrides, good), parts);
    };
    expect({"force.sigma=0"}, {"force.sigma", "> 0"});
    expect({"force.sigma=-1"}, {"force.sigma", "> 0"});
    expect({"force.viscosity=-0.1"}, {"force.viscosity", "≥ 0"});
    expect({"force.viscosity=0.1"}, {"force.viscosity", "force.sigma > 0"});
    expect({"time.integrator=leapfrog"}, {"time.integrator", "\"leapfrog\"", "use \"rk4\""});
    expect({"time.adaptive=true"}, {"fixed steps"});
    expect({"force.device=cuda"}, {"CPU only", "device"});
    expect({"force.G=2"}, {"force.G", "not used", "vortex2d"});
    expect({"force.softening=0.1"}, {"force.softening", "not used"});
    expect({"force.kernel=gravity"}, {"vortex-pair", "use force.kernel = \"vortex2d\""});
    expect({"force.kernel=gravity", "force.sigma=0.1"}, {"force.sigma", "not used by kernel = \"gravity\""});
    expect({"initial.kind=plummer", "initial.n=10"}, {"plummer", "not vortices"});
    expect({"initial.kind=vortex-patch", "initial.n=10"}, {"square number"});
    expect({"initial.circulation=0"}, {"circulation = 0", "not 0"});
    expect({"initial.kind=leapfrogging-pairs", "initial.width_ratio=1"}, {"initial.width_ratio", "< 1"});
    expect({"force.variant=naive"}, {"variant"});
    const TemporaryFolder folder;
    write_bytes(folder / "space.csv", "x,y,z,gamma\n0,0,0,1\n");
    expect({"initial.kind=file", "initial.path=" + (folder / "space.csv").string()}, {"column z", "plane"});
}

TEST(Vortices, WrongBodiesAreRefused) {
    const auto refuse = [](Bodies bodies, ForceOptions force, Integrator integrator) {
        return error_of<InvalidArgument>([&] {
            const Simulation simulation(std::move(bodies), force,
                                        {.integrator = integrator, .step = 0.1, .end = 1.0});
        });
    };
    auto bodies = vortices({0.0, 0.0, 1.0, 1.0, 0.0, 1.0});
    expect_contains(refuse(bodies, flow(), Integrator::leapfrog), {"leapfrog", "rk4"});
    expect_contains(refuse(bodies, flow(0.0, 0.1), Integrator::rk4), {"viscosity", "sigma"});
    auto gravity = flow(0.1);
    gravity.kernel = Kernel::gravity;
    expect_contains(refuse(bodies, gravity, Integrator::rk4), {"sigma", "not used"});
    auto high = bodies;
    high.position[5] = 0.25;
    expect_contains(refuse(high, flow(), Integrator::rk4), {"z = 0.25", "row 1"});
    auto none = bodies;
    none.charge.clear();
    expect_contains(refuse(none, flow(), Integrator::rk4), {"circulations"});
    auto together = bodies;
    together.position[3] = 0.0;
    expect_contains(refuse(together, flow(), Integrator::rk4), {"same place", "sigma"});
}

} // namespace
} // namespace farfield
