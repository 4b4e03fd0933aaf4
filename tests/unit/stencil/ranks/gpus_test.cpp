// Programs on the GPUs of several ranks, emulated on the CPU: the bits of one rank, whether ranks copy rims
// from each other's memory or send them.
#include "backend/comm/communicator_access.h"
#include "backend/comm/first_ranks.h"
#include "backend/comm/in_process.h"
#include "effort.h"
#include "emulation/emulated_machine.h"
#include "parity/stencil_cases.h"
#include "stencil/runtime/cuda/device_executor.h"
#include "stencil/runtime/ranks/division.h"
#include "stencil/runtime/ranks/halos.h"
#include "stencil/runtime/ranks/part.h"
#include "stencil/runtime/ranks/ranks_executor.h"
#include "stencil/targets.h"
#include "unit/stencil/compiled.h"
#include "unit/stencil/results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

using testing::Compiled;
using testing::difference;
using testing::results_of;
using ProgramPtr = std::shared_ptr<const ir::Program>;

const std::vector<int> steps{3, 4, 6};

struct Gpus {
    int ranks = 2;
    bool read_each_other = true;
    ExecutorOptions options{};
    bool messages_hold_their_memory = false;
};

std::unique_ptr<Executor> executor_of(std::shared_ptr<comm::Transport> transport, const Gpus& gpus,
                                      const ProgramPtr& program) {
    const auto make = [&](ProgramPtr part) {
        auto machine = std::make_unique<testing::EmulatedMachine>();
        machine->is_shared = gpus.read_each_other;
        return std::make_unique<cuda::DeviceExecutor>(std::move(part), gpus.options, std::move(machine));
    };
    return std::make_unique<ranks::RanksExecutor>(program, CommunicatorAccess::of(std::move(transport)), make,
                                                  gpus.options.time_tile, gpus.options.mpi_gpu);
}

void on_gpus(const Gpus& gpus, const ProgramPtr& program, const std::function<void(Executor&, int)>& work) {
    comm::run_ranks(
        gpus.ranks,
        [&](std::shared_ptr<comm::Transport> transport) {
            const int rank = transport->rank();
            const auto executor = executor_of(std::move(transport), gpus, program);
            work(*executor, rank);
        },
        gpus.messages_hold_their_memory);
}

void expect_same(const std::string& name, const ProgramPtr& program, const Gpus& gpus) {
    ASSERT_NE(program, nullptr) << name;
    const auto wanted = results_of(*make_executor("interpreter", program, {}), steps);
    on_gpus(gpus, program, [&](Executor& executor, int rank) {
        EXPECT_EQ(difference(results_of(executor, steps), wanted), "")
            << name << ", rank " << rank << " of " << gpus.ranks << ", "
            << executor.preparation().description;
    });
}

TEST(GpusOfRanks, GiveTheBitsOfOneForEveryBoundary) {
    int cases = 0, tried = 0;
    for (const auto& list : {testing::boundary_cases(), testing::column_cases(), testing::in_place_cases()})
        for (const auto& one : list) {
            const int number = cases++; // says how many ranks, and how they exchange
            if (test::shorter() && number % 3 != 0) continue;
            const Compiled program(one.text);
            expect_same(one.name, program.program(),
                        {.ranks = 2 + number % 2, .read_each_other = number % 4 < 2});
            ++tried;
        }
    EXPECT_GE(tried, test::shorter() ? 6 : 20);
}

TEST(GpusOfRanks, GiveTheBitsOfOneInEveryForm) {
    const Compiled program(testing::probed);
    expect_same("alone", program.program(), {.ranks = 3, .options = {.fuse = false}});
    expect_same("tiles", program.program(), {.ranks = 3, .options = {.time_tile = 4}});
    expect_same("sent", program.program(),
                {.ranks = 2, .read_each_other = false, .options = {.time_tile = 3}});
    const Compiled ball(testing::yee_ball);
    expect_same("ball", ball.program(), {.ranks = 4});
}

