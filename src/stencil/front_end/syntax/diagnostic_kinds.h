// The kinds of diagnostics of stencil programs, beside those of lang/diagnostic_kinds.h.
#pragma once

#include "lang/diagnostics.h"

#include <array>

namespace farfield::stencil::kinds {

using lang::DiagnosticKind;
using lang::Severity;

// statements
inline constexpr DiagnosticKind unknown_statement{"unknown-statement", Severity::error,
                                                  "a line that opens with no statement's word"};
inline constexpr DiagnosticKind unknown_word{"unknown-word", Severity::error,
                                             "a word that is none of those to choose from"};
inline constexpr DiagnosticKind repeated{"repeated", Severity::error, "something is given twice"};
inline constexpr DiagnosticKind misplaced{"misplaced", Severity::error, "a statement in the wrong place"};
inline constexpr DiagnosticKind missing{"missing", Severity::error, "a statement or value that is needed"};
// names
inline constexpr DiagnosticKind unknown_name{"unknown-name", Severity::error, "a name that nothing has"};
inline constexpr DiagnosticKind duplicate_name{"duplicate-name", Severity::error, "two things have one name"};
inline constexpr DiagnosticKind reserved_name{"reserved-name", Severity::error,
                                              "a name that the language uses itself"};
inline constexpr DiagnosticKind used_before{"used-before-declaration", Severity::error,
                                            "a name above its declaration"};
inline constexpr DiagnosticKind wrong_kind{"wrong-kind", Severity::error,
                                           "a name stands for something that does not fit"};
inline constexpr DiagnosticKind not_here{"not-here", Severity::error, "a name has no value in this place"};
inline constexpr DiagnosticKind unknown_parameter{"unknown-parameter", Severity::error,
                                                  "a value is set for no parameter"};
inline constexpr DiagnosticKind unused{"unused", Severity::warning, "a name that nothing mentions"};
inline constexpr DiagnosticKind never_written{"never-written", Severity::warning, "a field that stays 0"};
// grids, places and values
inline constexpr DiagnosticKind bad_grid{"bad-grid", Severity::error, "axes or sizes that no grid can have"};
inline constexpr DiagnosticKind rounded_grid{"rounded-grid", Severity::warning,
                                             "a length is not a whole number of cells"};
inline constexpr DiagnosticKind bad_stagger{"bad-stagger", Severity::error,
                                            "a place in the cell that is none"};
inline constexpr DiagnosticKind bad_access{"bad-access", Severity::error,
                                           "a neighbour that is not an axis plus or minus a whole number"};
inline constexpr DiagnosticKind bad_place{"bad-place", Severity::error, "cells that the grid does not have"};
inline constexpr DiagnosticKind bad_value{"bad-value", Severity::error, "a value outside its range"};
inline constexpr DiagnosticKind bad_file{"bad-file", Severity::error, "a file of a kind that cannot be read"};
inline constexpr DiagnosticKind wrong_grid{"wrong-grid", Severity::error, "things on different grids meet"};
// updates
inline constexpr DiagnosticKind read_only{"read-only", Severity::error, "a write to what is only read"};
inline constexpr DiagnosticKind writes_neighbour{"writes-neighbour", Severity::error,
                                                 "an equation for a cell other than its own"};
inline constexpr DiagnosticKind written_twice{"written-twice", Severity::error,
                                              "two equations of an update for one field"};
inline constexpr DiagnosticKind reads_updated_neighbour{
    "reads-updated-neighbour", Severity::error, "a neighbour is read of a field that the same update writes"};
inline constexpr DiagnosticKind reads_updated_cell{"reads-updated-cell", Severity::warning,
                                                   "a value is read that the same update has just written"};

// cells
inline constexpr DiagnosticKind too_large{"too-large", Severity::error,
                                          "a program that needs more memory than the machine has"};
inline constexpr DiagnosticKind unreadable_file{"unreadable-file", Severity::error,
                                                "a file that cannot be read, or holds no numbers"};
inline constexpr DiagnosticKind wrong_shape{"wrong-shape", Severity::error,
                                            "a file of another size than the grid"};
inline constexpr DiagnosticKind outside_grid{"outside-grid", Severity::error,
                                             "a neighbour is read that the grid does not have"};
inline constexpr DiagnosticKind too_far{"too-far", Severity::error,
                                        "a neighbour farther away than the grid is wide"};
inline constexpr DiagnosticKind overlap{"overlap", Severity::error,
                                        "two cases of a coefficient claim one cell"};
inline constexpr DiagnosticKind gap{"gap", Severity::error, "a cell without a coefficient's value"};
inline constexpr DiagnosticKind empty_region{"empty-region", Severity::warning,
                                             "something applies to no cell"};
inline constexpr DiagnosticKind no_value{"no-value", Severity::error, "a record of no cell"};
inline constexpr DiagnosticKind whole_number{"whole-number", Severity::error,
                                             "a whole number is divided by 0 or leaves 64 bits"};
inline constexpr DiagnosticKind unstable{"unstable", Severity::error, "short waves grow without bound"};

inline constexpr std::array all{&unknown_statement,
                                &unknown_word,
                                &repeated,
                                &misplaced,
                                &missing,
                                &unknown_name,
                                &duplicate_name,
                                &reserved_name,
                                &used_before,
                                &wrong_kind,
                                &not_here,
                                &unknown_parameter,
                                &unused,
                                &never_written,
                                &bad_grid,
                                &rounded_grid,
                                &bad_stagger,
                                &bad_access,
                                &bad_place,
                                &bad_value,
                                &bad_file,
                                &wrong_grid,
                                &read_only,
                                &writes_neighbour,
                                &written_twice,
                                &reads_updated_neighbour,
                                &reads_updated_cell,
                                &too_large,
                                &unreadable_file,
                                &wrong_shape,
                                &outside_grid,
                                &too_far,
                                &overlap,
                                &gap,
                                &empty_region,
                                &no_value,
                                &whole_number,
                                &unstable};

} // namespace farfield::stencil::kinds
