// Simulations in periodic boxes: where bodies are, what is conserved, that forces are those of the sum, that
// tolerances are kept, and what is refused.
#include "effort.h"
#include "expect_error.h"
#include "systems.h"

#include "dynamics/bodies/box.h"
#include "dynamics/forces/tolerance.h"
#include "dynamics/propagators/method_choice.h"
#include "dynamics/simulation/state.h"

#include <farfield/farfield.h>
#include <farfield/run.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using namespace test;

/// An error of this kind, whose message has these words.
template <class Expected, class Call>
void expect_refusal(Call&& call, std::initializer_list<std::string> words) {
    expect_contains(error_of<Expected>(std::forward<Call>(call)), words);
}

constexpr double box_length = 4.0;

/// A plasma whose units are Debye lengths and 1/(plasma frequency): 4π n q² = 1, T = m = 1.
Bodies plasma(std::int64_t n, double length = box_length, std::uint64_t seed = 3) {
    InitialOptions options;
    options.kind = InitialKind::plasma;
    options.n = n;
    options.seed = seed;
    options.box = {length, length, length};
    options.particle_charge =
        std::sqrt(length * length * length / (4.0 * std::numbers::pi * static_cast<double>(n)));
    return make_bodies(options);
}

ForceOptions softened(double tolerance = 1e-9) {
    return {.kernel = Kernel::coulomb,
            .method = Method::automatic,
            .softening = 0.3,
            .period = {box_length, box_length, box_length},
            .tolerance = tolerance};
}

SumOptions sum_of(const ForceOptions& force) {
    return {.kernel = force.kernel,
            .method = force.method,
            .softening = force.softening,
            .period = force.period,
            .boundary = force.boundary,
            .background = force.background,
            .tolerance = force.tolerance};
}

double norm(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

TEST(WrappedCoordinate, LiesInTheBoxAndIsAnImage) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 20000; ++i) {
        const double length = std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000.0,
                                         static_cast<int>(random() % 40) - 20);
        const double x = length * std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -63) *
                         static_cast<double>(random() % 1000);
        const double inside = wrapped(x, length);
        ASSERT_GE(inside, 0.0) << x << " in " << length;
        ASSERT_LT(inside, length) << x << " in " << length;
        ASSERT_EQ(wrapped(inside, length), inside) << "what is inside stays";
        const long double turns = (static_cast<long double>(x) - inside) / length;
        ASSERT_NEAR(static_cast<double>(turns - std::round(turns)), 0.0, 1e-15) << x << " in " << length;
    }
}

TEST(WrappedCoordinate, TakesBordersAndTinyNumbers) {
    EXPECT_EQ(wrapped(1.0, 1.0), 0.0);
    EXPECT_EQ(wrapped(-1.0, 1.0), 0.0);
    EXPECT_FALSE(std::signbit(wrapped(-1.0, 1.0)));
    EXPECT_EQ(wrapped(-1e-300, 1.0), 0.0) << "rounding takes it to the border, which is 0";
    EXPECT_EQ(wrapped(-0.25, 1.0), 0.75);
    EXPECT_EQ(wrapped(std::nextafter(3.0, 0.0), 3.0), std::nextafter(3.0, 0.0));
    std::vector<double> position{-1.0, 5.0, 5.0};
    wrap(position, {4.0, 0.0, 3.0});
    EXPECT_EQ(position, (std::vector{3.0, 5.0, 2.0})) << "nothing moves along an open axis";
}

TEST(PeriodicSimulation, HasForcesAndEnergiesOfTheSum) {
    for (const bool gravity : {false, true}) {
        auto force = softened();
        auto bodies = plasma(60);
        for (std::size_t i = 0; i < bodies.mass.size(); ++i)
            bodies.mass[i] = 0.5 + 0.01 * static_cast<double>(i);
        force.G = 1.5;
        force.period = {box_length, 5.0, 6.0};
        if (gravity) {
            force.kernel = Kernel::gravity;
            force.background = Background::uniform;
        }
        const auto& strengths = gravity ? bodies.mass : bodies.charge;
        const auto expected = sum(matrix_view(std::span<const double>(bodies.position), 3),
                                  std::span<const double>(strengths), sum_of(force));
        Simulation simulation(bodies, force, {.step = 0.01, .end = 1.0});
        const auto row = simulation.diagnostics();
        std::vector<double> difference = simulation.acceleration();
        double energy = 0.0;
        for (std::size_t i = 0; i < strengths.size(); ++i) {
            const double factor = force.G * (gravity ? 1.0 : bodies.charge[i] / bodies.mass[i]);
            for (std::size_t k = 0; k < 3; ++k) difference[3 * i + k] -= factor * expected.field[3 * i + k];
            energy += 0.5 * force.G * strengths[i] * expected.potential[i];
        }
        EXPECT_LE(norm(difference), 4e-9 * norm(simulation.acceleration()));
        EXPECT_NEAR(row.potential, energy, 4e-9 * std::abs(energy));
        EXPECT_GT(row.acceleration_error, 0.0);
        EXPECT_LE(row.acceleration_error, force.tolerance);
        EXPECT_LE(row.potential_error, force.tolerance);
    }
}