// Tiles and columns that reach beyond the rows in memory, and conditions that hold there, too.
TEST(GpusOfRanks, TouchOnlyRowsThatTheyHold) {
    const std::string tall = testing::spreading("x: 22, y: 200", "clamp", ": float, double-buffered",
                                                "u[x-1, y+2] - u[y-3] + u[x+1]");
    const std::string deep = testing::spreading("x: 10, y: 7, z: 50", "zero", ": double, double-buffered",
                                                "u[x-1, z+1] + u[z-2] - u[y+1]");
    const std::string wide = testing::spreading("x: 9, y: 44, z: 36", "mirror", ": double, double-buffered",
                                                "u[x-1, z+1] + u[z-2] - u[y+1]");
    const std::string ring =
        testing::spreading("x: 20, y: 120", "periodic", ": double, double-buffered", "u[x-1, y+1] - u[y-2]");
    const std::string pipe = testing::spreading("x: 18, y: 9, z: 48", "periodic", ": float, double-buffered",
                                                "u[x-1, z+1] - u[y+1, z-1]");
    const std::string disk = testing::probed + "record most = max of abs(Hz) on disk\n"
                                               "record all = sum of Ex*Ex\n";
    const std::string ball = testing::yee_ball + "record least = min of Ex on ball\n";
    // A coefficient that is read far from cells of which a condition decides, and records beside all kernels.
    const std::string medium = R"(grid g[x: 80, y: 100]
subdomain low(y) = y < 40
subdomain disk(x, y) = (x - 40)^2 + (y - 50)^2 < 1400
coefficient c on g:
    low: 0.5
    elsewhere: 0.25
field u on g : double, double-buffered = 0.01*x*y
update spread on disk: u = 0.3*u + 0.1*(c[y+9]*u[y-1] + c[y-9]*u[x+1] - c*u[y+1])
step: spread
)";
    const std::string edge = R"(grid g[x: 70, y: 100]
field u on g : double, double-buffered = 0.01*x*y
boundary u: zero
update spread on x < 6: u = 0.3*u + 0.1*(u[y-1] - u[y+1] + u[x-1])
record near = u at (60, 34)
record middle = u at (62, 51)
record far = u at (60, 76)
step: spread
)";
    const std::vector<std::pair<std::string, ExecutorOptions>> forms{
        {"chosen", {}},
        {"alone, conditions", {.mask = Mask::none, .fuse = false}},
        {"alone, choices", {.mask = Mask::select, .fuse = false}},
        {"steps", {.time_tile = 3}},
        {"steps, conditions", {.mask = Mask::none, .time_tile = 2}},
        {"small blocks", {.time_tile = 2, .block = {16, 16, 4}}}};
    std::size_t number = 0;
    for (const auto& text : {tall, deep, wide, ring, pipe, disk, ball, edge}) {
        const Compiled program(text);
        for (int ranks = 2; ranks <= 4; ++ranks) {
            const auto& [name, options] = forms[(number + number / forms.size()) % forms.size()];
            ++number;
            if (test::shorter() && number % 4 != 1) continue;
            expect_same(name + " of " + text.substr(0, text.find('\n')), program.program(),
                        {.ranks = ranks, .read_each_other = number % 3 != 0, .options = options});
        }
    }
    expect_same("steps, conditions of a medium", Compiled(medium).program(),
                {.ranks = 3, .options = {.mask = Mask::none, .time_tile = 2}});
}

// Of the rows and planes of a grid in which a rank holds any row, from the first to the last.
std::int64_t bytes_of_rows(const ir::Program& part, const codegen::cuda::BufferLayout& layout, int grid) {
    const auto& shape = part.grids[static_cast<std::size_t>(grid)].shape;
    std::array<std::int64_t, 2> first{shape[1], shape[2]}, last{0, 0};
    for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row) {
        if (!ir::holds_row(part, grid, row)) continue;
        const std::array<std::int64_t, 2> at{row % shape[1], row / shape[1]};
        for (std::size_t a = 0; a < 2; ++a) {
            first[a] = std::min(first[a], at[a]);
            last[a] = std::max(last[a], at[a]);
        }
    }
    return (last[0] - first[0] + 1) * (last[1] - first[1] + 1) * layout.pitch * layout.value_bytes;
}

struct Shares {
    std::vector<std::int64_t> bytes; ///< of the first copy of the first field, by rank
    std::int64_t whole = 0;          ///< without ranks
};

