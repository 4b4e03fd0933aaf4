// The cpu target against plain loops: every mask strategy, number of threads, steps a pass and boundary gives
// the same bits.
#include "math/portable/functions.h"
#include "stencil/runtime/cpu/cpu_executor.h"
#include "unit/stencil/compiled.h"
#include "unit/stencil/te_program.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace farfield::stencil::cpu {
namespace {

struct Expected {
    std::vector<std::vector<double>> fields;
    std::vector<std::vector<double>> series{3};
};

constexpr int steps = 13;

Expected by_loops(const te::Options& options) {
    te::Plain plain(options);
    Expected expected;
    for (int s = 0; s < steps; ++s) {
        plain.step(portable::sin(0.15 * s));
        expected.series[0].push_back(plain.at(te::hz, options.nx / 2 + 3, options.ny / 2 - 2));
        if ((s + 1) % 3 == 0) expected.series[1].push_back(plain.power());
        if ((s + 1) % 2 == 0) expected.series[2].push_back(plain.largest());
    }
    expected.fields.assign(plain.fields.begin(), plain.fields.end());
    return expected;
}

void expect_equal(const std::vector<double>& found, const std::vector<double>& wanted,
                  const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint64_t>(found[i]), std::bit_cast<std::uint64_t>(wanted[i]))
            << what << '[' << i << "]: " << found[i] << " instead of " << wanted[i];
}

void check(const te::Options& options, const ExecutorOptions& execution, const Expected& expected,
           const std::string& what) {
    CpuExecutor executor(te::program(options), execution);
    executor.advance(5);
    executor.advance(steps - 5);
    EXPECT_EQ(executor.step(), steps);
    std::vector<double> values(expected.fields[0].size());
    for (int f = 0; f < 4; ++f) {
        executor.read(f, values);
        expect_equal(values, expected.fields[f], what + " field " + std::to_string(f));
    }
    for (int r = 0; r < 3; ++r)
        expect_equal(executor.take_series(r), expected.series[r], what + " series " + std::to_string(r));
}

TEST(CpuExecutor, AllMasksGiveTheBitsOfPlainLoops) {
    const te::Options options{.nx = 90, .ny = 47, .radius = 20};
    const auto expected = by_loops(options);
    for (const auto mask : {Mask::spans, Mask::branch, Mask::select, Mask::none})
        check(options, {.mask = mask, .threads = 2}, expected,
              "mask " + std::to_string(static_cast<int>(mask)));
}

// A call for each cell of a chessboard takes longer than an array with an if; pieces of four cells do not.
TEST(CpuExecutor, TakesAnArrayForChessboardsAlone) {
    const auto with = [](const std::string& subdomain, const std::string& more = "") {
        return std::string("grid g[x: 70, y: 41]\nsubdomain red(x, y) = " + subdomain +
                           "\nsubdomain disc(x, y) = (x - 30)^2 + (y - 20)^2 < 150\n"
                           "field u on g = x*0.25 - y\nfield v on g = 1\nboundary: clamp\n"
                           "update a on red: u += 0.2*(v[x-1] + v[y+1] - u)\n"
                           "update b on not red: u += 0.3*(v[x+1] - u)\n" +
                           (more.empty() ? "step: a, b\n" : more) + "record all = sum of u*v on red\n");
    };
    const std::string disc = "update c on disc: v = 0.5*v + 0.125*(u[y-1] + u[x+1])\nstep: a, b, c\n";
    for (const auto& [text, words] : {std::pair{with("(x + y) % 2 == 0"), ", branch, "},
                                      std::pair{with("(x//4 + y) % 2 == 0"), ", spans, "},
                                      std::pair{with("(x + y) % 2 == 0", disc), ", spans and branch, "}}) {
        const testing::Compiled program(text);
        const auto judge = program.start();
        judge->advance(steps);
        const auto series = testing::series_of(*judge, "all");
        for (const int threads : {1, 3}) {
            const auto found = program.start("cpu", {.threads = threads});
            EXPECT_NE(found->preparation().description.find(words), std::string::npos)
                << found->preparation().description;
            found->advance(steps);
            for (const auto* field : {"u", "v"})
                expect_equal(testing::values_of(*found, field), testing::values_of(*judge, field), words);
            expect_equal(testing::series_of(*found, "all"), series, words);
        }
    }
}

TEST(CpuExecutor, ThreadsAndTimeTilesChangeNothing) {
    const te::Options options{.nx = 33, .ny = 150, .radius = 14};
    const auto expected = by_loops(options);
    check(options, {}, expected, "as the target chooses");
    check(options, {.threads = 2, .fuse = false}, expected, "apart");
    for (const int threads : {1, 2, 3, 7})
        for (const int tile : {1, 2, 5, 8})
            check(options, {.threads = threads, .time_tile = tile}, expected,
                  std::to_string(threads) + " threads, tile " + std::to_string(tile));
}

TEST(CpuExecutor, RowsAtATimeChangeNothing) {
    for (const auto boundary : {Boundary::zero, Boundary::periodic}) {
        const te::Options options{.nx = 33, .ny = 150, .whole = true, .boundary = boundary};
        const auto expected = by_loops(options);
        for (const int threads : {1, 2, 3})
            for (const int rows : {2, 3, 8, 1000})
                check(options, {.threads = threads, .time_tile = 5, .block = {0, rows, 0}}, expected,
                      "boundary " + std::to_string(static_cast<int>(boundary)) + ", " +
                          std::to_string(threads) + " threads, rows " + std::to_string(rows));
    }
}

TEST(CpuExecutor, BoundariesAreWhatTheyAre) {
    for (const auto boundary : {Boundary::zero, Boundary::periodic, Boundary::mirror, Boundary::clamp})
        for (const std::int64_t ny : {6, 130}) {
            const te::Options options{.nx = 37, .ny = ny, .whole = true, .boundary = boundary};
            const auto expected = by_loops(options);
            for (const auto mask : {Mask::spans, Mask::select})
                for (const int tile : {1, 4})
                    check(options, {.mask = mask, .threads = 3, .time_tile = tile}, expected,
                          "boundary " + std::to_string(static_cast<int>(boundary)) + " rows " +
                              std::to_string(ny) + " tile " + std::to_string(tile));
        }
}

} // namespace
} // namespace farfield::stencil::cpu
