// Where a sum runs: the model behind `auto` with made-up rates and tables, and what is said on a machine
// without a GPU.
#include "sums/costs/cost_file.h"
#include "sums/direct/common/device_model.h"
#include "sums/direct/cuda/rungs.h"
#include "sums/select/device.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace farfield {
namespace {

const DeviceChoice cpu{.kind = DeviceKind::cpu};
const DeviceChoice cuda_0{.kind = DeviceKind::cuda, .gpus = {0}};

/// Points on themselves, of so many pairs.
SumProblem problem_of_pairs(double pairs, double executions = 1.0) {
    SumProblem problem;
    problem.kernel = &gravity_kernel();
    problem.sources = problem.targets = static_cast<std::int64_t>(std::sqrt(pairs));
    problem.executions = executions;
    return problem;
}

const MethodInfo& direct() { return method_info(Method::direct); }

DeviceChoice device_of(const SumOptions& options, double pairs, std::optional<int> array_gpu = std::nullopt) {
    return choose_device(direct(), problem_of_pairs(pairs), options, array_gpu).device;
}

// 2 threads of 1e9 pairs/s with 1 ms to begin with, for 1e10 pairs: 1 ms + 5 s.
TEST(DeviceModel, AddsUpTheCpu) {
    const CpuRates rates{.fixed_seconds = 1e-3, .pairs_per_second_a_thread = 1e9, .threads = 2};
    EXPECT_DOUBLE_EQ(seconds_on(rates, {.pairs = 1e10}), 5.001);
    EXPECT_DOUBLE_EQ(seconds_on(rates, {.pairs = 1e10, .executions = 10}), 50.01);
}

// 1e12 pairs at 1e12 a second, 4e9 bytes at 4e10: 0.3 s once, then 2 ms + 0.1 s + 1 s each time.
TEST(DeviceModel, AddsUpTheGpu) {
    const GpuRates rates{
        .start_seconds = 0.3, .fixed_seconds = 2e-3, .bytes_per_second = 4e10, .pairs_per_second = 1e12};
    EXPECT_DOUBLE_EQ(seconds_on(rates, {.pairs = 1e12, .bytes = 4e9}), 1.402);
    EXPECT_DOUBLE_EQ(seconds_on(rates, {.pairs = 1e12, .bytes = 4e9, .executions = 3}), 0.3 + 3 * 1.102);
}

// A self-sum of N moves N coordinates of 3, N strengths, N potentials and fields of 4; separate targets 3 M
// more.
TEST(DeviceModel, CountsPairsAndBytes) {
    const auto self = cost_of_sum(1000, 1000, true, 7);
    EXPECT_EQ(self.pairs, 1e6);
    EXPECT_EQ(self.bytes, 8 * 8000);
    EXPECT_EQ(self.executions, 7);
    const auto separate = cost_of_sum(1000, 10, false);
    EXPECT_EQ(separate.pairs, 1e4);
    EXPECT_EQ(separate.bytes, 8 * (4000 + 7 * 10));
}

// Whoever is faster depends on the size: with these rates the lines cross between 1,000 and 10,000 points.
TEST(DeviceModel, CrossesOnce) {
    const CpuRates on_cpu{.fixed_seconds = 1e-5, .pairs_per_second_a_thread = 5e9, .threads = 2};
    const GpuRates on_gpu{.fixed_seconds = 1e-3, .bytes_per_second = 1e10, .pairs_per_second = 1e12};
    const auto gpu_wins = [&](double n) {
        const auto cost = cost_of_sum(n, n, true);
        return seconds_on(on_gpu, cost) < seconds_on(on_cpu, cost);
    };
    EXPECT_FALSE(gpu_wins(1000));
    EXPECT_TRUE(gpu_wins(10000));
    int changes = 0;
    for (double n = 100; n < 1e6; n *= 1.1) changes += gpu_wins(n) != gpu_wins(1.1 * n) ? 1 : 0;
    EXPECT_EQ(changes, 1);
}

// A table of round numbers: with one thread of 1e9 pairs/s against 1e12, CUDA's start of 0.1 s decides alone
// up to 1e8 pairs.
CostTable made_up_table() {
    auto table = shipped_cost_table();
    for (auto& [name, value] : table.costs) {
        if (name.ends_with("pairs_per_second")) value = name.starts_with("direct.cpu") ? 1e9 : 1e12;
        if (name.ends_with("fixed_seconds")) value = 1e-6;
        if (name.ends_with("start_seconds")) value = 0.1;
        if (name.ends_with("bytes_per_second")) value = 1e12;
    }
    return table;
}

// N²/1e9 = 0.1 + N²/1e12 + 64 N/1e12 (the fixed seconds are alike): N = 10,005.04.
TEST(FasterDevice, CrossesWhereTheTableSays) {
    const auto table = made_up_table();
    const auto gpu_wins = [&](double n) {
        return faster_device(table, direct(), problem_of_pairs(n * n), {.threads = 1},
                             [] { return std::string("Some GPU"); }) == cuda_0;
    };
    EXPECT_FALSE(gpu_wins(10000));
    EXPECT_TRUE(gpu_wins(10010));
    int changes = 0;
    for (double n = 10; n < 1e7; n *= 1.1) changes += gpu_wins(n) != gpu_wins(1.1 * n) ? 1 : 0;
    EXPECT_EQ(changes, 1);
}

TEST(FasterDevice, CountsThreadsAndExecutions) {
    const auto table = made_up_table();
    const auto some_gpu = [] { return std::string("Some GPU"); };
    const auto cost = [](double n, double executions) { return problem_of_pairs(n * n, executions); };
    EXPECT_EQ(faster_device(table, direct(), cost(20000, 1), {.threads = 1}, some_gpu), cuda_0);
    EXPECT_EQ(faster_device(table, direct(), cost(20000, 1), {.threads = 8}, some_gpu), cpu);
    EXPECT_EQ(faster_device(table, direct(), cost(20000, 10), {.threads = 8}, some_gpu), cuda_0);
}

TEST(FasterDevice, WithoutAGpuIsTheCpu) {
    EXPECT_EQ(faster_device(made_up_table(), direct(), problem_of_pairs(1e15), {.threads = 1},
                            [] { return std::string(); }),
              cpu);
}

// Loading the driver takes a tenth of a second: a sum that ends before any GPU has started does not ask.
TEST(FasterDevice, AsksForGpusOnlyWhereItMatters) {
    int asked = 0;
    const auto count = [&] {
        ++asked;
        return std::string("Some GPU");
    };
    EXPECT_EQ(faster_device(made_up_table(), direct(), problem_of_pairs(9e7), {.threads = 1}, count), cpu);
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(faster_device(made_up_table(), direct(), problem_of_pairs(9e8), {.threads = 1}, count), cuda_0);
    EXPECT_EQ(asked, 1);
}

TEST(FasterDevice, KnowsTheModelOfTheGpu) {
    auto table = made_up_table();
    table.costs["direct.gpu.slow_card.double.self_pairs_per_second"] = 1e8;
    const auto on = [&](const char* name) {
        return faster_device(table, direct(), problem_of_pairs(1e10), {.threads = 1},
                             [name] { return std::string(name); });
    };
    EXPECT_EQ(on("NVIDIA Slow Card 12GB"), cpu);
    EXPECT_EQ(on("NVIDIA Slow Cards 12GB"), cuda_0);
    EXPECT_EQ(on("NVIDIA H200"), cuda_0);
}

// No state and no clock: what ran before, and for how long, does not matter.
TEST(FasterDevice, IsTheSameAfterSlowWork) {
    const auto ask = [] {
        std::vector<DeviceChoice> chosen;
        for (double n = 1000; n < 1e6; n *= 1.3)
            chosen.push_back(faster_device(shipped_cost_table(), direct(), problem_of_pairs(n * n),
                                           {.threads = 2}, [] { return std::string("NVIDIA H200"); }));
        return chosen;
    };
    const auto before = ask();
    std::vector<double> points(3 * 3000), strengths(3000, 1.0);
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<double>(i * i % 7919);
    SumPlan plan(matrix_view(std::span<const double>(points), 3), {.threads = 1, .isa = Isa::scalar});
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> potential(3000);
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(600))
        plan.execute(std::span<const double>(strengths),
                     {.potential = std::span<double>(potential), .field = {}});
    EXPECT_EQ(ask(), before);
    EXPECT_EQ(before.front(), cpu);
    EXPECT_EQ(before.back(), cuda_0);
}

