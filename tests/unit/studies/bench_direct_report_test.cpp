// The table of bench_direct says what its ceiling is the ceiling of, where it shows one.
#include "studies/bench_direct.h"

#include <gtest/gtest.h>

using namespace farfield;

TEST(BenchDirectReport, SaysWhyTheCeilingIsPassed) {
    BenchDirectReport report;
    BenchDirectRow row;
    row.rung = "symmetric";
    row.n = 4096;
    report.rows = {row};
    EXPECT_EQ(to_text(report).find("ceiling"), std::string::npos);
    row.rung = "ceiling";
    report.rows.push_back(row);
    EXPECT_NE(to_text(report).find("symmetric passes it, for it computes a distance once"),
              std::string::npos);
}
