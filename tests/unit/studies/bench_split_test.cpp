// How a sum is divided between CPU and GPU; the division itself needs a GPU.
#include "studies/bench_split.h"

#include "backend/cuda/devices.h"

#include <farfield/error.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace farfield {
namespace {

TEST(BenchSplit, SharesFollowTheRates) {
    EXPECT_EQ(split_targets(100 * 32, 1.0, 3.0, 1.0), 25 * 32);
    EXPECT_EQ(split_targets(100 * 32, 1.0, 3.0, 0.5), 13 * 32);  // 12.5 blocks, rounded
    EXPECT_EQ(split_targets(100 * 32, 1e-9, 1.0, 1.0), 32);      // never nothing
    EXPECT_EQ(split_targets(100 * 32, 1.0, 0.0, 1.25), 99 * 32); // never all
}

TEST(BenchSplit, RefusesWhatItCannotDo) {
    EXPECT_THROW(bench_split({.repeats = 0}), InvalidArgument);
    if (!cuda::devices().empty()) GTEST_SKIP() << "there is a GPU here";
    EXPECT_THROW(bench_split({}), BackendUnavailable);
}

TEST(BenchSplit, ReportsTransfersBesideTheSums) {
    BenchSplitReport report{.cpu = "a CPU", .threads = 3, .device = "a card", .repeats = 5};
    report.rows.push_back({.n = 65536,
                           .cpu_targets = 128,
                           .seconds = 1e-3,
                           .serial_seconds = 1.75e-3,
                           .overlapped_seconds = 1.25e-3,
                           .gain = 0.97});
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_EQ(json["rows"][0]["serial_transfers_seconds"], 1.75e-3);
    EXPECT_EQ(json["rows"][0]["overlapped_transfers_seconds"], 1.25e-3);
    const auto text = to_text(report);
    EXPECT_NE(text.find("1.7500     1.2500   0.970"), std::string::npos) << text;
    EXPECT_NE(text.find("moved ms  overl. ms"), std::string::npos) << text;
}

} // namespace
} // namespace farfield
