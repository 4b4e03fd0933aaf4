// Parses expressions. From loose to tight:
//
//     if c then a else b
//     or
//     and
//     not
//     < <= > >= == !=       chains: 0 < x <= n
//     + -
//     * / // %
//     unary - +
//     ^                     from the right; -x^2 = -(x^2), 2^-x is allowed
//     f(a, b)  Hz[y-1]  (…)
#pragma once

#include "lang/expression.h"
#include "lang/token_stream.h"

namespace farfield::lang {

/// Reads as much as belongs to one expression. @throws SyntaxFailure after reporting.
ExprPtr parse_expression(TokenStream& tokens);

/// Whether a word has a meaning in every expression, so that it cannot be a name: and, or, not, if, then,
/// else, true, false.
bool is_expression_word(std::string_view word);

} // namespace farfield::lang
