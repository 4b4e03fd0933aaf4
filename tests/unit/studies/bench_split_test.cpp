// How a sum is divided between CPU and GPU; the division itself needs a GPU.
#include "studies/bench_split.h"

#include "backend/cuda/devices.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

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

} // namespace
} // namespace farfield
