// Writes programs as text that the parser reads as the same program.
#pragma once

#include "lang/expression_printer.h"
#include "stencil/front_end/syntax/statements.h"

#include <string>

namespace farfield::stencil {

/// One statement a line, blocks indented by four blanks. Remarks and blank lines are not kept.
std::string to_text(const Program& program, lang::Brackets brackets = lang::Brackets::needed);

} // namespace farfield::stencil