TEST(PeriodicSimulation, KeepsBodiesInTheBox) {
    auto bodies = plasma(32);
    for (std::size_t i = 0; i < bodies.position.size(); ++i)
        bodies.position[i] += box_length * (static_cast<double>(i % 7) - 3.0);
    for (double& v : bodies.velocity) v *= 20.0; // through the box in a few steps
    const auto inside = [](const std::vector<double>& position) {
        return std::all_of(position.begin(), position.end(),
                           [](double x) { return x >= 0.0 && x < box_length; });
    };
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
        Simulation simulation(bodies, softened(1e-6), {.integrator = integrator, .step = 0.02, .end = 1.0});
        EXPECT_TRUE(inside(simulation.bodies().position)) << "already at the start";
        for (int step = 0; step < 40; ++step) {
            simulation.step();
            ASSERT_TRUE(inside(simulation.bodies().position)) << step;
        }
        std::vector<double> far(bodies.position.size());
        std::transform(bodies.position.begin(), bodies.position.end(), far.begin(),
                       [](double x) { return x - 100.0 * box_length; });
        simulation.set_positions(far);
        EXPECT_TRUE(inside(simulation.bodies().position)) << "places that are set, too";
    }
}

/// Root mean square of E − E₀ over a run, and its means over the halves, in units of |E₀|.
struct EnergyError {
    double rms, first_half, second_half, momentum;
};
EnergyError energy_error(double step, int steps) {
    Simulation simulation(plasma(64), softened(), {.step = step, .end = step * steps});
    constexpr int every = 10;
    const double start = simulation.diagnostics().total;
    double squares = 0.0, sums[2] = {}, momentum = 0.0;
    const int rows = steps / every;
    for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < every; ++k) simulation.step();
        const auto now = simulation.diagnostics();
        const double error = (now.total - start) / std::abs(start);
        squares += error * error;
        sums[2 * row / rows] += error;
        for (const double p : now.momentum) momentum = std::max(momentum, std::abs(p));
    }
    return {std::sqrt(squares / rows), 2.0 * sums[0] / rows, 2.0 * sums[1] / rows, momentum};
}

// Leapfrog follows a Hamiltonian that differs from the true one by O(step²): E − E₀ stays of that size,
// however long it goes on, and is four times as large with twice the step. Bodies soon follow other paths
// with another step, so that only averages compare: within a third, over many crossings of the box.
TEST(PeriodicSimulation, ConservesTheEnergyOfASoftenedPlasmaAsItsOrderPredicts) {
    const int steps = shorter() ? 2000 : 10000;
    constexpr double step = 0.02;
    const auto fine = energy_error(step, steps);
    const auto coarse = energy_error(2.0 * step, steps / 2);
    const double ratio = coarse.rms / fine.rms;
    EXPECT_GT(ratio, 4.0 / 1.35) << coarse.rms << " with twice the step, " << fine.rms;
    EXPECT_LT(ratio, 4.0 * 1.35) << coarse.rms << " with twice the step, " << fine.rms;
    for (const auto& run : {fine, coarse}) {
        EXPECT_GT(run.rms, 0.0);
        EXPECT_LT(std::abs(run.second_half - run.first_half), run.rms) << "a drift";
        // rounding alone: 64 bodies of momentum 1, steps times
        EXPECT_LT(run.momentum, 1e-12 * std::sqrt(static_cast<double>(steps)));
    }
    EXPECT_LT(fine.rms, 1e-3);
}

