// Parses stencil programs.
#pragma once

#include "lang/token.h"
#include "stencil/front_end/syntax/statements.h"

#include "lang/diagnostics.h"

#include <span>

namespace farfield::stencil {

/// What could be read; the rest is reported and left out. `tokens` are those of the diagnostics' source text.
Program parse_program(std::span<const lang::Token> tokens, lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
