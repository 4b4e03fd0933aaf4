// Kernels that could be one but for a few cells that another changes between them, such as a source between
// an update and the sum of its result: on slabs without those cells they run as one.
#pragma once

#include "stencil/ir/ir.h"

#include <vector>

namespace farfield::stencil::cpu {

struct Join {
    int first = -1; ///< numbers of kernels; those between them are in the way where they have cells
    int second = -1;
    ir::Kernel kernel;
};

/// The program without the values of its data, which printing code does not need.
ir::Program without_values(const ir::Program& program);

/// No kernel is in two of them.
std::vector<Join> find_joins(const ir::Program& program);

} // namespace farfield::stencil::cpu
