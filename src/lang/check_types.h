// Finds the types of an expression, and reports what does not fit together.
#pragma once

#include "lang/diagnostics.h"
#include "lang/expression.h"

#include <optional>
#include <string_view>

namespace farfield::lang {

/// What names mean is the business of the language around an expression: it answers here. Each function fills
/// in what is "found" in the node, and returns its type; after reporting, Type::unknown.
class Names {
public:
    Names() = default;
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;
    virtual ~Names() = default;

    virtual Type name(Name& node, Span span) = 0;
    virtual Type access(Access& node, Span span) = 0;
    /// A function that is not in functions.h: null where it is not known here either.
    virtual std::optional<Type> call(Call& node, Span span) = 0;
};

/// Fills in the types of the tree. Returns that of the expression.
Type check_types(Expr& expr, Names& names, Diagnostics& diagnostics);

/// Reports where `type` (of an expression at `span`) is not what is needed; `what` names the value: "a
/// condition". True where it is, or where a mistake was reported before. A whole number is a real one too.
bool require_type(Type type, Type needed, Span span, std::string_view what, Diagnostics& diagnostics);

} // namespace farfield::lang
