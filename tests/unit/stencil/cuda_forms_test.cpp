// CUDA code without a GPU: every form of kernel, emulated on the CPU, gives the interpreter's bits.
#include "emulation/emulated_machine.h"
#include "stencil/runtime/cuda/device_executor.h"
#include "unit/stencil/compiled.h"

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

} // namespace
} // namespace farfield::stencil
