// The cpu target against the interpreter on the programs of examples/stencil: with each mask strategy, with
// kernels apart and several steps a pass, every field and record has the same bits.
#include "emulation/stencil_cases.h"
#include "lang/source_text.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/targets.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

struct Case {
    const char* name;
    std::vector<ParameterValue> parameters; ///< that make it small
    std::int64_t steps;
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

struct Result {
    std::vector<std::vector<double>> fields;
    std::vector<std::vector<double>> series;
};

Result result_of(std::string_view target, const std::shared_ptr<const ir::Program>& program,
                 const ExecutorOptions& options, std::int64_t steps) {
    const auto executor = make_executor(target, program, options);
    executor->advance(steps / 3);
    executor->advance(steps - steps / 3);
    Result result;
    for (std::size_t b = 0; b < program->buffers.size(); ++b) {
        const auto& buffer = program->buffers[b];
        if (buffer.kind != ir::BufferKind::field) continue;
        const auto& shape = program->grids[static_cast<std::size_t>(buffer.grid)].shape;
        auto& values = result.fields.emplace_back(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
        executor->read(static_cast<int>(b), values);
    }
    for (std::size_t r = 0; r < program->records.size(); ++r)
        result.series.push_back(executor->take_series(static_cast<int>(r)));
    return result;
}

// Machines differ in the sign of a NaN.
bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

void expect_same(const std::vector<std::vector<double>>& found,
                 const std::vector<std::vector<double>>& wanted, const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t list = 0; list < found.size(); ++list) {
        ASSERT_EQ(found[list].size(), wanted[list].size()) << what << ' ' << list;
        for (std::size_t i = 0; i < found[list].size(); ++i)
            ASSERT_TRUE(same_bits(found[list][i], wanted[list][i]))
                << what << ' ' << list << '[' << i << "]: " << found[list][i] << " instead of "
                << wanted[list][i];
    }
}

class StencilTargets : public ::testing::TestWithParam<Case> {};

TEST_P(StencilTargets, GiveTheSameBits) {
    const auto& example = GetParam();
    const auto program = compiled(example, true);
    ASSERT_NE(program, nullptr);
    const auto expected = result_of("interpreter", program, {}, example.steps);
    const auto check = [&](const std::shared_ptr<const ir::Program>& p, const ExecutorOptions& options,
                           const std::string& what) {
        const auto found = result_of("cpu", p, options, example.steps);
        expect_same(found.fields, expected.fields, what + ": field");
        expect_same(found.series, expected.series, what + ": record");
    };
    check(program, {.mask = Mask::spans, .threads = 2}, "spans");
    check(program, {.mask = Mask::spans, .threads = 3, .time_tile = 3}, "spans, 3 steps a pass");
    check(program, {.mask = Mask::spans, .threads = 2, .time_tile = 4, .block = {1, 3, 3}},
          "3 rows at a time");
    check(program, {.mask = Mask::branch, .threads = 2}, "branch");
    check(program, {.mask = Mask::multiply, .threads = 2, .time_tile = 2}, "multiply");
    check(program, {.mask = Mask::none, .threads = 2}, "none");
    check(program, {.mask = Mask::multiply, .threads = 2, .fuse = false}, "kernels apart");
    check(compiled(example, false), {.mask = Mask::spans, .threads = 2}, "not optimised");
}

TEST(StencilZeros, KeepTheirSigns) {
    FrontEnd front("zeros", farfield::testing::signed_zeros);
    const auto program = front.good() ? compile(front.model(), {}, front.diagnostics()) : nullptr;
    ASSERT_NE(program, nullptr) << to_text(front.diagnostics());
    const auto expected = result_of("interpreter", program, {}, 1);
    for (std::size_t field = 5; field < expected.fields.size(); ++field)
        for (std::size_t i = 0; i < 30; ++i)
            ASSERT_TRUE(expected.fields[field][i] == 0 && std::signbit(expected.fields[field][i]))
                << field << ", " << i;
    for (const auto mask : {Mask::spans, Mask::multiply})
        expect_same(result_of("cpu", program, {.mask = mask}, 1).fields, expected.fields, "field");
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
        Case{"microdisk", {whole("cells", 150), whole("radius", 70)}, 25}, Case{"periodic_wave", {}, 25}, //
        Case{"plane_wave", {whole("cells_x", 100), whole("cells_y", 60)}, 25},
        Case{"tm_disk", {real("radius", 15.0)}, 25}, //
        Case{"yee_cavity", {}, 25}),
    [](const auto& test) { return test.param.name; });

} // namespace
} // namespace farfield::stencil
