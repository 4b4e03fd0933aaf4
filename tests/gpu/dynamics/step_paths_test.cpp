// Every way to put steps on a GPU, for bodies from one to a few thousand.
//
// Tolerances: a sum in double is right to some 30 u (u = 1.1e-16), so that accelerations agree to 1e-14, and
// after 20 steps of bodies that move by less than their distances places agree to 1e-13. Float: 26 u with
// u = 6e-8, and inputs rounded to float, which in a softened crowd costs 1e-6.
#include "support.h"

#include "dynamics/cuda/device_motion.h"
#include "dynamics/integrators/motion_formulas.h"
#include "gpu/sizes.h"

#include <algorithm>
#include <string>

namespace farfield {
namespace {

using namespace test;
using cuda::DeviceMotion;
using cuda::MotionSetup;
using cuda::StepPath;

struct Setting {
    StepPath path;
    Precision precision;
    int n;
};

class EachPath : public testing::TestWithParam<Setting> {};

std::vector<Setting> settings() {
    std::vector<Setting> all;
    for (const auto path : cuda::step_paths())
        for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
            for (const auto n :
                 gpu_test::sized<std::vector<int>>({1, 2, 3, 33, 512, 1000, 1025, 5000}, {33, 1025}))
                all.push_back({path, precision, n});
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, EachPath, testing::ValuesIn(settings()), [](const auto& test) {
    auto name = std::string(name_of(test.param.path)) + "_" + std::string(name_of(test.param.precision)) +
                "_" + std::to_string(test.param.n);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

MotionSetup setup_of(const Setting& setting, const Bodies& bodies, double softening = 0.05) {
    MotionSetup setup;
    setup.softening = softening;
    setup.precision = setting.precision;
    setup.path = setting.path;
    setup.frame = choose_frame(bodies.position, {}, softening);
    return setup;
}

struct State {
    std::vector<double> position, velocity, acceleration;
    Frame frame;
    friend bool operator==(const State& a, const State& b) {
        return a.position == b.position && a.velocity == b.velocity && a.acceleration == b.acceleration;
    }
};

State state_of(DeviceMotion& motion) {
    motion.capture(false);
    const auto& captured = motion.captured();
    EXPECT_FALSE(captured.failure.has_value());
    return {{captured.position.begin(), captured.position.end()},
            {captured.velocity.begin(), captured.velocity.end()},
            {captured.acceleration.begin(), captured.acceleration.end()},
            captured.frame};
}

double tolerance(Precision precision, double of_double) {
    if (precision == Precision::float64) return of_double;
    return precision == Precision::mixed ? 1e-6 : 4e-6;
}

TEST_P(EachPath, StepsAsTheCpuDoes) {
    NEEDS_GPU();
    const auto [path, precision, n] = GetParam();
    auto bodies = crowd(n, 11);
    DeviceMotion motion(setup_of(GetParam(), bodies), bodies);
    if (motion.path() != path) GTEST_SKIP() << "this GPU cannot hold all blocks at the same time";
    const double step = 1.0 / 256;
    auto force = on_cpu(on_gpu(precision));
    const auto start = state_of(motion);
    EXPECT_LE(relative_difference(start.acceleration, exact_acceleration(bodies, force)),
              n == 1 ? 0.0 : tolerance(precision, 1e-14)); // nothing acts on a single body
    force.precision = Precision::float64;
    Simulation cpu(bodies, force, {.step = step, .end = 20 * step});
    motion.advance(20, step);
    cpu.advance_to(1.0);
    const auto end = state_of(motion);
    EXPECT_LE(relative_difference(end.position, cpu.bodies().position), tolerance(precision, 1e-13));
    EXPECT_LE(relative_difference(end.velocity, cpu.bodies().velocity), tolerance(precision, 1e-13));
    bodies.position = end.position;
    EXPECT_LE(relative_difference(end.acceleration, exact_acceleration(bodies, force)),
              tolerance(precision, 1e-14));
}

// Charges that repel and attract, G beside 1, and the three leapfrogs of yoshida4.
TEST(StepPaths, MoveChargesByYoshidaAsTheCpuDoes) {
    NEEDS_GPU();
    for (const auto path : cuda::step_paths()) {
        auto bodies = crowd(100, 18);
        for (std::size_t i = 0; i < 100; ++i) bodies.charge.push_back(i % 3 == 0 ? -0.02 : 0.015);
        auto setup = setup_of({path, Precision::float64, 100}, bodies);
        setup.kernel = Kernel::coulomb;
        setup.G = 1.5;
        setup.substeps = {yoshida_outer, yoshida_inner, yoshida_outer};
        DeviceMotion motion(setup, bodies);
        auto force = on_cpu(on_gpu());
        force.kernel = Kernel::coulomb;
        force.G = 1.5;
        Simulation cpu(bodies, force,
                       {.integrator = Integrator::yoshida4, .step = 1.0 / 64, .end = 19.0 / 64});
        EXPECT_LE(relative_difference(state_of(motion).acceleration, exact_acceleration(bodies, force)),
                  1e-14);
        motion.advance(19, 1.0 / 64);
        cpu.advance_to(1.0);
        EXPECT_LE(relative_difference(state_of(motion).position, cpu.bodies().position), 1e-13);
        EXPECT_LE(relative_difference(state_of(motion).velocity, cpu.bodies().velocity), 1e-13);
    }
}

// How steps are divided into batches, and where a new process takes over, changes no bit.
TEST_P(EachPath, HasTheSameBitsHoweverItIsCutUp) {
    NEEDS_GPU();
    const auto bodies = crowd(GetParam().n, 12);
    const double step = 1.0 / 64;
    DeviceMotion whole(setup_of(GetParam(), bodies), bodies);
    whole.advance(53, step);
    const auto expected = state_of(whole);
    DeviceMotion pieces(setup_of(GetParam(), bodies), bodies);
    for (const int steps : {1, 17, 2, 16}) {
        pieces.advance(static_cast<std::uint64_t>(steps), step);
        pieces.capture(true);
    }
    const auto middle = state_of(pieces);
    pieces.advance(17, step);
    EXPECT_TRUE(state_of(pieces) == expected);

    auto restarted_bodies = bodies;
    restarted_bodies.position = middle.position;
    restarted_bodies.velocity = middle.velocity;
    auto setup = setup_of(GetParam(), bodies);
    setup.frame = middle.frame;
    DeviceMotion restarted(setup, restarted_bodies);
    EXPECT_TRUE(state_of(restarted).acceleration == middle.acceleration);
    restarted.advance(17, step);
    EXPECT_TRUE(state_of(restarted) == expected);
}

// As many bodies as the shared memory of a block holds.
TEST(StepPaths, PersistentKernelTakesAsManyBodiesAsItSays) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        const auto most = static_cast<int>(cuda::most_persistent_bodies(precision));
        const auto bodies = crowd(most, 17);
        DeviceMotion motion(setup_of({StepPath::persistent, precision, most}, bodies), bodies);
        if (motion.path() != StepPath::persistent) GTEST_SKIP() << "this GPU has too few multiprocessors";
        DeviceMotion graph(setup_of({StepPath::graph, precision, most}, bodies), bodies);
        const auto steps = gpu_test::sized<std::uint64_t>(20, 1);
        motion.advance(steps, 1.0 / 256);
        graph.advance(steps, 1.0 / 256);
        EXPECT_LE(relative_difference(state_of(motion).position, state_of(graph).position),
                  tolerance(precision, 1e-13));
    }
}

// Launches and graphs queue the same kernels.
TEST(StepPaths, LaunchesAndGraphsHaveTheSameBits) {
    NEEDS_GPU();
    const auto bodies = crowd(700, 13);
    std::vector<State> states;
    for (const auto path : {StepPath::launches, StepPath::graph, StepPath::long_graph}) {
        DeviceMotion motion(setup_of({path, Precision::float32, 700}, bodies), bodies);
        motion.advance(37, 1.0 / 64);
        states.push_back(state_of(motion));
    }
    EXPECT_TRUE(states[0] == states[1]);
    EXPECT_TRUE(states[0] == states[2]);
}

// A step of fixed arithmetic on the state: what the GPU computes from its own accelerations is what the CPU
// computes from them, bit for bit.
TEST(StepPaths, KicksAndDriftsWithTheBitsOfTheCpu) {
    NEEDS_GPU();
    for (const auto path : cuda::step_paths()) {
        const auto bodies = crowd(100, 14);
        const double step = 0.013;
        DeviceMotion motion(setup_of({path, Precision::float64, 100}, bodies), bodies);
        const auto before = state_of(motion);
        motion.advance(1, step);
        const auto after = state_of(motion);
        for (std::size_t i = 0; i < 300; ++i) {
            volatile double product = 0.5 * step * before.acceleration[i]; // rounded before it is added
            double v = bodies.velocity[i] + product;
            product = step * v;
            EXPECT_EQ(after.position[i], bodies.position[i] + product);
            product = 0.5 * step * after.acceleration[i];
            EXPECT_EQ(after.velocity[i], v + product);
        }
    }
}

// A crowd far off keeps the accuracy it has at the origin: float sees differences of places, not places. It
// moves by several times its size, so that the frame must follow.
TEST(StepPaths, KeepsItsAccuracyFarOffAndOnTheMove) {
    NEEDS_GPU();
    for (const auto path : {StepPath::graph, StepPath::persistent})
        for (const auto precision : {Precision::float32, Precision::mixed}) {
            auto bodies = crowd(500, 15);
            for (std::size_t i = 0; i < bodies.position.size(); i += 3) {
                bodies.position[i] = std::round(bodies.position[i] * 0x1p20) * 0x1p-20 + 0x1p20;
                bodies.velocity[i] += 64.0;
            }
            const auto setup = setup_of({path, precision, 500}, bodies);
            DeviceMotion motion(setup, bodies);
            motion.advance(40, 1.0 / 256);
            const auto end = state_of(motion);
            EXPECT_GT(end.frame.origin[0], setup.frame.origin[0] + 5.0);
            auto moved = bodies;
            moved.position = end.position;
            EXPECT_LE(relative_difference(end.acceleration, exact_acceleration(moved, on_gpu())),
                      tolerance(precision, 0.0));
            auto again = setup;
            again.frame = end.frame;
            DeviceMotion restarted(again, moved);
            EXPECT_TRUE(state_of(restarted).acceleration == end.acceleration);
        }
}

TEST(StepPaths, FindsTheFirstStepThatFails) {
    NEEDS_GPU();
    for (const auto path : cuda::step_paths()) {
        // Massless, so on straight lines; the second and the last meet at t = 1.
        auto bodies =
            make({0, 5, 0, -1, 0, 0, 3, 0, 0, 1, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0}, {0, 0, 0, 0});
        DeviceMotion motion(setup_of({path, Precision::float64, 4}, bodies, 0.0), bodies);
        motion.advance(20, 0.25);
        motion.synchronize();
        ASSERT_TRUE(motion.failure().has_value()) << name_of(path);
        EXPECT_EQ(*motion.failure(), 5U) << name_of(path); // the evaluation of the start is the first
        motion.capture(false);
        const auto& captured = motion.captured();
        EXPECT_EQ(*captured.failure, 5U);
        EXPECT_EQ(captured.position[3], captured.position[9]); // they have stayed where they met
        EXPECT_TRUE(std::isfinite(captured.acceleration[0]));
        EXPECT_FALSE(std::isfinite(captured.acceleration[3]));
    }
}

// A captured state and its diagnostics are those of the capture, though steps were queued right after it.
TEST(StepPaths, CapturedStatesDoNotSeeLaterSteps) {
    NEEDS_GPU();
    for (const auto path : cuda::step_paths()) {
        const int n = gpu_test::sized(2000, 200);
        const auto bodies = crowd(n, 16);
        const auto setup = setup_of({path, Precision::float32, n}, bodies);
        DeviceMotion alone(setup, bodies), busy(setup, bodies);
        alone.advance(3, 1.0 / 64);
        busy.advance(3, 1.0 / 64);
        alone.capture(true);
        busy.capture(true);
        busy.advance(gpu_test::sized<std::uint64_t>(400, 20), 1.0 / 64);
        const auto expected = alone.captured();
        const auto& seen = busy.captured();
        EXPECT_TRUE(std::equal(expected.position.begin(), expected.position.end(), seen.position.begin()));
        EXPECT_TRUE(std::equal(expected.velocity.begin(), expected.velocity.end(), seen.velocity.begin()));
        EXPECT_EQ(expected.kinetic, seen.kinetic);
        EXPECT_EQ(expected.potential, seen.potential);
        EXPECT_EQ(expected.angular_momentum, seen.angular_momentum);
    }
}

} // namespace
} // namespace farfield
