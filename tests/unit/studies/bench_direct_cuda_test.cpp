// What the GPU's bench makes of its times, and how it reports; without a GPU.
#include "studies/bench_direct_cuda.h"

#include "backend/cuda/devices.h"

#include <farfield/error.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace farfield {
namespace {

using cuda::Rung;

BenchCudaReport three_rungs() {
    BenchCudaReport report;
    report.device = "a card";
    report.cpu_float_pairs = 1e9;
    report.cpu_double_pairs = 0.5e9;
    report.lanes = {.total = 1000, .double_cost = 2, .clock_hz = 1e9};
    const auto add = [&](Rung rung, Precision precision, std::int64_t n, double seconds) {
        report.rows.push_back({.rung = rung, .precision = precision, .n = n, .seconds = seconds});
    };
    add(Rung::one_thread, Precision::float32, 101, 1.0); // 101·100 pairs: 10100/s
    add(Rung::naive, Precision::float32, 1001, 1e-3);    // 1.001e9/s
    add(Rung::soa, Precision::float32, 1001, 0.5e-3);    // 2.002e9/s
    add(Rung::soa, Precision::float32, 2001, 0.5e-3);    // naive was not measured at this size
    add(Rung::soa, Precision::float64, 1001, 1e-3);
    return report;
}

TEST(BenchDirectCuda, RatesAndSpeedupsFollowFromTimes) {
    auto report = three_rungs();
    complete(report, {});
    const auto& rows = report.rows;
    EXPECT_DOUBLE_EQ(rows[0].pairs_per_second, 10100.0);
    EXPECT_DOUBLE_EQ(rows[0].over_one_thread, 1.0);
    EXPECT_FALSE(rows[0].over_predecessor.has_value());
    EXPECT_DOUBLE_EQ(rows[1].pairs_per_second, 1.001e9);
    EXPECT_DOUBLE_EQ(rows[1].over_one_thread, 1.001e9 / 10100.0);
    EXPECT_DOUBLE_EQ(rows[1].over_predecessor.value(), 1.001e9 / 10100.0);
    EXPECT_DOUBLE_EQ(rows[2].over_predecessor.value(), 2.0);
    EXPECT_DOUBLE_EQ(rows[2].over_cpu_thread, 2.002);
    EXPECT_DOUBLE_EQ(rows[3].over_predecessor.value(), 8.004e9 / 1.001e9);
    EXPECT_DOUBLE_EQ(rows[4].over_cpu_thread, 2.002);   // of the CPU's double
    EXPECT_FALSE(rows[4].over_predecessor.has_value()); // no naive in double
    EXPECT_DOUBLE_EQ(rows[2].flops, 20 * 2.002e9);
    EXPECT_DOUBLE_EQ(rows[2].share_of_peak, 40.04e9 / 2000e9); // 2·1000·1 GHz
    EXPECT_DOUBLE_EQ(rows[2].share_of_realistic, 40.04e9 / 1000e9);
    EXPECT_FALSE(rows[2].share_of_actual.has_value());
    EXPECT_DOUBLE_EQ(rows[2].bytes_per_second, bytes_moved(Rung::soa, Precision::float32, 1001) / 0.5e-3);
}

TEST(BenchDirectCuda, InstructionsComeFromTheDisassembly) {
    auto report = three_rungs();
    complete(report, {{"_ZN8farfield4cuda10soa_kernelIfLi2EEEv", {{160, 4, 8, 0}}}});
    EXPECT_DOUBLE_EQ(report.rows[2].instructions_a_pair.value(), 40.0);
    // 152 of a cycle and 8 of eight for 4 pairs: 54 cycles a pair
    EXPECT_DOUBLE_EQ(report.rows[2].share_of_actual.value(), 40.04e9 / (1000e9 * 20 / 54));
    EXPECT_FALSE(report.rows[1].instructions_a_pair.has_value());
    EXPECT_FALSE(report.rows[4].instructions_a_pair.has_value());
}

TEST(BenchDirectCuda, JsonHasEveryField) {
    auto report = three_rungs();
    report.ceilings.fma_loops.push_back({.chains = 4, .per_second = 3e13});
    report.ceilings.to_gpu_bytes = 5e10;
    report.limits = {2048, 32, 65536, 233472, 1024};
    report.rows[2].resources = {.registers = 40, .shared_bytes = 4096, .threads = 256, .blocks = 6};
    complete(report, {});
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_EQ(json["benchmark"], "direct");
    EXPECT_EQ(json["device"], "a card");
    EXPECT_EQ(json["cpu_thread"]["float_pairs_per_second"], 1e9);
    EXPECT_EQ(json["ceilings"]["fma_loops"][0]["chains"], 4);
    ASSERT_EQ(json["rows"].size(), 5U);
    const auto& row = json["rows"][2];
    for (const auto* key :
         {"rung", "precision", "n", "deterministic", "seconds", "fastest_seconds", "slowest_seconds",
          "pairs_per_second", "error", "bytes_per_second", "instructions_per_pair", "speedup_over_one_thread",
          "speedup_over_predecessor", "speedup_over_cpu_thread", "gflops_at_20", "share_of_peak",
          "share_of_realistic_peak", "share_of_actual_peak", "resources"})
        EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_EQ(row["rung"], "soa");
    EXPECT_EQ(row["speedup_over_predecessor"], 2.0);
    EXPECT_EQ(json["ceilings"]["host_to_gpu_bytes_per_second"], 5e10);
    EXPECT_EQ(json["multiprocessor"]["registers"], 65536);
    EXPECT_EQ(row["resources"]["registers_per_thread"], 40);
    EXPECT_EQ(row["resources"]["limited_by"], "registers");
    EXPECT_EQ(row["resources"]["occupancy"], 0.75);
    EXPECT_TRUE(json["rows"][0]["resources"].is_null());
    EXPECT_TRUE(row["instructions_per_pair"].is_null());
    EXPECT_TRUE(json["rows"][0]["speedup_over_predecessor"].is_null());
}

TEST(BenchDirectCuda, TheTableHasALineARungAndDashesForWhatIsNotKnown) {
    auto report = three_rungs();
    report.limits = {2048, 32, 65536, 233472, 1024};
    report.rows[2].resources = {.registers = 40, .shared_bytes = 4096, .threads = 256, .blocks = 6};
    complete(report, {});
    const auto text = to_text(report);
    EXPECT_NE(text.find("a card"), std::string::npos);
    const auto line_of = [&](const std::string& name) {
        const auto at = text.find(name);
        return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_NE(line_of("one-thread ").find(" - "), std::string::npos);
    EXPECT_NE(line_of("soa ").find("2.00"), std::string::npos);
    EXPECT_NE(line_of("soa ").find("  40   75% registers"), std::string::npos) << text;
    EXPECT_NE(text.find("link to the host"), std::string::npos);
}

TEST(BenchDirectCuda, SlowRungsAreMeasuredAtFewerPoints) {
    EXPECT_LE(capped_size(Rung::one_thread, 1 << 20), 8192);
    EXPECT_EQ(capped_size(Rung::one_thread, 1000), 1000);
    EXPECT_EQ(capped_size(Rung::symmetric, 1 << 20), 1 << 20);
    EXPECT_EQ(capped_size(Rung::naive, 1 << 20), 65536);
}

TEST(BenchDirectCuda, WithoutAGpuItSaysWhy) {
    if (!cuda::devices().empty()) GTEST_SKIP() << "there is a GPU here";
    try {
        bench_direct_cuda({.sizes = {64}});
        FAIL() << "measured without a GPU";
    } catch (const BackendUnavailable& error) {
        EXPECT_EQ(error.what(), cuda::why_no_device());
    }
}

} // namespace
} // namespace farfield
