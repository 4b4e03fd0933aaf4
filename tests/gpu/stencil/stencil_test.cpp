// Stencil programs on a GPU: the interpreter's bits for every form, mask and boundary, for random programs,
// and after a restart. FARFIELD_RANDOM_PROGRAMS (200) programs from the seed FARFIELD_RANDOM_SEED (1) on.
#include "backend/cuda/devices.h"
#include "backend/jit/nvrtc.h"
#include "emulation/stencil_cases.h"
#include "gpu/sizes.h"
#include "property/stencil_generator.h"
#include "unit/stencil/compiled.h"

#include <farfield/error.h>

#include <bit>
#include <cmath>
#include <cstdlib>

namespace farfield::stencil {
namespace {

using testing::Compiled;
using ProgramPtr = std::shared_ptr<const ir::Program>;

class StencilGpu : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = cuda::why_no_device(); !reason.empty()) GTEST_SKIP() << reason;
        if (const auto reason = jit::why_no_nvrtc(); !reason.empty()) GTEST_SKIP() << reason;
    }
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::vector<std::vector<double>> fields_of(Executor& executor) {
    std::vector<std::vector<double>> fields;
    const auto& program = executor.program();
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].kind != ir::BufferKind::field) continue;
        const auto& shape = program.grids[static_cast<std::size_t>(program.buffers[b].grid)].shape;
        executor.read(static_cast<int>(b),
                      fields.emplace_back(static_cast<std::size_t>(shape[0] * shape[1] * shape[2])));
    }
    return fields;
}

// Fields, then records.
std::vector<std::vector<double>> results_of(Executor& executor, const std::vector<int>& counts) {
    for (const int count : counts) executor.advance(count);
    auto results = fields_of(executor);
    for (std::size_t r = 0; r < executor.program().records.size(); ++r)
        results.push_back(executor.take_series(static_cast<int>(r)));
    return results;
}

void expect_same(const std::vector<std::vector<double>>& found,
                 const std::vector<std::vector<double>>& wanted, const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(found[i].size(), wanted[i].size()) << what << ", result " << i;
        for (std::size_t j = 0; j < wanted[i].size(); ++j)
            ASSERT_TRUE(same(found[i][j], wanted[i][j]))
                << what << ", result " << i << '[' << j << "]: " << found[i][j] << " instead of "
                << wanted[i][j];
    }
}

void compare(const ProgramPtr& program, const std::vector<ExecutorOptions>& forms,
             const std::vector<int>& counts, const std::string& what) {
    const auto wanted = results_of(*make_executor("interpreter", program, {}), counts);
    for (const auto& options : forms) {
        const auto executor = make_executor("cuda", program, options);
        const auto found = results_of(*executor, counts);
        expect_same(found, wanted,
                    what + ", " + executor->preparation().description + ", mask " +
                        std::to_string(static_cast<int>(options.mask)));
        if (::testing::Test::HasFatalFailure()) return;
    }
}

std::vector<ExecutorOptions> forms(int tile) {
    std::vector<ExecutorOptions> list;
    for (const auto mask : {Mask::none, Mask::multiply, Mask::branch, Mask::spans}) {
        list.push_back({.mask = mask, .fuse = false});
        list.push_back({.mask = mask, .time_tile = tile});
    }
    return list;
}

// More than one pass of any form.
std::vector<int> some_steps() { return gpu_test::sized<std::vector<int>>({5, 30}, {2, 8}); }

TEST_F(StencilGpu, EveryMaskInEveryForm) {
    for (const int tile : {1, 4, 7}) {
        compare(Compiled(testing::microdisk).program(), forms(tile), some_steps(), "microdisk");
        if (HasFatalFailure()) return;
    }
}

TEST_F(StencilGpu, Boundaries) {
    for (const auto& c : testing::boundary_cases()) {
        compare(Compiled(c.text).program(), forms(2), gpu_test::sized<std::vector<int>>({3, 8}, {3}), c.name);
        if (HasFatalFailure()) return;
    }
}

TEST_F(StencilGpu, ZerosKeepTheirSigns) {
    compare(Compiled(testing::signed_zeros).program(), {{.fuse = false}, {}}, {1}, "zeros");
}

TEST_F(StencilGpu, ColumnsStreamedAlongZ) {
    const std::vector<std::array<int, 3>> blocks = {{64, 16, 7}, {32, 16, 4}, {64, 8, 0}};
    std::vector<ExecutorOptions> list;
    for (const auto mask : {Mask::none, Mask::multiply, Mask::branch, Mask::spans})
        for (const int steps : {1, 2})
            for (const auto& block : blocks)
                list.push_back({.mask = mask, .time_tile = steps, .block = block});
    compare(Compiled(testing::yee_ball).program(), list, some_steps(), "yee");
    for (const auto& c : testing::column_cases()) {
        if (HasFatalFailure()) return;
        compare(Compiled(c.text).program(),
                {{.time_tile = 1, .block = {64, 16, 6}}, {.time_tile = 2, .block = {32, 16, 4}}},
                gpu_test::sized<std::vector<int>>({3, 8}, {3}), c.name);
    }
}

TEST_F(StencilGpu, PointsWithinPasses) {
    compare(Compiled(testing::probed).program(), {{.time_tile = 4}, {}},
            gpu_test::sized<std::vector<int>>({5, 300, 3}, {5, 30, 3}), "points");
}

// Enough steps for recorded graphs to run several times.
TEST_F(StencilGpu, GraphsOfManySteps) {
    compare(Compiled(testing::microdisk).program(), {{.fuse = false}, {.time_tile = 4}, {}},
            gpu_test::sized<std::vector<int>>({700, 256, 3}, {260, 3}), "microdisk");
}

TEST_F(StencilGpu, ContinuesFromWrittenFields) {
    const Compiled program(testing::microdisk);
    auto whole = make_executor("cuda", program.program(), {});
    whole->advance(50);
    auto first = make_executor("cuda", program.program(), {});
    first->advance(23);
    const auto fields = fields_of(*first);
    auto second = make_executor("cuda", program.program(), {.time_tile = 3});
    for (std::size_t b = 0; b < fields.size(); ++b) second->write(static_cast<int>(b), fields[b]);
    second->set_step(23);
    second->advance(27);
    expect_same(fields_of(*second), fields_of(*whole), "restart");
}

TEST_F(StencilGpu, RandomPrograms) {
    const auto total = number_from("FARFIELD_RANDOM_PROGRAMS", gpu_test::sized(200, 20));
    auto seed = number_from("FARFIELD_RANDOM_SEED", 1);
    for (std::uint64_t done = 0; done < total; ++seed) {
        const auto text = testing::program_of({testing::random_world(seed, "")});
        FrontEnd front("random.ff", text);
        CompileOptions options;
        options.allow_unstable = true;
        const auto program = front.good() ? compile(front.model(), options, front.diagnostics()) : nullptr;
        if (program == nullptr) continue; // the generator's mistake
        ++done;
        SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
        constexpr Mask masks[] = {Mask::none, Mask::multiply, Mask::branch, Mask::spans};
        const auto mask = masks[seed % 4];
        const int tile = 2 + static_cast<int>(seed / 4 % 2);
        compare(program,
                {{.mask = mask, .fuse = false},
                 {.mask = mask, .time_tile = tile},
                 {.mask = mask, .time_tile = tile - 1, .block = {32, 16, 3}}},
                {4, 3}, "random");
        if (HasFatalFailure()) return;
    }
}

} // namespace
} // namespace farfield::stencil
