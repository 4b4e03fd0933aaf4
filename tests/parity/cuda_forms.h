// Cases for what runs generated CUDA code, a GPU or an emulation of it: columns of cells that are streamed
// along z. Backends are those of stencil_forms.h.
#pragma once

#include "parity/stencil_forms.h"
#include "stencil/codegen/cuda/plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace farfield::stencil {

inline bool is_streamed(const ir::Program& program, const ExecutorOptions& options) {
    return codegen::cuda::plan_program(program, options).description.find("streamed along z") !=
           std::string::npos;
}

template <class Backend>
class CudaForms : public FormsTest<Backend> {};
TYPED_TEST_SUITE_P(CudaForms);

TYPED_TEST_P(CudaForms, ColumnsWithEveryMask) {
    const auto amount = TypeParam::forms();
    const testing::Compiled program(testing::yee_ball);
    ASSERT_NE(program.program(), nullptr);
    std::vector<ExecutorOptions> forms;
    for (const auto mask : masks_of_tiles)
        for (const int steps : {1, 2}) {
            for (std::size_t k = 0; k < amount.columns.size(); ++k) {
                const auto turn = (static_cast<std::size_t>(mask) + static_cast<std::size_t>(steps)) % 3;
                if (!amount.every_column && k != turn) continue;
                forms.push_back({.mask = mask, .time_tile = steps, .block = amount.columns[k]});
                EXPECT_TRUE(is_streamed(*program.program(), forms.back()));
            }
            for (const auto& block : amount.not_columns) {
                forms.push_back({.mask = mask, .time_tile = steps, .block = block});
                EXPECT_FALSE(is_streamed(*program.program(), forms.back()));
            }
        }
    this->compare(testing::yee_ball, forms, amount.column_steps, "yee");
}

TYPED_TEST_P(CudaForms, BoundariesOfColumns) {
    const auto amount = TypeParam::forms();
    for (const auto& c : testing::column_cases()) {
        const testing::Compiled program(c.text);
        ASSERT_NE(program.program(), nullptr);
        const bool fits = c.name != "3d clamp" && c.name != "3d mirror";
        std::vector<ExecutorOptions> forms;
        for (const int steps : {1, 2}) {
            forms.push_back(
                {.time_tile = steps, .block = amount.boundary_columns[static_cast<std::size_t>(steps - 1)]});
            EXPECT_EQ(is_streamed(*program.program(), forms.back()), fits) << c.name;
        }
        this->compare(c.text, forms, amount.boundary_steps, c.name);
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST_P(CudaForms, ColumnsUpdateInPlace) {
    const auto amount = TypeParam::forms();
    for (const auto& c : testing::in_place_cases()) {
        if (!c.name.starts_with("3d")) continue;
        const testing::Compiled program(c.text);
        ASSERT_NE(program.program(), nullptr);
        std::vector<ExecutorOptions> forms;
        for (const int steps : {1, 2}) {
            forms.push_back(
                {.time_tile = steps, .block = amount.boundary_columns[static_cast<std::size_t>(steps - 1)]});
            EXPECT_TRUE(is_streamed(*program.program(), forms.back())) << c.name;
        }
        this->compare(c.text, forms, amount.boundary_steps, c.name);
        if (this->HasFatalFailure()) return;
    }
}

REGISTER_TYPED_TEST_SUITE_P(CudaForms, ColumnsUpdateInPlace, ColumnsWithEveryMask, BoundariesOfColumns);

} // namespace farfield::stencil