TEST(PeriodicSimulation, DoesNotDependOnWhereTheOriginIs) {
    const auto bodies = plasma(64);
    constexpr TimeOptions time{.step = 0.04, .end = 0.4};
    Simulation here(bodies, softened(), time);
    const auto before = here.diagnostics();
    here.advance_to(time.end);
    const auto after = here.diagnostics();
    for (const std::array<double, 3> shift : {std::array{1.25, -0.7, 2.9}, std::array{1e3, 5e2, -3e3}}) {
        auto moved = bodies;
        for (std::size_t i = 0; i < moved.position.size(); ++i) moved.position[i] += shift[i % 3];
        Simulation there(moved, softened(), time);
        const auto start = there.diagnostics();
        EXPECT_NEAR(start.potential, before.potential, 4e-9 * std::abs(before.potential));
        there.advance_to(time.end);
        const auto end = there.diagnostics();
        EXPECT_NEAR(end.total, after.total, 4e-9 * std::abs(after.total));
        // ten steps let an error of 1e-9 grow but little
        EXPECT_LT(distance(here.bodies().velocity, there.bodies().velocity),
                  1e-8 * norm(here.bodies().velocity));
    }
}

TEST(PeriodicSimulation, HasNoAngularMomentumNoVirialRatioAndNoRadii) {
    Simulation simulation(plasma(32), softened(1e-6), {.step = 0.01, .end = 0.1});
    const auto row = simulation.diagnostics();
    for (int k = 0; k < 3; ++k) {
        EXPECT_TRUE(std::isnan(row.angular_momentum[k]));
        EXPECT_TRUE(std::isnan(row.lagrangian_radii[k]));
        EXPECT_NEAR(row.momentum[k], 0.0, 1e-13);
    }
    EXPECT_LT(row.potential, 0.0);
    EXPECT_TRUE(std::isnan(row.virial_ratio)) << "the box has a pressure: no value stands for equilibrium";
}

/// Ions of a crystal of rock salt, each moved a little: nearly all of the forces cancel, and errors are
/// relative to what is left.
Bodies disturbed_crystal() {
    Bodies bodies;
    std::mt19937_64 random(11);
    const auto little = [&] { return 2e-3 * (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5); };
    for (int place = 0; place < 64; ++place) {
        const int x = place % 4, y = place / 4 % 4, z = place / 16;
        for (const int k : {x, y, z}) bodies.position.push_back(k + little());
        for (int k = 0; k < 3; ++k) bodies.velocity.push_back(0.0);
        bodies.mass.push_back(1.0);
        bodies.charge.push_back((x + y + z) % 2 == 0 ? 1.0 : -1.0);
    }
    return bodies;
}

// What is aimed at first suits charges anywhere; a run goes on to less, until methods refuse it.
TEST(PeriodicSimulation, AimsLowerWhereAToleranceIsMissed) {
    auto force = softened(1e-4);
    const auto bodies = plasma(8);
    auto settings = settle_force(force, Integrator::leapfrog, bodies, 10.0);
    EXPECT_EQ(sum_options_of(force, settings, Precision::float64).tolerance, 1e-4);
    std::vector<double> errors{8e-5, 3e-4, 2e-4};
    std::vector<double> aims;
    const auto kept = keep_tolerance(force, settings,
                                     {.compare =
                                          [&] {
                                              const double error = errors.back();
                                              return ForceErrors{error, 0.5 * error};
                                          },
                                      .compute_again =
                                          [&] {
                                              errors.pop_back();
                                              aims.push_back(settings.aim);
                                          },
                                      .after_steps = true});
    EXPECT_EQ(kept.acceleration, 8e-5);
    // by twice what the error is too large, and by 4 at least
    ASSERT_EQ(aims.size(), 2U);
    EXPECT_NEAR(aims[0], 1e-4 / 4.0, 1e-18);
    EXPECT_NEAR(aims[1], 1e-4 / 4.0 / 6.0, 1e-18);
    EXPECT_EQ(sum_options_of(force, settings, Precision::float64).tolerance, aims[1]);
    EXPECT_EQ(settings.worst_acceleration_error, 3e-4) << "steps were taken with it";
    int again = 0;
    expect_refusal<ToleranceNotReached>(
        [&] {
            keep_tolerance(force, settings,
                           {.compare =
                                [] {
                                    return ForceErrors{1.0, 1.0};
                                },
                            .compute_again = [&] { ++again; }});
        },
        {"accelerations", "larger tolerance"});
    EXPECT_GT(again, 0);
    EXPECT_LT(again, 10);
}

