// The value of a constant expression. Elementary functions are those of math/portable, so that a number
// computed here has the bits that a kernel would compute.
#pragma once

#include "lang/diagnostics.h"
#include "lang/expression.h"

#include <functional>
#include <optional>

namespace farfield::lang {

/// The value of a name, or null where it has none before the run.
using NameValues = std::function<std::optional<Value>(const Name&)>;

/// Evaluates an expression whose types were found. `what` names the value in messages: "the size of a grid".
/// Returns null after reporting: a name without a value, a division by zero, whole numbers beyond 64 bits, a
/// real number that is not finite; without a report for a tree of unknown type.
std::optional<Value> evaluate(const Expr& expr, const NameValues& names, std::string_view what,
                              Diagnostics& diagnostics);

} // namespace farfield::lang
