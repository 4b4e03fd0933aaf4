// The studies of the stencil paper's microdisk: the hand-written loop computes what the language computes,
// and rows are of strategies that differ.
#include "backend/comm/communicator_access.h"
#include "backend/comm/first_ranks.h"
#include "backend/comm/in_process.h"
#include "math/portable/functions.h"
#include "stencil/targets.h"
#include "studies/fdtd_study.h"
#include "studies/plain_te_run.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace farfield {
namespace {

std::vector<std::string> names_of_rows(const StudyTable& table) {
    std::vector<std::string> names;
    for (const auto& row : table.rows) names.push_back(row.what);
    return names;
}

TEST(FdtdStudy, TheHandWrittenLoopHasTheBitsOfTheProgram) {
    constexpr std::int64_t cells = 256, steps = 150;
    const StencilRateMeter meter(microdisk_of(cells), 1);
    const auto program = std::make_shared<stencil::ir::Program>(meter.program());
    const auto executor = stencil::make_executor("interpreter", program, {});
    executor->advance(steps);
    auto run = hand_written_microdisk(meter, cells, 2);
    run.advance(steps);
    std::vector<double> expected(cells * cells);
    executor->read(2, expected);
    const auto magnetic = run.magnetic();
    EXPECT_GT(*std::max_element(magnetic.begin(), magnetic.end()), 0.01);
    EXPECT_EQ(magnetic, expected);
    executor->read(3, expected);
    const auto energy = run.energy();
    // The loop rounds Hz² and the sum once, the program each: half a unit of the last place of either a step.
    for (std::size_t i = 0; i < energy.size(); ++i)
        ASSERT_LE(std::abs(energy[i] - expected[i]), steps * 1.2e-16 * expected[i]) << i;
}

TEST(FdtdStudy, StrategiesWithTheSameCodeAreOneRow) {
    const StencilRateMeter meter(microdisk_of(256), 1);
    const auto names = [&](std::string_view target, const stencil::ExecutorOptions& options) {
        std::vector<std::string> out;
        for (const auto& one : distinct_strategies(meter, target, options)) out.push_back(one.names);
        return out;
    };
    using Names = std::vector<std::string>;
    const Names apart{"none", "select", "branch", "spans", "multiply"};
    EXPECT_EQ(names("cpu", {}), apart);
    EXPECT_EQ(names("cuda", {.time_tile = 1, .fuse = false}), apart);
    EXPECT_EQ(names("cuda", {.time_tile = 4}), (Names{"none", "select, branch, spans", "multiply"}));
}

TEST(FdtdStudy, SizesOnACpuHaveTheHandWrittenLoopAndARanking) {
    const auto study = reproduce_fdtd_sizes(
        {.device = {.kind = DeviceKind::cpu}, .threads = 1, .repeats = 1, .most_points = 256});
    ASSERT_EQ(study.tables.size(), 4U);
    const std::vector<std::string> rows{"none",  "select",   "branch",
                                        "spans", "multiply", "hand-written OpenMP loop, 1 thread"};
    EXPECT_EQ(names_of_rows(study.tables[0]), rows);
    EXPECT_EQ(names_of_rows(study.tables[2]), std::vector<std::string>(rows.begin(), rows.end() - 1));
    for (const auto& table : study.tables)
        for (const auto& row : table.rows) EXPECT_TRUE(row.values.at(0).measured) << row.what;
    EXPECT_TRUE(std::any_of(study.notes.begin(), study.notes.end(), [](const std::string& note) {
        return note.starts_with("From fast to slow at 256² on the CPU");
    }));
}

TEST(FdtdStudy, SeveralRanksStandBesideOneAndTheLoop) {
    std::array<Study, 3> studies;
    comm::run_ranks(3, [&](comm::Transport& at) {
        // what run_ranks gives stays until all are back
        const auto ranks = std::make_shared<comm::FirstRanks>(at, 3);
        studies[static_cast<std::size_t>(at.rank())] =
            reproduce_fdtd_multi({.device = {.kind = DeviceKind::cpu},
                                  .threads = 1,
                                  .repeats = 1,
                                  .most_points = 256,
                                  .communicator = CommunicatorAccess::of(ranks)});
    });
    const auto& study = studies[0];
    EXPECT_EQ(to_json(study), to_json(studies[2])) << "all ranks know the same";
    ASSERT_EQ(study.tables.size(), 3U);
    const std::vector<std::string> rows{"hand-written OpenMP loop, 1 thread", "one process on CPUs",
                                        "3 ranks, a process on CPUs each",
                                        "3 ranks, a process on CPUs each, over Ethernet",
                                        "3 ranks, a process on CPUs each, over Ethernet, every step"};
    EXPECT_EQ(names_of_rows(study.tables[0]), rows);
    const auto rate = [&](std::size_t row) { return *study.tables[0].rows[row].values.at(0).value; };
    const auto& over = study.tables[2];
    ASSERT_EQ(over.rows.size(), 6U);
    EXPECT_EQ(over.rows[0].values.at(0).value, 15.3);
    EXPECT_EQ(over.rows[1].values.at(0).value, 35.9);
    for (std::size_t w = 1; w < rows.size(); ++w)
        EXPECT_NEAR(*over.rows[w + 1].values.at(0).value, rate(w) / rate(0), 1e-9 * rate(w) / rate(0));
    // a step's rims take two messages of 2 KiB or more, each 50 µs late: no more than 10,000 steps a second
    EXPECT_LT(rate(4), 1e-9 * 256 * 256 * 1e4);
    EXPECT_TRUE(std::any_of(study.notes.begin(), study.notes.end(), [](const std::string& note) {
        return note.starts_with("3 ranks, a process on CPUs each, over Ethernet: ");
    }));
}

TEST(FdtdStudy, TheGpuIsComparedWithTheLoopAndTheBestStrategy) {
    const auto row = [](std::string names, std::optional<stencil::Mask> mask, double small, double large) {
        return FdtdSizeRow{std::move(names), mask, {{1, small, small, ""}, {1, large, large, ""}}};
    };
    using stencil::Mask;
    const std::vector<FdtdSizeRow> gpu{row("none", Mask::none, 50, 60),
                                       row("multiply", Mask::multiply, 40, 30)};
    const std::vector<FdtdSizeRow> cpu{row("none", Mask::none, 5, 2), row("spans", Mask::spans, 4, 3),
                                       row("hand-written", {}, 8, 6)};
    Study study;
    compare_gpu_with_cpu(study, {"a", "b"}, gpu, cpu);
    const auto& table = study.tables.at(0);
    const std::vector<std::vector<double>> expected{
        {15.3, 15.3}, {40.0 / 8, 30.0 / 6}, {50.0 / 8, 60.0 / 6}, {40.0 / 5, 30.0 / 3}, {50.0 / 5, 60.0 / 3}};
    ASSERT_EQ(table.rows.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        for (std::size_t j = 0; j < 2; ++j) {
            EXPECT_DOUBLE_EQ(*table.rows[i].values[j].value, expected[i][j]) << table.rows[i].what;
            EXPECT_EQ(table.rows[i].values[j].measured, i > 0);
        }
    EXPECT_EQ(study.notes.at(1), "Best at b, a step a pass: GPU none, CPU spans.");
}

TEST(FdtdStudy, BlocksWithoutAGpuAreRefused) {
    ReproduceOptions options;
    options.device.kind = DeviceKind::cpu;
    options.block_x = {32};
    EXPECT_THROW(reproduce_fdtd_blocks(options), InvalidArgument);
}

} // namespace
} // namespace farfield