// All forces cancel, and errors are relative to those of charges that are not so placed.
TEST(PeriodicSimulation, LetsACrystalRest) {
    auto bodies = disturbed_crystal();
    for (double& x : bodies.position) x = std::round(x);
    for (const auto method : {Method::pme, Method::ewald, Method::direct, Method::fmm}) {
        auto force = softened(1e-4);
        force.softening = 0.01;
        force.method = method;
        Simulation simulation(bodies, force, {.step = 0.01, .end = 0.05});
        simulation.advance_to(0.05);
        const auto row = simulation.diagnostics();
        EXPECT_LE(row.acceleration_error, 1e-4) << name_of(method);
        EXPECT_NEAR(row.potential, -32.0 * 1.747564594633, 32.0 * 3e-4) << name_of(method);
        EXPECT_LT(row.kinetic, 1e-8);
    }
}

TEST(PeriodicSimulation, TellsAToleranceThatNothingKeeps) {
    auto force = softened(2e-12);
    force.softening = 0.0;
    auto bodies = disturbed_crystal();
    for (double& x : bodies.position) x = std::round(x) + 1e-9 * (x - std::round(x));
    expect_refusal<ToleranceNotReached>([&] { Simulation(bodies, force, {.step = 0.01, .end = 0.05}); },
                                        {"accelerations", "larger tolerance"});
}

TEST(PeriodicSimulation, GoesOnFromItsBytesBitForBit) {
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4}) {
        Simulation whole(plasma(48), softened(1e-5), {.integrator = integrator, .step = 0.05, .end = 2.0});
        for (int k = 0; k < 17; ++k) whole.step();
        auto other = simulation_from_bytes(simulation_bytes(whole));
        EXPECT_EQ(other.force_options().period, whole.force_options().period);
        whole.advance_to(2.0);
        other.advance_to(2.0);
        EXPECT_EQ(whole.bodies().position, other.bodies().position);
        EXPECT_EQ(whole.bodies().velocity, other.bodies().velocity);
    }
}

TEST(PeriodicSimulation, RefusesWhatItCannotDo) {
    const auto bodies = plasma(8);
    const TimeOptions time{.step = 0.01, .end = 0.1};
    const auto refused = [&](const ForceOptions& force, const char* first, const char* second) {
        expect_refusal<InvalidArgument>([&] { Simulation(bodies, force, time); }, {first, second});
    };
    auto force = softened();
    force.boundary = Boundary::vacuum;
    refused(force, "jumps", "tin-foil");
    for (const auto method : {Method::automatic, Method::direct}) {
        force = softened(0.0);
        force.method = method;
        expect_refusal<InvalidArgument>(
            [&] {
                Simulation(bodies, force, {.integrator = Integrator::hermite4, .step = 0.01, .end = 0.1});
            },
            {"hermite4", "yoshida4"});
    }
    force = softened();
    force.device = {.kind = DeviceKind::cuda, .gpus = {0, 1}};
    for (const auto method : {Method::direct, Method::fmm, Method::ewald, Method::pme}) {
        force.method = method;
        refused(force, "one GPU", "cuda:0");
    }
    force = softened();
    force.method = Method::pme;
    force.variant = Variant::soa;
    refused(force, "soa", "leave it out");
    force = softened();
    force.method = Method::pme;
    force.precision = Precision::float32;
    refused(force, "double", "float");
    force = softened();
    force.method = Method::pme;
    force.period = {4.0, 4.0, 0.0};
    refused(force, "period", "three lengths");
    force = softened();
    force.kernel = Kernel::gravity;
    refused(force, "gravity", "uniform");
    force = {.kernel = Kernel::coulomb, .background = Background::uniform};
    refused(force, "background", "period");
    auto charged = bodies;
    charged.charge[0] *= 2.0;
    expect_refusal<InvalidArgument>([&] { Simulation(charged, softened(), time); }, {"sum to", "background"});
    auto with_background = softened();
    with_background.background = Background::uniform;
    EXPECT_NO_THROW(Simulation(charged, with_background, time));
}

// Methods that sum nothing else need a period, whichever they are.
TEST(PeriodicSimulation, IsNotMadeByAMethodOfBoxesWithoutABox) {
    auto force = softened();
    force.period = {};
    force.method = Method::ewald;
    expect_refusal<InvalidArgument>([&] { Simulation(plasma(8), force, {.step = 0.01, .end = 0.1}); },
                                    {"ewald", "period"});
}

} // namespace
} // namespace farfield
