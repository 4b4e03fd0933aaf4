// Cases for everything that computes stencil programs: each backend gives the interpreter's bits in every
// form of kernel. A program of tests instantiates a suite with a backend, a class that has
//   static std::string why_not();  the reason if it cannot run here
//   static std::unique_ptr<Executor> start(const ProgramPtr&, const ExecutorOptions&);
//   static FormsToRun forms();
#pragma once

#include "parity/stencil_cases.h"
#include "unit/stencil/compiled.h"
#include "unit/stencil/results.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace farfield::stencil {

using ProgramPtr = std::shared_ptr<const ir::Program>;
using Blocks = std::vector<std::array<int, 3>>;

inline const std::vector<Mask> every_mask{Mask::none, Mask::select, Mask::branch, Mask::spans,
                                          Mask::multiply};
inline const std::vector<Mask> masks_of_tiles{Mask::none, Mask::select, Mask::branch, Mask::spans};

/// How much of the cases a backend runs. Every form is compiled, which takes an emulation and a compiler for
/// CPUs a second.
struct FormsToRun {
    std::vector<int> tiles{4};    ///< steps a pass
    std::vector<int> steps{5, 8}; ///< more than one pass of any form
    std::vector<ExecutorOptions> point_forms{{.mask = Mask::spans, .time_tile = 4},
                                             {.mask = Mask::none, .time_tile = 4}};
    std::vector<int> point_steps{5, 300, 3};
    std::vector<Mask> boundary_masks{Mask::automatic};
    std::vector<int> boundary_steps{3, 8};
    /// Tiles and chunks that fit the grid, that do not, and of a few cells.
    Blocks columns{{32, 16, 7}, {16, 8, 4}, {64, 12, 0}};
    Blocks not_columns; ///< blocks for which another form is taken
    std::vector<int> column_steps{5, 4};
    bool every_column = false; ///< every mask with every block or case; otherwise with one in turn
    Blocks boundary_columns{{32, 16, 6}, {32, 16, 6}}; ///< of one step, and of two
};

/// Runs `forms` of a program for some steps, then some more; what can be seen after each part has the
/// interpreter's bits; with the mask `multiply` those of an interpreter that multiplies.
template <class Backend>
void expect_interpreters_bits(const ProgramPtr& program, const std::vector<ExecutorOptions>& forms,
                              const std::vector<int>& counts, const std::string& what) {
    ASSERT_NE(program, nullptr);
    const auto plain = testing::history_of(*make_executor("interpreter", program, {}), counts);
    for (const auto& options : forms) {
        const auto wanted = options.mask == Mask::multiply
                                ? testing::history_of(*testing::judge_of(program, options.mask), counts)
                                : plain;
        const auto executor = Backend::start(program, options);
        const auto found = testing::history_of(*executor, counts);
        ASSERT_EQ(executor->step(), std::accumulate(counts.begin(), counts.end(), 0)) << what;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            ASSERT_EQ(testing::difference(found[i], wanted[i]), "")
                << what << ", " << executor->preparation().description << ", mask "
                << static_cast<int>(options.mask) << (i < counts.size() ? ", fields of part " : ", series ")
                << i;
    }
}

template <class Backend>
class FormsTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = Backend::why_not(); !reason.empty()) GTEST_SKIP() << reason;
    }
    static void compare(const std::string& text, const std::vector<ExecutorOptions>& forms,
                        const std::vector<int>& counts, const std::string& what) {
        expect_interpreters_bits<Backend>(testing::Compiled(text).program(), forms, counts, what);
    }
};

template <class Backend>
class StencilForms : public FormsTest<Backend> {};
TYPED_TEST_SUITE_P(StencilForms);

TYPED_TEST_P(StencilForms, AKernelAnUpdateWithEveryMask) {
    std::vector<ExecutorOptions> forms;
    for (const auto mask : every_mask) forms.push_back({.mask = mask, .fuse = false});
    this->compare(testing::microdisk, forms, TypeParam::forms().steps, "microdisk");
}

TYPED_TEST_P(StencilForms, TilesWithEveryMask) {
    std::vector<ExecutorOptions> forms;
    for (const int tile : TypeParam::forms().tiles)
        for (const auto mask : masks_of_tiles) forms.push_back({.mask = mask, .time_tile = tile});
    this->compare(testing::microdisk, forms, TypeParam::forms().steps, "microdisk");
}

TYPED_TEST_P(StencilForms, PointsWithinPasses) {
    const auto amount = TypeParam::forms();
    this->compare(testing::probed, amount.point_forms, amount.point_steps, "points");
}

