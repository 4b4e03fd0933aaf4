// The kinds of diagnostics of texts and expressions. `stencil/front_end/syntax/diagnostic_kinds.h` adds those
// of programs.
#pragma once

#include "lang/diagnostics.h"

#include <array>
#include <span>

namespace farfield::lang::kinds {

// texts
inline constexpr DiagnosticKind bad_character{"bad-character", Severity::error,
                                              "a character that means nothing"};
inline constexpr DiagnosticKind tab{"tab", Severity::error, "a tab in the indentation"};
inline constexpr DiagnosticKind bad_indentation{"bad-indentation", Severity::error,
                                                "a line starts in a column where none may"};
inline constexpr DiagnosticKind unterminated_string{"unterminated-string", Severity::error,
                                                    "a text in quotes does not end on its line"};
inline constexpr DiagnosticKind bad_number{"bad-number", Severity::error, "a number that cannot be read"};
inline constexpr DiagnosticKind unbalanced_bracket{"unbalanced-bracket", Severity::error,
                                                   "a bracket without its partner"};
inline constexpr DiagnosticKind too_long{"too-long", Severity::error, "a name or a program is too long"};
// expressions
inline constexpr DiagnosticKind syntax{"syntax", Severity::error, "something else is expected here"};
inline constexpr DiagnosticKind mixed_comparison{"mixed-comparison", Severity::error,
                                                 "a chain of comparisons in different directions"};
inline constexpr DiagnosticKind too_deep{"too-deep", Severity::error, "an expression is nested too deeply"};
inline constexpr DiagnosticKind type_mismatch{"type-mismatch", Severity::error,
                                              "a value of another type is needed"};
inline constexpr DiagnosticKind unknown_function{"unknown-function", Severity::error,
                                                 "there is no such function"};
inline constexpr DiagnosticKind argument_count{"argument-count", Severity::error,
                                               "a function is given too few or too many values"};
inline constexpr DiagnosticKind not_constant{"not-constant", Severity::error,
                                             "a value must be known before the run"};
inline constexpr DiagnosticKind bad_arithmetic{"bad-arithmetic", Severity::error,
                                               "a constant cannot be computed"};

inline constexpr std::array all{&bad_character,    &tab,
                                &bad_indentation,  &unterminated_string,
                                &bad_number,       &unbalanced_bracket,
                                &too_long,         &syntax,
                                &mixed_comparison, &too_deep,
                                &type_mismatch,    &unknown_function,
                                &argument_count,   &not_constant,
                                &bad_arithmetic};

} // namespace farfield::lang::kinds
