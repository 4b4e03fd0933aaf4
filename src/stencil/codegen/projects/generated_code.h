// The code that a target is given, as text, without anything being compiled or run.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/ir/ir.h"

#include <string>
#include <string_view>

namespace farfield::stencil::codegen {

/// What the target "cpu" or "cuda" compiles with these options; a mask that is automatic is `spans`. Ranks of
/// "mpi" run the code of "cpu".
/// @throws InvalidArgument for another target.
std::string generated_code(const ir::Program& program, std::string_view target,
                           const ExecutorOptions& options);

} // namespace farfield::stencil::codegen