// On any machine: the report names the table that chose, and none where the options chose.
TEST(ChooseDevice, NamesTheTableThatChose) {
    const auto table_of = [](const SumOptions& options) {
        return choose_device(direct(), problem_of_pairs(10), options).cost_table;
    };
    EXPECT_EQ(table_of({}), cost_table_in_use().hash);
    EXPECT_EQ(table_of({.device = {.kind = DeviceKind::cpu}}), "");
    EXPECT_EQ(table_of({.device = {.kind = DeviceKind::cuda}}), "");
    EXPECT_EQ(table_of({.isa = Isa::scalar}), "");
    const std::vector<double> points{0, 0, 0, 1, 0, 0}, strengths{1, 1};
    const auto at = matrix_view(std::span<const double>(points), 3);
    EXPECT_EQ(sum(at, std::span<const double>(strengths)).report.cost_table, cost_table_in_use().hash);
    EXPECT_EQ(sum(at, std::span<const double>(strengths), {.device = cpu}).report.cost_table, "");
}

TEST(ChooseDevice, TakesWhatIsAskedFor) {
    constexpr double huge = 1e15;
    constexpr double tiny = 10;
    EXPECT_EQ(device_of({.device = {.kind = DeviceKind::cpu}}, huge), cpu);
    EXPECT_EQ(device_of({.device = {.kind = DeviceKind::cuda}}, tiny), cuda_0);
    EXPECT_EQ(device_of({.device = {.kind = DeviceKind::cuda, .gpus = {2}}}, tiny).gpus, std::vector<int>{2});
    // arrays take the sum to their GPU
    EXPECT_EQ(device_of({}, tiny, 3).gpus, std::vector<int>{3});
    EXPECT_THROW(device_of({.device = {.kind = DeviceKind::cpu}}, tiny, 3), InvalidArgument);
    // rungs know their place
    EXPECT_EQ(device_of({.variant = Variant::register_tile}, tiny), cuda_0);
    EXPECT_EQ(device_of({.variant = Variant::simd}, huge), cpu);
    EXPECT_EQ(device_of({.isa = Isa::scalar}, huge), cpu);
    EXPECT_EQ(device_of({}, tiny), cpu);
}

