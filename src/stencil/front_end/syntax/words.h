// The words of stencil programs: those that open statements, and those that choose.
#pragma once

#include "stencil/front_end/syntax/statements.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace farfield::stencil {

/// Words that open a statement; none can be a name.
std::span<const std::string_view> statement_words();
bool opens_statement(std::string_view word);

/// Why a word cannot be declared as a name: "opens a statement", "is the time"; empty where it can.
std::string_view reserved_because(std::string_view word);

/// What to write instead of a word from another language that opens a line; empty where there is no advice.
std::string_view statement_advice(std::string_view word);

// As they are written.
std::string_view name_of(Precision precision);
std::string_view name_of(Boundary boundary);
std::string_view name_of(Reduction reduction);
std::string_view name_of(AssignOp op);
std::span<const std::string_view> precision_names();
std::span<const std::string_view> boundary_names(); ///< from Boundary::zero on
std::optional<Precision> precision_of(std::string_view word);
std::optional<Boundary> boundary_of(std::string_view word);
std::optional<Reduction> reduction_of(std::string_view word);

/// The axis 0, 1 or 2 of x, y or z; -1 for anything else.
int axis_of(std::string_view word);

} // namespace farfield::stencil