Shares shares_of(const std::string& text, int ranks) {
    const Compiled compiled(text);
    const auto& program = *compiled.program();
    const auto divisions = ranks::divide(program, ranks);
    const auto halos = ranks::halos_of(program, ranks::steps_a_pass(program, divisions, 0));
    Shares out;
    const auto no_kernels = std::make_shared<const testing::EmulatedCode>(std::vector<codegen::cuda::Plan>{});
    const auto memory_of = [&](const ProgramPtr& of) {
        auto machine = std::make_unique<testing::EmulatedMachine>(1, no_kernels);
        const auto& memory = machine->memory();
        const cuda::DeviceExecutor executor(of, {}, std::move(machine));
        const auto bytes = memory.bytes();
        std::size_t next = 0;
        for (std::size_t b = 0; b < of->buffers.size(); ++b) {
            const auto& layout = executor.plan().buffers[b];
            for (int copy = 0; copy < layout.copies; ++copy)
                EXPECT_EQ(bytes[next++], bytes_of_rows(*of, layout, of->buffers[b].grid))
                    << of->buffers[b].name;
        }
        return static_cast<std::int64_t>(bytes[0]);
    };
    out.whole = memory_of(compiled.program());
    for (int rank = 0; rank < ranks; ++rank)
        out.bytes.push_back(memory_of(ranks::part_of(program, divisions, halos, rank).program));
    return out;
}

TEST(GpusOfRanks, SetMemoryAsideForTheirRows) {
    const auto zero = [](const std::string& grid) {
        return testing::spreading(grid, "zero", ": double, double-buffered", "u[y-1] + u[y+1]");
    };
    for (const auto& grid : {"x: 40, y: 600", "x: 40, y: 6, z: 200", "x: 9, y: 100, z: 80"})
        for (int ranks = 2; ranks <= 4; ++ranks) {
            const auto shares = shares_of(zero(grid), ranks);
            for (const auto bytes : shares.bytes) // with the rims
                EXPECT_LT(bytes, shares.whole * 14 / (10 * ranks)) << grid << " on " << ranks;
        }
    // Rims of the first and the last rank come in at the other end of the grid.
    const auto ring = shares_of(
        testing::spreading("x: 40, y: 600", "periodic", ": double, double-buffered", "u[y-1] + u[y+1]"), 4);
    for (const std::size_t rank : {0, 3}) EXPECT_EQ(ring.bytes[rank], ring.whole);
    for (const std::size_t rank : {1, 2}) EXPECT_LT(ring.bytes[rank], ring.whole * 13 / 40);
    // More ranks than rows.
    const auto few = shares_of(zero("x: 40, y: 3"), 3);
    for (const auto bytes : few.bytes) EXPECT_LE(bytes, few.whole);
}

TEST(GpusOfRanks, SayHowManyStepsTheyDoBetweenExchanges) {
    const Compiled program("grid g[x: 40, y: 900]\nfield u on g : double, double-buffered = x + y\n"
                           "boundary u: zero\nupdate move: u = 0.5*u[x-1] + 0.25*u[y+1] + 0.2*u[y-1]\n"
                           "step: move\n");
    on_gpus({.ranks = 2, .options = {.time_tile = 5}}, program.program(), [&](Executor& executor, int) {
        executor.advance(1);
        const auto& text = executor.preparation().description;
        EXPECT_NE(text.find("2 ranks, 5 steps between exchanges by peer copies"), std::string::npos) << text;
    });
    expect_same("tall", program.program(), {.ranks = 2});
    expect_same("tall, three steps", program.program(), {.ranks = 2, .options = {.time_tile = 3}});
}

TEST(GpusOfRanks, ReduceWhatNoneHasAlone) {
    const Compiled block("grid g[x: 3, y: 2, z: 2]\nfield u on g : double, double-buffered = x - y + z*z\n"
                         "boundary u: mirror\nrecord total = mean of u\nrecord low = min of u\n"
                         "update move: u = 0.5*u[x-1] + 0.25*u[y+1] + 0.1*u[z-2]\nstep: move\n");
    expect_same("more ranks than rows", block.program(), {.ranks = 5});
    const Compiled line("grid g[x: 1000]\nfield u on g : float, double-buffered = sin(0.1*x)\nfield w on g\n"
                        "boundary u: zero\nrecord total = sum of u*w\nrecord low = min of u\n"
                        "update move: u = 0.5*u[x-1] + 0.25*u[x+2]\nupdate gather on x > 3: w += u\n"
                        "step: move, gather every 3\n");
    expect_same("a line", line.program(), {.ranks = 3});
    const Compiled zeros("grid g[x: 4, y: 6, z: 6]\nfield u on g = if (y + z) % 3 == 1 then -0.0 else 0.0\n"
                         "field w on g\nrecord top = max of u\nrecord low = min of -u\n"
                         "update copy: w = u\nstep: copy\n");
    expect_same("zeros of both signs", zeros.program(), {.ranks = 4});
}

