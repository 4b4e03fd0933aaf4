// A time step around one cell as a linear system with constant coefficients: what von Neumann's analysis
// looks at.
#pragma once

#include "stencil/analysis/stability/growth.h"
#include "stencil/analysis/stability/linear_forms.h"

#include <array>
#include <optional>
#include <vector>

namespace farfield::stencil {

/// A wave e^{i k·x}: angles in radians a cell, along the axes of the grid.
using Wave = std::array<double, 3>;

/// The new value of a field in a kernel: a sum of terms, whose `buffer` counts in LinearStep::fields.
struct LinearRow {
    std::size_t field = 0;
    std::vector<Term> terms;
};

struct LinearKernel {
    int kernel = -1; ///< of the program
    std::int64_t every = 1;
    std::vector<LinearRow> rows;
};

/// Fields that depend linearly on each other alone, in a circle, and the kernels that write them.
struct LinearStep {
    std::vector<int> fields; ///< buffers of the program
    std::vector<LinearKernel> kernels;
    std::int64_t period = 1; ///< steps after which the same kernels run again

    /// The factor by which a wave grows in a step. @param scale of the change that each kernel makes: 1 is
    /// the program's. @param negligible as of growth_factor.
    double growth(const Wave& wave, double scale = 1, double negligible = 0) const;
    /// Whether `scale` stands for the length of the step: each equation adds to the field it writes.
    bool made_of_changes() const;
};

/// The parts of a step that can be analysed, at a cell where `kernels` (in their order) run all around.
/// Fields that are not linear, or depend on such, are in none.
std::vector<LinearStep> linear_steps(const ir::Program& program, const std::vector<int>& kernels,
                                     const Cell& cell);

} // namespace farfield::stencil
