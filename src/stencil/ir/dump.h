// Programs of the intermediate representation as text, for `farfield stencil explain`.
#pragma once

#include "stencil/ir/ir.h"

#include <string>

namespace farfield::stencil::ir {

/// A line for each node: "%3 = fma.float64 %0 %1 %2". `program` gives buffers and axes their names.
std::string to_text(const Program& program, const Code& code, int grid, std::string_view indent = "    ");

/// Grids, buffers, uniforms, kernels and records.
std::string to_text(const Program& program);

} // namespace farfield::stencil::ir