TEST(ChooseDevice, WithoutGpuSaysWhyAndAutoTakesTheCpu) {
    if (!gpus().empty()) GTEST_SKIP() << "this machine has a GPU";
    EXPECT_EQ(device_of({}, 1e15), cpu);
    const std::vector<double> points{0, 0, 0, 1, 0, 0}, strengths{1, 1};
    const auto at = matrix_view(std::span<const double>(points), 3);
    const auto message = [&](const SumOptions& options, ConstArrayView view) {
        try {
            sum(view, std::span<const double>(strengths), options);
        } catch (const BackendUnavailable& error) {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    EXPECT_EQ(message({.device = {.kind = DeviceKind::cuda}}, at), why_no_gpu());
    EXPECT_EQ(message({.variant = Variant::flush}, at), why_no_gpu());
    EXPECT_EQ(
        message({.method = Method::automatic, .tolerance = 1e-5, .device = {.kind = DeviceKind::cuda}}, at),
        why_no_gpu());
    const ConstArrayView away(points.data(), DType::float64, {2, 3}, {DeviceType::cuda, 0});
    EXPECT_EQ(message({}, away), why_no_gpu());
    EXPECT_FALSE(why_no_gpu().empty());
    EXPECT_EQ(why_no_gpu().find('\n'), std::string::npos);
}

TEST(Rungs, AreVariantsOfTheSameName) {
    for (const auto& info : cuda::rungs()) {
        const auto variant = cuda::variant_of(info.rung);
        EXPECT_EQ(name_of(variant), info.name);
        EXPECT_EQ(cuda::rung_of(variant, true, Precision::float32), info.rung);
    }
    EXPECT_EQ(cuda::rung_of(Variant::automatic, true, Precision::mixed), cuda::Rung::symmetric);
    EXPECT_EQ(cuda::rung_of(Variant::automatic, false, Precision::mixed), cuda::Rung::register_tile);
    EXPECT_THROW(cuda::rung_of(Variant::simd, true, Precision::float64), InvalidArgument);
    EXPECT_THROW(cuda::rung_of(Variant::flush, true, Precision::mixed), InvalidArgument);
    EXPECT_THROW(cuda::rung_of(Variant::symmetric, false, Precision::float64), InvalidArgument);
    EXPECT_THROW(cuda::rung_of(Variant::tensor, true, Precision::float64), InvalidArgument);
    EXPECT_THROW(cuda::rung_of(Variant::tensor, true, Precision::mixed), InvalidArgument);
    EXPECT_THROW(cuda::rung_of(Variant::tensor, false, Precision::float32), InvalidArgument);
}

} // namespace
} // namespace farfield
