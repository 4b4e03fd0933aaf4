// Programs on several ranks, which threads play here: the bits of one rank, whatever the number of ranks, the
// boundary, the target and the number of steps between exchanges.
#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "effort.h"
#include "parity/stencil_cases.h"
#include "stencil/targets.h"
#include "unit/stencil/compiled.h"
#include "unit/stencil/results.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace farfield {
namespace {

using namespace stencil;
using test::sized;
using testing::Compiled;
using testing::difference;
using testing::results_of;
using ProgramPtr = std::shared_ptr<const ir::Program>;

const std::vector<int> steps{3, 4};

/// Calls check(executor) on every rank.
void on_ranks(int ranks, const ProgramPtr& program, std::string_view target, const ExecutorOptions& options,
              const std::function<void(Executor&, int rank)>& work) {
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        const auto executor =
            make_executor(target, program, options, CommunicatorAccess::of(std::move(transport)));
        work(*executor, rank);
    });
}

void expect_same(const std::string& name, const ProgramPtr& program, const std::vector<int>& ranks,
                 std::string_view target, ExecutorOptions options) {
    ASSERT_NE(program, nullptr) << name;
    options.threads = 1;
    const auto wanted = results_of(*make_executor("interpreter", program, {}), steps);
    for (const int count : ranks)
        on_ranks(count, program, target, options, [&](Executor& executor, int rank) {
            EXPECT_EQ(difference(results_of(executor, steps), wanted), "")
                << name << ", rank " << rank << " of " << count << ", " << options.time_tile
                << " steps a pass";
        });
}

TEST(Ranks, GiveTheBitsOfOneForEveryBoundary) {
    for (const auto& list : {testing::boundary_cases(), testing::column_cases(), testing::in_place_cases()})
        for (const auto& one : list) {
            const Compiled program(one.text);
            expect_same(one.name, program.program(), sized(std::vector{2, 5}, std::vector{5}), "interpreter",
                        {.time_tile = 3});
            expect_same(one.name, program.program(), {3}, "interpreter", {.time_tile = 1});
        }
}

TEST(Ranks, GiveTheBitsOfOneForEveryBoundaryCompiled) {
    for (const auto& list : {testing::boundary_cases(), testing::in_place_cases()})
        for (const auto& one : list) {
            const Compiled program(one.text);
            expect_same(one.name, program.program(), sized(std::vector{1, 2, 4}, std::vector{4}), "cpu", {});
        }
}

TEST(Ranks, GiveTheBitsOfOneForEveryMask) {
    const Compiled program(testing::probed);
    for (const auto mask : {Mask::spans, Mask::branch, Mask::select, Mask::none})
        expect_same("probed", program.program(), {3}, "cpu", {.mask = mask, .time_tile = 2});
    const Compiled ball(testing::yee_ball);
    expect_same("ball", ball.program(), sized(std::vector{2, 3, 4, 6, 8}, std::vector{6}), "cpu", {});
}

TEST(Ranks, MayBeMoreThanThereAreCells) {
    const Compiled line("grid g[x: 5]\nfield u on g : double, double-buffered = x\nboundary u: periodic\n"
                        "record total = sum of u\nrecord top = max of u\nrecord here = u at (4)\n"
                        "update move: u = 0.5*u[x-1] + 0.25*u[x+2]\nstep: move\n");
    expect_same("line", line.program(), {1, 3, 8}, "interpreter", {});
    const Compiled block("grid g[x: 3, y: 2, z: 2]\nfield u on g : double, double-buffered = x - y + z*z\n"
                         "boundary u: mirror\nrecord total = mean of u\nrecord low = min of u\n"
                         "update move: u = 0.5*u[x-1] + 0.25*u[y+1] + 0.1*u[z-2]\nstep: move\n");
    expect_same("block", block.program(), {1, 3, 8}, "interpreter", {});
}

// Cuts along x keep the atoms of sums whole; other cuts lie anywhere.
TEST(Ranks, CutALine) {
    for (const std::string record :
         {"record total = sum of u*w\nrecord low = min of u\n", "record low = min of u\n"}) {
        const Compiled line(
            "grid g[x: 1000]\nfield u on g : float, double-buffered = sin(0.1*x)\nfield w on g\n"
            "boundary u: zero\n" +
            record +
            "update move: u = 0.5*u[x-1] + 0.25*u[x+2]\nupdate gather on x > 3: w += u\n"
            "step: move, gather every 3\n");
        expect_same(record, line.program(), {2, 3, 7}, "interpreter", {.time_tile = 2});
    }
}

