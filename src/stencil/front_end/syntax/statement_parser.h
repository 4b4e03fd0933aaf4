// The parser of statements: one function for each, shared helpers, and recovery from mistakes.
// parser.cpp has the helpers, parse_declarations.cpp and parse_actions.cpp the statements.
#pragma once

#include "lang/token_stream.h"
#include "stencil/front_end/syntax/statements.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace farfield::stencil {

class StatementParser {
public:
    explicit StatementParser(lang::TokenStream& tokens) : tokens_(tokens) {}

    Program program();

private:
    void statement();
    StatementNode statement_node(std::string_view word);
    [[noreturn]] void refuse_statement();
    /// Skips the statement that begins at a byte of the text, and remembers its names.
    void recover(std::uint32_t begin);

    ProgramName program_name();
    Constants constants(bool parameters);
    TimeSettings time_settings();
    GridDecl grid();
    GridAxis grid_axis();
    FieldDecl field();
    ArrayDecl array();
    SubdomainDecl subdomain();
    CoefficientDecl coefficient();
    CoefficientCase coefficient_case();

    UpdateDecl update();
    SourceDecl source();
    Equation equation();
    BoundaryDecl boundary();
    BoundaryRule boundary_rule();
    RecordDecl record();
    StepDecl step();
    StepEntry step_entry();
    OutputDecl output();

    Identifier identifier(std::string_view what, std::string_view where);
    std::vector<Identifier> identifiers(std::string_view what, std::string_view where);
    NamedValue named_value(std::string_view what);
    std::vector<NamedValue> named_values(std::string_view what);
    /// `on g`, where it comes; reports a second one.
    bool accept_grid(Identifier& grid);
    /// `at (x+1/2, y)`
    bool accept_stagger(std::vector<ExprPtr>& stagger);
    /// `: double`, where a type and not a block follows the colon.
    bool accept_precision(Precision& precision);
    std::vector<PlaceRange> place();
    ExprPtr accept_every();
    void end_of_line(std::string_view after);
    /// `:` and then the entries on the same line with semicolons between, or one or more a line in an
    /// indented block.
    void block(std::string_view of, const std::function<void()>& entry);
    void entries_of_line(const std::function<void()>& entry);

    lang::TokenStream& tokens_;
    Program program_;
};

} // namespace farfield::stencil
