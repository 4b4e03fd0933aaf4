// Cells of a grid at which a program is looked at more closely: spread over the grid, in every kernel's set
// and in every material.
#pragma once

#include "stencil/analysis/stability/linear_forms.h"
#include "stencil/lowering/domains.h"

#include <vector>

namespace farfield::stencil {

struct SampleCell {
    Cell cell = {};
    /// Those that run in this cell and in all cells around it, as far as reads reach in a step; not empty.
    std::vector<int> kernels;
};

/// Cells near which some kernel begins or ends are left out.
std::vector<SampleCell> sample_cells(const ir::Program& program, const Domains& domains, int grid);

} // namespace farfield::stencil