// -0 and 0 are equal: an extremum is the first of them in the order of the cells.
TEST(Ranks, TakeTheFirstOfEqualExtrema) {
    const Compiled program("grid g[x: 4, y: 6, z: 6]\nfield u on g = if (y + z) % 3 == 1 then -0.0 else 0.0\n"
                           "field w on g\nrecord top = max of u\nrecord low = min of -u\n"
                           "update copy: w = u\nstep: copy\n");
    expect_same("zeros", program.program(), {2, 4, 6}, "interpreter", {});
}

// What all ranks read is whole, and what is written goes to all.
TEST(Ranks, ReadAndWriteWholeFields) {
    const Compiled program(testing::boundary_cases().at(3).text);
    const auto& p = *program.program();
    const int u = testing::field_of(p, "u");
    std::vector<double> values(static_cast<std::size_t>(p.grids[0].shape[0] * p.grids[0].shape[1]));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.37 * static_cast<double>(i));
    const auto alone = make_executor("interpreter", program.program(), {});
    alone->advance(3);
    alone->write(u, values);
    alone->set_step(6);
    const auto wanted = results_of(*alone, steps);
    for (const bool from_first : {false, true})
        on_ranks(4, program.program(), "cpu", {.threads = 1}, [&](Executor& executor, int rank) {
            executor.advance(3);
            std::vector<double> before(values.size());
            if (from_first)
                executor.write_from_first(u, rank == 0 ? std::span<const double>(values)
                                                       : std::span<const double>());
            else
                executor.write(u, values);
            executor.set_step(6);
            EXPECT_EQ(difference(results_of(executor, steps), wanted), "");
            executor.read(u, before);
            std::vector<double> first(rank == 0 ? values.size() : 0);
            executor.read_to_first(u, first);
            if (rank == 0) {
                EXPECT_EQ(before, first);
            }
        });
}

// Cells that no kernel writes are alike in both copies of a field, also where a rank only looks at them.
TEST(Ranks, KeepCellsThatNobodyWrites) {
    const Compiled program(
        "grid g[x: 6, y: 24]\nfield u on g : double, double-buffered = x + y\nfield w on g\n"
        "update spread on y % 4 != 3 and y > 0 and x > 0: u = 0.5*u[y-1] + 0.25*u[x-1]\n"
        "update gather on y > 1: w += u[y-2]\nstep: spread, gather\n");
    const int u = testing::field_of(*program.program(), "u");
    std::vector<double> values(6 * 24, 0.125);
    const auto work = [&](Executor& executor) {
        executor.advance(1);
        executor.write_from_first(u, values);
        executor.set_step(1);
        return results_of(executor, steps);
    };
    const auto wanted = work(*make_executor("interpreter", program.program(), {}));
    for (const int tile : {1, 3})
        on_ranks(3, program.program(), "interpreter", {.time_tile = tile},
                 [&](Executor& executor, int) { EXPECT_EQ(difference(work(executor), wanted), ""); });
}

class OfExamples : public ::testing::TestWithParam<std::string> {};

TEST_P(OfExamples, GiveTheBitsOfOne) {
    stencil::CompileOptions options;
    options.folder = std::string(FARFIELD_EXAMPLES) + "/stencil";
    options.allow_unstable = true;
    const Compiled program(testing::text_of_file(options.folder / (GetParam() + ".ff")), options);
    ASSERT_NE(program.program(), nullptr);
    const std::vector<int> few{2, 5};
    const auto wanted = results_of(*program.start("cpu", {.threads = 1}), few);
    for (const int ranks : sized(std::vector{2, 3, 8}, std::vector{3}))
        on_ranks(ranks, program.program(), "cpu", {.threads = 1}, [&](Executor& executor, int rank) {
            EXPECT_EQ(difference(results_of(executor, few), wanted), "") << rank << " of " << ranks;
        });
}

std::vector<std::string> examples() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(FARFIELD_EXAMPLES) + "/stencil"))
        if (entry.path().extension() == ".ff") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(Ranks, OfExamples, ::testing::ValuesIn(examples()),
                         [](const auto& test) { return test.param; });

} // namespace
} // namespace farfield
