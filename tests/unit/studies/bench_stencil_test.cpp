// The benchmark of the stencil language on small grids: its own check compares every row's energy with the
// hand-written loop's, bit for bit, and throws where they differ.
#include "effort.h"
#include "studies/bench_stencil.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

namespace farfield {
namespace {

TEST(BenchStencil, MeasuresLoopsThatGiveTheSameBits) {
    const auto sizes = test::sized(std::vector<std::int64_t>{33, 128}, std::vector<std::int64_t>{128});
    const auto report = bench_stencil({.sizes = sizes, .threads = 3, .repeats = 1, .seconds = 1e-3});
    ASSERT_EQ(report.rows.size(), 9 * sizes.size());
    for (const auto& row : report.rows) {
        EXPECT_GT(row.cell_steps, 0.0) << row.what;
        EXPECT_EQ(row.region == "whole" ? (row.n - 1) * (row.n - 1) : row.cells, row.cells);
        EXPECT_EQ(row.cell_against_whole > 0.0, row.region == "disk") << row.what;
    }
    EXPECT_NE(to_json(report).find("\"against_plain\""), std::string::npos);
    EXPECT_NE(to_text(report).find("128 x 128"), std::string::npos);
}

TEST(BenchStencil, RefusesGridsThatAreTooSmall) {
    EXPECT_THROW(bench_stencil({.sizes = {8}}), InvalidArgument);
    EXPECT_THROW(bench_stencil({.repeats = 0}), InvalidArgument);
}

} // namespace
} // namespace farfield
