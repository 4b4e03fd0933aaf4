// What names mean in the expressions of a program.
#pragma once

#include "stencil/front_end/check/checker.h"

namespace farfield::stencil {

lang::Symbol symbol_of(SymbolKind kind, int index = 0);

/// Types an expression, resolves its names and the offsets of its accesses, and reports what `context` does
/// not have.
lang::Type resolve(lang::Expr& expr, Checker& checker, const ExpressionContext& context);

} // namespace farfield::stencil
