// Stencil programs on a GPU: the interpreter's bits for every form, mask and boundary, for random programs,
// and after a restart. FARFIELD_RANDOM_PROGRAMS (200) programs from the seed FARFIELD_RANDOM_SEED (1) on.
#include "backend/jit/nvrtc.h"
#include "gpu/sizes.h"
#include "parity/cuda_forms.h"
#include "property/random_programs.h"

#include <farfield/device.h>

#include <memory>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

using testing::Compiled;

struct Gpu {
    static std::string why_not() {
        const auto reason = why_no_gpu();
        return reason.empty() ? jit::why_no_nvrtc() : reason;
    }
    static std::unique_ptr<Executor> start(const ProgramPtr& program, const ExecutorOptions& options) {
        return make_executor("cuda", program, options);
    }
    static FormsToRun forms() {
        using Steps = std::vector<int>;
        FormsToRun amount;
        amount.tiles = {1, 4, 7};
        amount.steps = amount.column_steps = gpu_test::sized<Steps>({5, 30}, {2, 8});
        amount.point_forms.push_back({.time_tile = 4});
        amount.point_forms.push_back({});
        amount.point_steps = gpu_test::sized<Steps>({5, 300, 3}, {5, 30, 3});
        amount.boundary_masks = every_mask;
        amount.boundary_steps = gpu_test::sized<Steps>({3, 8}, {3});
        amount.columns = {{32, 16, 7}, {32, 16, 4}, {64, 8, 0}};
        amount.not_columns = {{64, 16, 7}};
        amount.every_column = true;
        amount.boundary_columns = {{64, 16, 6}, {32, 16, 4}};
        return amount;
    }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnGpu, StencilForms, Gpu);
INSTANTIATE_TYPED_TEST_SUITE_P(OnGpu, CudaForms, Gpu);

// What needs a GPU that is fast; nothing is read before the end.
class StencilGpu : public FormsTest<Gpu> {
protected:
    static void compare(const ProgramPtr& program, const std::vector<ExecutorOptions>& forms,
                        const std::vector<int>& counts, const std::string& what) {
        for (const auto& options : forms) {
            const auto wanted = testing::results_of(*testing::judge_of(program, options.mask), counts);
            const auto executor = Gpu::start(program, options);
            ASSERT_EQ(testing::difference(testing::results_of(*executor, counts), wanted), "")
                << what << ", " << executor->preparation().description << ", mask "
                << static_cast<int>(options.mask);
        }
    }
};

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
    const auto fields = testing::fields_of(*first);
    auto second = make_executor("cuda", program.program(), {.time_tile = 3});
    for (std::size_t b = 0; b < fields.size(); ++b) second->write(static_cast<int>(b), fields[b]);
    second->set_step(23);
    second->advance(27);
    EXPECT_EQ(testing::difference(testing::fields_of(*second), testing::fields_of(*whole)), "");
}

TEST_F(StencilGpu, RandomPrograms) {
    const auto total = testing::number_from("FARFIELD_RANDOM_PROGRAMS", gpu_test::sized(200, 20));
    auto seed = testing::number_from("FARFIELD_RANDOM_SEED", 1);
    for (std::uint64_t done = 0; done < total; ++seed) {
        std::string text;
        const auto program = testing::random_program(seed, text);
        if (program == nullptr) continue; // the generator's mistake
        ++done;
        SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
        const auto mask = every_mask[seed % every_mask.size()];
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
