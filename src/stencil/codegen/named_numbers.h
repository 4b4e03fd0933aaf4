// The numbers that generated code calls by the names of the program: constants, and the values that are
// computed before each step. Namespaces of their own keep the names apart from everything else.
#pragma once

#include "stencil/ir/ir.h"

#include <string>
#include <string_view>

namespace farfield::stencil::codegen {

/// "constant::dt_over_dx" of Program::constants[index].
std::string constant_text(const ir::Program& program, int index);
/// "drive" of Program::uniforms[index].
std::string uniform_name(const ir::Program& program, int index);
/// "uniform::drive", its place in a row of the clock of CUDA, behind time and step; a number without a name.
std::string uniform_place(const ir::Program& program, int index);

/// namespace constant { … } with those that `code` mentions, their expressions beside them; empty for none.
std::string constant_declarations(const ir::Program& program, std::string_view code);
/// namespace uniform { … } with the places that `code` mentions.
std::string uniform_declarations(const ir::Program& program, std::string_view code);

} // namespace farfield::stencil::codegen
