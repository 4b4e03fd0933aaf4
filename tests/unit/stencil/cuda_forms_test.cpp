// CUDA code without a GPU: every form of kernel, emulated on the CPU, gives the interpreter's bits.
#include "backend/jit/nvrtc.h"
#include "emulation/emulated_machine.h"
#include "emulation/stencil_cases.h"
#include "stencil/runtime/cuda/device_executor.h"
#include "unit/stencil/compiled.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace farfield::stencil {
namespace {

using testing::boundary_cases;
using testing::Compiled;
using testing::EmulatedMachine;
using testing::microdisk;

std::unique_ptr<cuda::DeviceExecutor> emulate(const Compiled& program, const ExecutorOptions& options,
                                              std::uint64_t seed = 1) {
    return std::make_unique<cuda::DeviceExecutor>(program.program(), options,
                                                  std::make_unique<EmulatedMachine>(seed));
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void expect_same(const std::vector<double>& found, const std::vector<double>& wanted,
                 const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_TRUE(same(found[i], wanted[i]))
            << what << '[' << i << "]: " << found[i] << " instead of " << wanted[i];
}

// Some steps at once, then some more, on both.
void compare(const Compiled& program, const ExecutorOptions& options, const std::vector<int>& counts,
             const std::string& what) {
    auto wanted = program.start("interpreter");
    auto found = emulate(program, options);
    const auto description = what + ", " + found->preparation().description;
    for (const int count : counts) {
        wanted->advance(count);
        found->advance(count);
        ASSERT_EQ(found->step(), wanted->step());
        for (std::size_t b = 0; b < program.program()->buffers.size(); ++b) {
            const auto& buffer = program.program()->buffers[b];
            if (buffer.kind != ir::BufferKind::field) continue;
            expect_same(testing::values_of(*found, buffer.name), testing::values_of(*wanted, buffer.name),
                        description + ", step " + std::to_string(found->step()) + ", " + buffer.name);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
    for (std::size_t r = 0; r < program.program()->records.size(); ++r)
        expect_same(found->take_series(static_cast<int>(r)), wanted->take_series(static_cast<int>(r)),
                    description + ", " + program.program()->records[r].name);
}

TEST(CudaForms, AKernelAnUpdateWithEveryMask) {
    const Compiled program(microdisk);
    for (const auto mask : {Mask::none, Mask::multiply, Mask::branch, Mask::spans})
        compare(program, {.mask = mask, .fuse = false}, {5, 8},
                "mask " + std::to_string(static_cast<int>(mask)));
}

TEST(CudaForms, TilesWithEveryMask) {
    const Compiled program(microdisk);
    for (const auto mask : {Mask::none, Mask::multiply, Mask::branch, Mask::spans})
        compare(program, {.mask = mask, .time_tile = 4}, {5, 8},
                "mask " + std::to_string(static_cast<int>(mask)));
}

TEST(CudaForms, PointsWithinPasses) {
    const Compiled program(testing::probed);
    EXPECT_EQ(codegen::cuda::plan_program(*program.program(), {.time_tile = 4}).steps_a_pass, 4);
    for (const auto mask : {Mask::spans, Mask::none})
        compare(program, {.mask = mask, .time_tile = 4}, {5, 300, 3}, "points");
}

TEST(CudaForms, BoundariesInEveryForm) {
    for (const auto& c : boundary_cases()) {
        const Compiled program(c.text);
        ASSERT_NE(program.program(), nullptr);
        compare(program, {.fuse = false}, {3, 8}, c.name);
        compare(program, {.time_tile = 2}, {3, 8}, c.name);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

// A block of tiles may have more cells than a block of threads can have.
TEST(CudaForms, LargeBlocksAreCutToWhatAGpuTakes) {
    const Compiled program(boundary_cases().back().text);
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

TEST(CudaForms, ZerosKeepTheirSigns) {
    const Compiled program(testing::signed_zeros);
    ASSERT_NE(program.program(), nullptr);
    compare(program, {.fuse = false}, {1}, "zeros");
    compare(program, {}, {1}, "zeros");
}

bool is_streamed(const Compiled& program, const ExecutorOptions& options) {
    return codegen::cuda::plan_program(*program.program(), options).description.find("streamed along z") !=
           std::string::npos;
}

// Tiles and chunks that fit the grid, that do not, and of a few cells.
TEST(CudaForms, ColumnsWithEveryMask) {
    const Compiled program(testing::yee_ball);
    ASSERT_NE(program.program(), nullptr);
    const std::vector<std::array<int, 3>> blocks = {{32, 16, 7}, {16, 8, 4}, {64, 12, 0}};
    for (const auto mask : {Mask::none, Mask::multiply, Mask::branch, Mask::spans})
        for (int steps = 1; steps <= 2; ++steps) {
            const auto block = blocks[(static_cast<std::size_t>(mask) + static_cast<std::size_t>(steps)) % 3];
            const ExecutorOptions options{.mask = mask, .time_tile = steps, .block = block};
            EXPECT_TRUE(is_streamed(program, options));
            compare(program, options, {5, 4}, "mask " + std::to_string(static_cast<int>(mask)));
            if (::testing::Test::HasFatalFailure()) return;
        }
}

TEST(CudaForms, BoundariesOfColumns) {
    for (const auto& c : testing::column_cases()) {
        const Compiled program(c.text);
        ASSERT_NE(program.program(), nullptr);
        const bool fits = c.name != "3d clamp" && c.name != "3d mirror";
        for (int steps = 1; steps <= 2; ++steps) {
            const ExecutorOptions options{.time_tile = steps, .block = {32, 16, 6}};
            EXPECT_EQ(is_streamed(program, options), fits) << c.name;
            compare(program, options, {3, 8}, c.name);
        }
        if (::testing::Test::HasFatalFailure()) return;
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
        const auto plan = codegen::cuda::plan_program(*program.program(), options);
        const auto code = jit::compile_device_code(plan.source, GetParam().filename().string(), "sm_90");
        EXPECT_EQ(code.log.find("warning"), std::string::npos) << code.log;
    }
}

TEST_P(CudaExamples, GiveTheInterpretersBits) {
    const auto program = example();
    ASSERT_NE(program.program(), nullptr);
    compare(program, {.fuse = false}, {3}, GetParam().filename());
    compare(program, {.time_tile = 3}, {5}, GetParam().filename());
}

INSTANTIATE_TEST_SUITE_P(All, CudaExamples, ::testing::ValuesIn(examples()),
                         [](const auto& example) { return example.param.stem().string(); });

} // namespace
} // namespace farfield::stencil
