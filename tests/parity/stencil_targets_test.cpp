// The cpu target against the interpreter on the programs of examples/stencil: with each mask strategy, with
// kernels apart and several steps a pass, every field and record has the same bits; and the cases that all
// targets share.
#include "lang/source_text.h"
#include "parity/stencil_forms.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/targets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil {
namespace {

struct Case {
    const char* name;
    std::vector<ParameterValue> parameters; ///< that make it small
    int steps;
};

void PrintTo(const Case& example, std::ostream* out) { *out << example.name; }

ParameterValue whole(const char* name, std::int64_t value) { return {name, lang::Value(value)}; }
ParameterValue real(const char* name, double value) { return {name, lang::Value(value)}; }

std::shared_ptr<const ir::Program> compiled(const Case& example, bool optimise) {
    const std::filesystem::path folder = std::string(FARFIELD_SOURCE_DIR) + "/examples/stencil";
    std::ifstream file(folder / (std::string(example.name) + ".ff"));
    FrontEnd front(example.name, {std::istreambuf_iterator<char>(file), {}}, example.parameters);
    CompileOptions options;
    options.folder = folder;
    options.optimise = optimise;
    auto program = front.good() ? compile(front.model(), options, front.diagnostics()) : nullptr;
    EXPECT_NE(program, nullptr) << to_text(front.diagnostics());
    return program;
}

class StencilTargets : public ::testing::TestWithParam<Case> {};

TEST_P(StencilTargets, GiveTheSameBits) {
    const auto& example = GetParam();
    const auto program = compiled(example, true);
    ASSERT_NE(program, nullptr);
    const std::vector<int> counts{example.steps / 3, example.steps - example.steps / 3};
    const auto expected = testing::results_of(*make_executor("interpreter", program, {}), counts);
    const auto multiplied = testing::multiplied(program, counts);
    const auto check = [&](const std::shared_ptr<const ir::Program>& p, const ExecutorOptions& options,
                           const std::string& what) {
        const auto found = testing::results_of(*make_executor("cpu", p, options), counts);
        const auto& wanted = options.mask == Mask::multiply ? multiplied : expected;
        ASSERT_EQ(testing::difference(found, wanted), "") << what;
    };
    check(program, {.mask = Mask::spans, .threads = 2}, "spans");
    check(program, {.mask = Mask::spans, .threads = 3, .time_tile = 3}, "spans, 3 steps a pass");
    check(program, {.mask = Mask::spans, .threads = 2, .time_tile = 4, .block = {1, 3, 3}},
          "3 rows at a time");
    check(program, {.mask = Mask::branch, .threads = 2}, "branch");
    check(program, {.mask = Mask::select, .threads = 2, .time_tile = 2}, "select");
    check(program, {.mask = Mask::multiply, .threads = 2, .time_tile = 2}, "multiply");
    check(program, {.mask = Mask::none, .threads = 2}, "none");
    check(program, {.mask = Mask::select, .threads = 2, .fuse = false}, "kernels apart");
    // 1/(the share of a cell in the disk) is infinite in the metal.
    if (std::string_view(example.name) != "metal_disk_cut") {
        EXPECT_EQ(testing::difference_but_zeros(multiplied, expected), "");
    }
    check(compiled(example, false), {.mask = Mask::spans, .threads = 2}, "not optimised");
}

INSTANTIATE_TEST_SUITE_P(
    Examples, StencilTargets,
    ::testing::Values(
        Case{"acoustics", {whole("resolution", 20)}, 25}, //
        Case{"cpml", {whole("cells", 60), whole("probe_x", 12)}, 25},
        Case{"dielectric_disk", {real("radius", 8.0)}, 25}, Case{"drude_slab", {real("sampling", 20.0)}, 40},
        Case{"gray_scott", {whole("n", 48)}, 100},                          //
        Case{"heat", {whole("resolution", 300)}, 20}, Case{"life", {}, 30}, //
        Case{"lorentz_slab", {real("sampling", 20.0)}, 40}, Case{"magnetic_disk", {real("radius", 15.0)}, 25},
        Case{"metal_disk", {real("radius", 15.0)}, 25}, Case{"metal_disk_cut", {real("radius", 15.0)}, 25},
        Case{"microdisk", {whole("cells", 150), whole("radius", 70)}, 25},
        Case{"microdisk_paper",
             {whole("cells", 150), whole("radius", 70), real("ca", 0.98), real("cb", 0.495)},
             25},
        Case{"periodic_wave", {}, 25},                                                                    //
        Case{"plane_wave", {whole("cells_x", 100), whole("cells_y", 60)}, 25}, Case{"red_black", {}, 50}, //
        Case{"tm_disk", {real("radius", 15.0)}, 25},                                                      //
        Case{"yee_cavity", {}, 25}),
    [](const auto& test) { return test.param.name; });

struct Cpu {
    static std::string why_not() { return {}; }
    static std::unique_ptr<Executor> start(const ProgramPtr& program, const ExecutorOptions& options) {
        auto with_threads = options;
        with_threads.threads = 2;
        return make_executor("cpu", program, with_threads);
    }
    static FormsToRun forms() {
        FormsToRun amount;
        amount.every_column = true;
        return amount;
    }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Target, StencilForms, Cpu);

} // namespace
} // namespace farfield::stencil
