// Writes expressions as text that the parser reads as the same tree.
#pragma once

#include "lang/expression.h"

#include <string>

namespace farfield::lang {

/// `needed`: as a person would write it; `all`: around every operation, to show what binds to what.
enum class Brackets : std::uint8_t { needed, all };

std::string to_text(const Expr& expr, Brackets brackets = Brackets::needed);

} // namespace farfield::lang