TYPED_TEST_P(StencilForms, BoundariesInEveryForm) {
    std::vector<ExecutorOptions> forms;
    for (const auto mask : TypeParam::forms().boundary_masks) {
        forms.push_back({.mask = mask, .fuse = false});
        forms.push_back({.mask = mask, .time_tile = 2});
    }
    for (const auto& c : testing::boundary_cases()) {
        this->compare(c.text, forms, TypeParam::forms().boundary_steps, c.name);
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST_P(StencilForms, ZerosKeepTheirSigns) {
    const testing::Compiled program(testing::signed_zeros);
    ASSERT_NE(program.program(), nullptr);
    const auto wanted = testing::results_of(*program.start(), {1});
    for (std::size_t field = 5; field < wanted.size(); ++field)
        for (std::size_t i = 0; i < 30; ++i)
            ASSERT_TRUE(wanted[field][i] == 0 && std::signbit(wanted[field][i])) << field << ", " << i;
    this->compare(testing::signed_zeros, {{.fuse = false}, {}, {.mask = Mask::spans}, {.mask = Mask::select}},
                  {1}, "zeros");
}

// m·e + (1 − m)·u, with m = 0 in cells 5 to 7 and e infinite in cell 6.
TYPED_TEST_P(StencilForms, MultipliesByTheMask) {
    const testing::Compiled program(testing::gap);
    ASSERT_NE(program.program(), nullptr);
    for (const bool fuse : {false, true})
        for (const int tile : {0, 3}) {
            const auto executor = TypeParam::start(program.program(),
                                                   {.mask = Mask::multiply, .time_tile = tile, .fuse = fuse});
            executor->advance(1);
            for (const auto* field : {"u", "s", "w"}) {
                const auto values = testing::values_of(*executor, field);
                EXPECT_EQ(values[4], -0.5);
                EXPECT_EQ(values[5], 1);
                EXPECT_TRUE(std::isnan(values[6])) << field << " " << values[6];
                EXPECT_EQ(values[8], 0.5);
            }
            EXPECT_FALSE(std::signbit(testing::values_of(*executor, "v")[2])); // 1·(−0) + 0·1
            EXPECT_FALSE(std::signbit(testing::values_of(*executor, "r")[5])); // 0·1 + 1·(−0)
        }
    for (const auto mask : masks_of_tiles) {
        const auto executor = TypeParam::start(program.program(), {.mask = mask, .fuse = false});
        executor->advance(1);
        EXPECT_EQ(testing::values_of(*executor, "u")[6], 1);
        EXPECT_TRUE(std::signbit(testing::values_of(*executor, "v")[2]));
        EXPECT_TRUE(std::signbit(testing::values_of(*executor, "r")[5]));
    }
    this->compare(testing::gap, {{.mask = Mask::multiply, .fuse = false}, {.mask = Mask::multiply}}, {1, 2},
                  "gap");
}

// Cells of one colour read those of the other, and both lie in one buffer.
TYPED_TEST_P(StencilForms, UpdatesInPlaceWithEveryMask) {
    std::size_t turn = 0;
    for (const auto& c : testing::in_place_cases()) {
        std::vector<ExecutorOptions> forms;
        for (std::size_t m = 0; m < every_mask.size(); ++m) {
            if (!TypeParam::forms().every_column && m != turn % every_mask.size()) continue;
            forms.push_back({.mask = every_mask[m], .fuse = false});
            forms.push_back({.mask = every_mask[m], .time_tile = 2});
        }
        ++turn;
        this->compare(c.text, forms, TypeParam::forms().boundary_steps, c.name);
        if (this->HasFatalFailure()) return;
    }
}

// Parameters and temporaries called as C++, its library and the generated code call something else.
TYPED_TEST_P(StencilForms, NamesOfProgramsMeetNoOthers) {
    this->compare(
        "param gamma = 0.3, NAN = 0.25, int = 2.0, clock = 0.125, constant = 1.5, E = 0.0625\n"
        "grid g[x: 40, y: 9]\n"
        "field tile, uniform on g : float, double-buffered = 0.01*x + 0.5*y\nfield drive on g = 1\n"
        "subdomain most(x, y) = x*x + y*y > 30\nboundary: mirror\n"
        "update a on most:\n    let threadIdx = sin(gamma*t)\n    let near_0 = tile*clock + uniform\n"
        "    let inside = 0.5/(1 + near_0*near_0)\n    let p = inside + tanh(near_0)\n"
        "    tile = near_0*gamma*constant - (1 - NAN)*tile[x-1]*threadIdx\n"
        "    uniform += int*E*near_0 + 0.001*inside*p*(uniform[x+1] - uniform[y-1]) + cos(gamma*t)*drive\n"
        "update b: drive = drive*constant/3 + gamma\nstep: a, b\n"
        "record total = sum of tile*E + drive every 3\n",
        {{.fuse = false}, {.mask = Mask::none, .time_tile = 2}}, {5, 3}, "names");
}

REGISTER_TYPED_TEST_SUITE_P(StencilForms, NamesOfProgramsMeetNoOthers, MultipliesByTheMask,
                            UpdatesInPlaceWithEveryMask, AKernelAnUpdateWithEveryMask, TilesWithEveryMask,
                            PointsWithinPasses, BoundariesInEveryForm, ZerosKeepTheirSigns);

} // namespace farfield::stencil
