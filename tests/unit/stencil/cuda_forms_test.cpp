// CUDA code without a GPU: every form of kernel, emulated on the CPU, gives the interpreter's bits.
#include "backend/jit/nvrtc.h"
#include "emulation/emulated_machine.h"
#include "stencil/runtime/cuda/device_executor.h"
#include "unit/stencil/compiled.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace farfield::stencil {
namespace {

using testing::Compiled;
using testing::EmulatedMachine;

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

const std::string microdisk = R"(param n = 100, radius = 40
grid g[x: n, y: 90]
field Ex, Ey, Hz, energy on g
subdomain disk(x, y) = (x - n/2)^2 + (y - 45)^2 < radius^2
update electric on interior:
    Ex += 0.5 * (Hz - Hz[y-1])
    Ey += 0.5 * (Hz[x-1] - Hz)
update magnetic on disk:
    Hz += 0.5 * (Ex[y+1] - Ex + Ey - Ey[x+1])
source dipole at (n/2 + 10, 45):
    Hz += exp(-((t - 6)/2)^2) * sin(0.15*t)
update accumulate on disk: energy += Hz^2
step: electric, magnetic, dipole, accumulate
)";

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

std::string spreading(const std::string& grid, const std::string& boundary, const std::string& attributes,
                      const std::string& sum) {
    return "grid g[" + grid + "]\nfield u on g " + attributes + " = 1 + 0.01*x*x - 0.3*" +
           (grid.find('y') == std::string::npos ? "x" : "y") + "\nfield w on g\nboundary u: " + boundary +
           "\nrecord total = sum of u every 3\nrecord top = max of u*w every 2\nrecord low = min of u on x > "
           "4 every 4\n"
           "record middle = mean of w every 5\nrecord probe = u at (3" +
           (grid.find('y') == std::string::npos ? "" : ", 2") +
           (grid.find('z') == std::string::npos ? "" : ", 1") +
           ") every 4\nupdate spread: u = 0.3*u + 0.1*(" + sum +
           ")\nupdate gather on x % 3 != 1: w += u*u + 0.001*step*t\nstep: spread, gather every 2\n";
}

struct Case {
    std::string name, text;
};

std::vector<Case> boundary_cases() {
    return {
        {"1d periodic",
         spreading("x: 700", "periodic", ": double, double-buffered", "u[x-2] + u[x+1] - u[x+3]")},
        {"1d mirror", spreading("x: 70", "mirror", ": float, double-buffered", "u[x-2] + u[x+1] - u[x+3]")},
        {"2d clamp",
         spreading("x: 90, y: 70", "clamp", ": double, double-buffered", "u[x-2] + u[x+1, y-1] - u[y+2]")},
        {"2d mirror",
         spreading("x: 67, y: 131", "mirror", ": double, double-buffered", "u[x-3] + u[x+1, y-2] - u[y+3]")},
        {"2d zero and periodic", spreading("x: 65, y: 30", "zero in x, periodic in y",
                                           ": float, double-buffered", "u[x-1, y-1] + u[x+1] - u[y+2]")},
        {"2d mixed", spreading("x: 40, y: 101", "periodic in x, clamp in y", ": double, double-buffered",
                               "u[x-1, y-1] + u[x+2] - u[y+1]")},
        {"3d", spreading("x: 21, y: 18, z: 15", "periodic in x and z, mirror in y",
                         ": double, double-buffered", "u[x-1, y-1] + u[x+1, z+1] - u[z-2]")},
    };
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