// Messages that hold the memory of the emulated GPUs, of whole rows and of parts of planes.
TEST(GpusOfRanks, SendTheMemoryOfTheirGpus) {
    const auto sending = [](int ranks) {
        return Gpus{.ranks = ranks,
                    .read_each_other = false,
                    .options = {.mpi_gpu = MpiGpu::on},
                    .messages_hold_their_memory = true};
    };
    const Compiled plane(testing::boundary_cases().at(3).text);
    on_gpus(sending(2), plane.program(), [&](Executor& executor, int) {
        executor.advance(1);
        const auto& text = executor.preparation().description;
        EXPECT_NE(text.find("by messages from GPU to GPU"), std::string::npos) << text;
    });
    const Compiled cube(testing::spreading("x: 9, y: 44, z: 36", "mirror", ": double, double-buffered",
                                           "u[x-1, z+1] + u[z-2] - u[y+1]"));
    const Compiled ring(
        testing::spreading("x: 20, y: 120", "periodic", ": float, double-buffered", "u[x-1, y+1] - u[y-2]"));
    const Compiled ball(testing::yee_ball);
    for (const int ranks : {2, 3, 4}) {
        if (test::shorter() && ranks != 4) continue; // of which the cube's planes are cut, too
        expect_same("plane", plane.program(), sending(ranks));
        expect_same("cube", cube.program(), sending(ranks));
        expect_same("ring", ring.program(), sending(ranks));
        if (!test::shorter()) expect_same("ball", ball.program(), sending(ranks));
    }
    auto refused = sending(2);
    refused.messages_hold_their_memory = false;
    on_gpus(refused, plane.program(),
            [](Executor& executor, int) { EXPECT_THROW(executor.advance(1), BackendUnavailable); });
}

// Of a job of four, the first two compute.
TEST(GpusOfRanks, MayBeTheFirstOfMore) {
    const Compiled program(testing::boundary_cases().at(3).text);
    const auto wanted = results_of(*make_executor("interpreter", program.program(), {}), steps);
    for (const bool read : {true, false})
        comm::run_ranks(4, [&](comm::Transport& all) {
            if (all.rank() < 2) {
                const auto first = std::make_shared<comm::FirstRanks>(all, 2);
                const auto executor = executor_of(first, {.read_each_other = read}, program.program());
                EXPECT_EQ(difference(results_of(*executor, steps), wanted), "");
                EXPECT_NE(executor->preparation().description.find(read ? "by peer copies" : "by messages"),
                          std::string::npos)
                    << executor->preparation().description;
                EXPECT_GT(first->sent().messages, 0);
            }
            all.barrier();
        });
}

// What is written on one rank goes to all.
TEST(GpusOfRanks, GoOnFromWrittenFields) {
    const Compiled program(testing::boundary_cases().at(3).text);
    const int u = testing::field_of(*program.program(), "u");
    const auto& shape = program.program()->grids[0].shape;
    std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1]));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.37 * static_cast<double>(i));
    const auto work = [&](Executor& executor, bool has_values) {
        executor.advance(3);
        executor.write_from_first(u,
                                  has_values ? std::span<const double>(values) : std::span<const double>());
        executor.set_step(6);
        return results_of(executor, steps);
    };
    const auto wanted = work(*make_executor("interpreter", program.program(), {}), true);
    for (const bool read : {false, true})
        on_gpus({.ranks = 3, .read_each_other = read}, program.program(), [&](Executor& executor, int rank) {
            EXPECT_EQ(difference(work(executor, rank == 0), wanted), "");
            std::vector<double> all(values.size());
            executor.read(u, all);
            EXPECT_EQ(all, testing::fields_of(executor)[static_cast<std::size_t>(u)]);
        });
}

} // namespace
} // namespace farfield::stencil
