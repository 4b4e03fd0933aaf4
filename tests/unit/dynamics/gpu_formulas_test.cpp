// What simulations on GPUs compute with, where no GPU is needed: formulas shared with the CPU, how a kernel
// divides the bodies, which path steps take, and where a simulation runs.
#include "run_support.h"
#include "systems.h"

#include "backend/cuda/devices.h"
#include "dynamics/cuda/step_path.h"
#include "dynamics/forces/settings.h"
#include "dynamics/integrators/motion_formulas.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/simulation/state.h"
#include "sums/costs/cost_file.h"
#include "sums/points/axis_origin.h"

#include <cmath>

namespace farfield {
namespace {

using namespace test;

// Numbers whose product needs more than 53 bits: fused and unfused differ.
TEST(MotionFormulas, RoundTheProductBeforeTheSum) {
    const double h = 1.0 + 0x1p-30;
    EXPECT_EQ(add_scaled(-1.0, h, h), 0x1p-29); // h² = 1 + 2⁻²⁹ + 2⁻⁶⁰ loses its last term
    EXPECT_EQ(std::fma(h, h, -1.0), 0x1p-29 + 0x1p-60); // which a fused product keeps
}

TEST(MotionFormulas, TakeSumsBackFromTheirFrame) {
    // x' = 2^a x and m' = 2^b m make sums of m'd'/r'³ = 2^(b − 2a) those of m d/r³.
    const Unscale unscale{0x1p3, 0x1p-5};
    EXPECT_EQ(acceleration_of(7.0, unscale, 0.5), 7.0 * 0x1p-2 * 0.5);
    const Unscale huge{0x1p1000, 0x1p900}; // together beyond the range, the result is not
    EXPECT_EQ(acceleration_of(0x1p-1000, huge, 1.0), 0x1p900);
    EXPECT_EQ(in_frame(3.5, 3.0, 1024.0), 512.0);
}

// A step of yoshida4: its parts make one step, and cancel the error of third order.
TEST(MotionFormulas, ComposeAStepOfFourthOrder) {
    EXPECT_NEAR(2 * yoshida_outer + yoshida_inner, 1.0, 1e-15);
    EXPECT_NEAR(2 * std::pow(yoshida_outer, 3) + std::pow(yoshida_inner, 3), 0.0, 1e-14);
}

TEST(AxisOrigin, MovesOnlyPointsThatAreFarOff) {
    EXPECT_EQ(axis_origin(-1.0, 1e6), 0.0);
    EXPECT_EQ(axis_origin(0.0, 1.0), 0.0);
    EXPECT_EQ(axis_origin(1.0, 2.5), 0.0); // further than a factor of two apart
    EXPECT_EQ(axis_origin(1e6, 1e6), 1e6);
    EXPECT_EQ(axis_origin(1000.0, 1001.0), 1000.5);
    EXPECT_EQ(axis_origin(-1001.0, -1000.0), -1000.5);
    for (const double low : {3.0e7 + 0.1, 1e39, 1e-300}) {
        const double high = low * 1.7;
        const double origin = axis_origin(low, high);
        EXPECT_GE(origin, low);
        EXPECT_LE(origin, high);
        if (low > 1e-37 && low < 1e38) {
            EXPECT_EQ(static_cast<double>(static_cast<float>(origin)), origin);
        }
    }
}

TEST(PersistentShape, CoversAllBodies) {
    for (int n = 1; n <= 12288; n += n < 300 ? 1 : 37) {
        const auto shape = cuda::persistent_shape(n);
        EXPECT_GE(shape.blocks * shape.per_block, n);
        EXPECT_LT((shape.blocks - 1) * shape.per_block, n); // no block without a body
        EXPECT_LE(shape.blocks, 128);
        EXPECT_EQ(shape.per_block % cuda::persistent_targets, 0);
        EXPECT_LE(4 * shape.per_block, 32 * cuda::persistent_warps); // four threads a body
        EXPECT_EQ(shape.padded % 32, 0);
        EXPECT_GE(shape.padded, shape.blocks * shape.per_block); // targets are read from the points
        EXPECT_GE(shape.splits, 1);
        EXPECT_LE(shape.splits, std::min(cuda::persistent_warps, shape.padded / 32));
    }
}

// What the warps do at 128 blocks: 1,024 bodies are 8 a block, two groups of 4; 8 splits occupy 16 warps.
TEST(PersistentShape, KeepsTheWarpsBusy) {
    EXPECT_EQ(cuda::persistent_shape(1024).per_block, 8);
    EXPECT_EQ(cuda::persistent_shape(1024).splits, 8);
    EXPECT_EQ(cuda::persistent_shape(4096).per_block, 32);
    EXPECT_EQ(cuda::persistent_shape(4096).splits, 2);
    EXPECT_EQ(cuda::persistent_shape(8192).splits, 1);
}

TEST(StepPath, TakesThePersistentKernelForFewBodiesOnly) {
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        bool persistent = true;
        for (std::int64_t n = 1; n < 200000; n = n * 9 / 8 + 1) {
            const auto path = cuda::fastest_path(n, precision);
            EXPECT_NE(path, cuda::StepPath::automatic);
            if (path == cuda::StepPath::persistent) {
                EXPECT_TRUE(persistent) << n; // one threshold
                EXPECT_LE(n, cuda::most_persistent_bodies(precision));
            } else {
                persistent = false;
            }
        }
        EXPECT_EQ(cuda::fastest_path(1, precision), cuda::StepPath::persistent);
        EXPECT_FALSE(persistent);
    }
}

TEST(DeviceChoice, LeavesSmallRunsOnTheCpu) {
    EXPECT_EQ(choose_run_device({}, Integrator::leapfrog, 10, 100.0).kind, DeviceKind::cpu);
    EXPECT_EQ(
        choose_run_device({.device = {.kind = DeviceKind::cpu}}, Integrator::leapfrog, 1000000, 1e6).kind,
        DeviceKind::cpu);
}

// start + evaluations · (step + n² / rate)
TEST(DeviceChoice, AddsUpARunOnAGpu) {
    const GpuRunRates rates{.start_seconds = 0.5, .step_seconds = 1e-5, .pairs_per_second = 1e12};
    EXPECT_DOUBLE_EQ(seconds_on(rates, 1e4, 10000), 0.5 + 1e4 * (1e-5 + 1e-4));
    const auto shipped = gpu_run_rates(shipped_cost_table(), "NVIDIA H200", Precision::float64);
    EXPECT_LT(seconds_on(shipped, 1e6, 1000), 1e6 * 1e6 / 1.2e10); // a million steps of 1,000 bodies
    EXPECT_GT(seconds_on(shipped, 100, 1000), 100 * 1e6 / 1.2e10); // a hundred do not pay the start
}

// A made-up table: 1e9 pairs/s a thread; a start of 0.1 + 0.1 s, steps of 1e-5 s and 1e12 pairs/s. For 1,000
// bodies a step takes a thread 1e-3 s and the GPU 1.1e-5 s: they meet at 0.2 / 0.989e-3 = 202.2 steps.
TEST(DeviceChoice, CrossesWhereTheTableSays) {
    auto table = shipped_cost_table();
    for (auto& [name, value] : table.costs) {
        if (name.ends_with("pairs_per_second")) value = name.starts_with("direct.cpu") ? 1e9 : 1e12;
        if (name.ends_with("start_seconds")) value = 0.1;
        if (name.ends_with("fixed_seconds")) value = 1e-12;
        if (name.ends_with("step_seconds")) value = 1e-5;
    }
    const auto on_gpu = [&](int threads, double steps) {
        return gpu_ends_sooner(table, "Some GPU", {.threads = threads}, steps, 1000);
    };
    EXPECT_FALSE(on_gpu(1, 202.0));
    EXPECT_TRUE(on_gpu(1, 203.0));
    EXPECT_FALSE(on_gpu(100, 1e9)); // steps of 1e-5 s on either: the start is never won back
}

// Which table decides; none where the options do.
TEST(DeviceChoice, NamesTheTableThatChose) {
    EXPECT_EQ(deciding_cost_table({}), cost_table_in_use().hash);
    EXPECT_EQ(deciding_cost_table({.device = {.kind = DeviceKind::cpu}}), "");
    EXPECT_EQ(deciding_cost_table({.isa = Isa::scalar}), "");
}

TEST(DeviceChoice, RefusesHermiteOnAGpu) {
    const ForceOptions force{.device = {.kind = DeviceKind::cuda}};
    expect_contains(
        error_of<InvalidArgument>([&] { choose_run_device(force, Integrator::hermite4, 1000, 10.0); }),
        {"hermite4", "CPU only", "yoshida4", "device = cpu"});
}

// What the method's sums do not take on a GPU, a simulation does not; before any GPU is looked for.
TEST(DeviceChoice, AsksTheMethod) {
    const DeviceChoice gpu{.kind = DeviceKind::cuda}, two{.kind = DeviceKind::cuda, .gpus = {0, 1}};
    const auto refused = [](const ForceOptions& force, Integrator integrator = Integrator::leapfrog) {
        return error_of<InvalidArgument>([&] { choose_run_device(force, integrator, 1000000, 1e6); });
    };
    ForceOptions force{.method = Method::fmm, .precision = Precision::mixed, .device = gpu};
    if (gpus().empty()) {
        EXPECT_EQ(error_of<BackendUnavailable>(
                      [&] { choose_run_device(force, Integrator::yoshida4, 1000000, 1e6); }),
                  why_no_gpu());
    }
    expect_contains(refused(force, Integrator::hermite4), {"hermite4", "yoshida4"});
    force.order = 30;
    expect_contains(refused(force), {"order = 30", "precision 'mixed'", "precision = double"});
    force = {.method = Method::fmm, .m2l = M2L::rotation, .precision = Precision::mixed, .device = gpu};
    expect_contains(refused(force), {"'rotation'", "device = cpu"});
    force = {.method = Method::treecode, .precision = Precision::mixed, .device = two};
    expect_contains(refused(force), {"one GPU", "device = cuda:0"});
    force = {.method = Method::fmm, .precision = Precision::mixed, .device = two};
    if (gpus().size() < 2) {
        EXPECT_NE(error_of<BackendUnavailable>(
                      [&] { choose_run_device(force, Integrator::leapfrog, 1000000, 1e6); }),
                  "");
    } else {
        EXPECT_EQ(choose_run_device(force, Integrator::leapfrog, 1000000, 1e6).gpus, two.gpus);
    }
    force = {.method = Method::reference, .device = gpu};
    expect_contains(refused(force), {"method = reference", "CPU only", "'direct', 'fmm' or 'treecode'"});
    // Left open, it stays on the CPU: the cost table has no rates.
    force = {.method = Method::fmm, .precision = Precision::mixed};
    EXPECT_EQ(choose_run_device(force, Integrator::leapfrog, 1000000, 1e6).kind, DeviceKind::cpu);
}

// A method's sums get what was asked for several GPUs.
TEST(DeviceChoice, HandsOnHowGpusWorkTogether) {
    const ForceOptions force{.method = Method::fmm,
                             .device = {.kind = DeviceKind::cuda, .gpus = {0, 1}},
                             .multi_gpu = MultiGpu::single,
                             .exchange = Exchange::host};
    const auto options = sum_options_of(force, {}, Precision::mixed);
    EXPECT_EQ(options.device, force.device);
    EXPECT_EQ(options.multi_gpu, MultiGpu::single);
    EXPECT_EQ(options.exchange, Exchange::host);
}

// A rung asks for the machine that has it, and refuses what it cannot do before any GPU is looked for.
TEST(DeviceChoice, FollowsTheRung) {
    const auto refused = [](ForceOptions force, Integrator integrator = Integrator::leapfrog) {
        return error_of<InvalidArgument>([&] { choose_run_device(force, integrator, 1000000, 1e6); });
    };
    EXPECT_EQ(choose_run_device({.variant = Variant::simd}, Integrator::leapfrog, 1000000, 1e6).kind,
              DeviceKind::cpu);
    EXPECT_EQ(deciding_cost_table({.variant = Variant::simd}), "");
    EXPECT_EQ(deciding_cost_table({.variant = Variant::flush}), "");
    const DeviceChoice cpu{.kind = DeviceKind::cpu}, gpu{.kind = DeviceKind::cuda},
        two{.kind = DeviceKind::cuda, .gpus = {0, 1}};
    expect_contains(refused({.variant = Variant::flush, .device = cpu}),
                    {"variant = flush", "for GPUs", "'simd'"});
    expect_contains(refused({.variant = Variant::naive}, Integrator::hermite4),
                    {"hermite4", "variant = naive"});
    expect_contains(refused({.method = Method::reference, .variant = Variant::naive}),
                    {"variant = naive", "method = direct"});
    expect_contains(refused({.variant = Variant::simd, .device = gpu}),
                    {"variant = simd", "rung of the CPU"});
    expect_contains(refused({.precision = Precision::mixed, .variant = Variant::flush}),
                    {"no precision = mixed"});
    expect_contains(refused({.variant = Variant::float4}), {"variant = float4", "precision = float alone"});
    expect_contains(refused({.variant = Variant::flush, .device = two}),
                    {"one GPU", "device = cuda:0,1", "'symmetric'"});
    if (!gpus().empty()) return;
    for (const auto& device : {DeviceChoice{}, gpu})
        EXPECT_EQ(error_of<BackendUnavailable>([&] {
                      choose_run_device({.variant = Variant::flush, .device = device}, Integrator::leapfrog,
                                        8, 1.0);
                  }),
                  why_no_gpu());
}

TEST(DeviceChoice, SaysWhyThereIsNoGpu) {
    if (!gpus().empty()) GTEST_SKIP() << "there is a GPU";
    const auto text = error_of<BackendUnavailable>([] {
        const Simulation simulation(crowd(10, 1), {.device = {.kind = DeviceKind::cuda}},
                                    {.step = 0.1, .end = 1.0});
    });
    EXPECT_EQ(text, why_no_gpu());
}

// advance_to looks ahead for the step that ends there; on the CPU it goes one at a time and may be stopped.
TEST(Simulation, KnowsTheTimesAhead) {
    Simulation simulation(crowd(4, 1), {.softening = 0.1}, {.step = 0.3, .end = 1.0});
    EXPECT_EQ(SimulationAccess::stride(simulation), 1U);
    EXPECT_EQ(SimulationAccess::time_after(simulation, 2), 0.6);
    EXPECT_EQ(SimulationAccess::time_after(simulation, 4), 1.0); // the shortened one
    EXPECT_EQ(SimulationAccess::time_after(simulation, 9), 1.0);
    EXPECT_FALSE(SimulationAccess::overlaps(simulation));
}

} // namespace
} // namespace farfield
