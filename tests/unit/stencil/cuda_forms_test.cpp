// CUDA code without a GPU: every form of kernel, emulated on the CPU, gives the interpreter's bits.
#include "backend/jit/nvrtc.h"
#include "effort.h"
#include "emulation/emulated_machine.h"
#include "parity/cuda_forms.h"
#include "stencil/runtime/cuda/device_executor.h"
#include "stencil/runtime/ranks/part.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

using testing::Compiled;

struct EmulatedGpu {
    static std::string why_not() { return {}; }
    static std::unique_ptr<Executor> start(const ProgramPtr& program, const ExecutorOptions& options) {
        return std::make_unique<cuda::DeviceExecutor>(program, options,
                                                      std::make_unique<testing::EmulatedMachine>());
    }
    static FormsToRun forms() {
        FormsToRun all;
        if (!test::shorter()) return all;
        all.steps = all.column_steps = {5}; // more than one pass of any form
        all.boundary_steps = {3};
        return all;
    }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Emulated, StencilForms, EmulatedGpu);
INSTANTIATE_TYPED_TEST_SUITE_P(Emulated, CudaForms, EmulatedGpu);

TEST(CudaPlan, TakesPointsWithinPasses) {
    const Compiled program(testing::probed);
    EXPECT_EQ(codegen::cuda::plan_program(*program.program(), {.time_tile = 4}).steps_a_pass, 4);
}

// What a rank has to do covers a part of the grid; its tiles do so, too.
TEST(CudaPlan, TakesTilesForAPartOfAGridAsForAllOfIt) {
    CompileOptions options;
    const Compiled program(testing::text_of_file(FARFIELD_EXAMPLES "/stencil/microdisk.ff"), options,
                           {{"radius", lang::Value(std::int64_t{205})}});
    ASSERT_NE(program.program(), nullptr);
    constexpr int ranks = 4;
    const auto divisions = ranks::divide(*program.program(), ranks);
    const auto halos =
        ranks::halos_of(*program.program(), ranks::steps_a_pass(*program.program(), divisions, 0));
    for (int rank = 0; rank < ranks; ++rank) {
        const auto part = ranks::part_of(*program.program(), divisions, halos, rank);
        EXPECT_TRUE(codegen::cuda::plan_program(*part.program, {}).description.starts_with("tiles of "))
            << rank;
    }
}

// A block of tiles may have more cells than a block of threads can have.
TEST(CudaPlan, CutsLargeBlocksToWhatAGpuTakes) {
    const Compiled program(testing::boundary_cases().back().text);
    ASSERT_NE(program.program(), nullptr);
    for (const auto& block : {std::array<int, 3>{64, 48, 0}, {16, 16, 90}, {2000, 2, 2}}) {
        const auto plan = codegen::cuda::plan_program(*program.program(), {.block = block, .fuse = false});
        for (const auto& pass : plan.passes)
            for (const auto& launch : pass.launches) {
                const auto& t = launch.threads;
                EXPECT_TRUE(t[0] * t[1] * t[2] <= 1024 && t[2] <= 64 && t[2] >= 1);
            }
    }
}

std::vector<std::filesystem::path> examples() {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(FARFIELD_EXAMPLES "/stencil"))
        if (entry.path().extension() == ".ff") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

class CudaExamples : public ::testing::TestWithParam<std::filesystem::path> {
protected:
    static Compiled example() {
        CompileOptions options;
        options.folder = GetParam().parent_path();
        return Compiled(testing::text_of_file(GetParam()), options);
    }
};

TEST_P(CudaExamples, CompileForAGpu) {
    if (const auto reason = jit::why_no_nvrtc(); !reason.empty()) GTEST_SKIP() << reason;
    const auto program = example();
    ASSERT_NE(program.program(), nullptr);
    for (const ExecutorOptions& options : {ExecutorOptions{.fuse = false}, ExecutorOptions{.time_tile = 2}}) {
        if (test::fewer() && !options.fuse) continue;
        const auto plan = codegen::cuda::plan_program(*program.program(), options);
        const auto code = jit::compile_device_code(plan.source, GetParam().filename().string(), "sm_90");
        EXPECT_EQ(code.log.find("warning"), std::string::npos) << code.log;
    }
}

TEST_P(CudaExamples, GiveTheInterpretersBits) {
    const auto program = example();
    ASSERT_NE(program.program(), nullptr);
    expect_interpreters_bits<EmulatedGpu>(program.program(), {{.fuse = false}}, {3}, GetParam().filename());
    expect_interpreters_bits<EmulatedGpu>(program.program(), {{.time_tile = 3}}, {5}, GetParam().filename());
}

INSTANTIATE_TEST_SUITE_P(All, CudaExamples, ::testing::ValuesIn(examples()),
                         [](const auto& example) { return example.param.stem().string(); });

} // namespace
} // namespace farfield::stencil
