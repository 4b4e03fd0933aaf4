// Statements that declare what there is: constants, time, grids, fields, arrays, subdomains, coefficients.
#include "lang/expression_parser.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/statement_parser.h"

#include <fmt/format.h>

#include <utility>

namespace farfield::stencil {

using lang::TokenKind;

ProgramName StatementParser::program_name() {
    ProgramName out{identifier("a name", "after 'program'")};
    end_of_line("after the name");
    return out;
}

Constants StatementParser::constants(bool parameters) {
    return {parameters, named_values(parameters ? "a parameter" : "a constant")};
}

TimeSettings StatementParser::time_settings() { return {named_values("a setting of the time")}; }

GridDecl StatementParser::grid() {
    GridDecl out;
    out.name = identifier("a name", "after 'grid'");
    tokens_.expect(TokenKind::open_bracket, "after the name of the grid", "write: grid g[x: 100, y: 50]");
    do out.axes.push_back(grid_axis());
    while (tokens_.accept(TokenKind::comma));
    tokens_.expect(TokenKind::close_bracket, "after the axes");
    if (tokens_.accept_word("sampling")) out.sampling = lang::parse_expression(tokens_);
    end_of_line("after the grid");
    return out;
}

GridAxis StatementParser::grid_axis() {
    GridAxis out;
    out.name = identifier("an axis", "in the grid");
    tokens_.expect(TokenKind::colon, "after the axis", "write: x: 100");
    out.last = lang::parse_expression(tokens_);
    if (tokens_.accept_word("to")) {
        out.first = std::move(out.last);
        out.last = lang::parse_expression(tokens_);
    }
    return out;
}

FieldDecl StatementParser::field() {
    FieldDecl out;
    out.names = identifiers("the name of a field", "here");
    for (;;) {
        const bool comma = tokens_.accept(TokenKind::comma);
        if (accept_grid(out.grid) || accept_stagger(out.stagger)) continue;
        if (tokens_.accept_hyphenated("double", "buffered"))
            out.double_buffered = true;
        else if (tokens_.accept_hyphenated("read", "only"))
            out.read_only = true;
        else if (!accept_precision(out.precision)) {
            if (comma) tokens_.fail("'double-buffered', 'read-only', 'on', 'at' or ':'", "after ','");
            break;
        }
    }
    if (tokens_.accept(TokenKind::assign)) out.initial = lang::parse_expression(tokens_);
    end_of_line("after the field");
    return out;
}

ArrayDecl StatementParser::array() {
    ArrayDecl out;
    out.name = identifier("a name", "after 'array'");
    tokens_.expect(TokenKind::open_bracket, "after the name of the array", "write: array a[x] = exp(-x)");
    out.axis = identifier("an axis", "in the brackets");
    tokens_.expect(TokenKind::close_bracket, "after the axis",
                   "an array has one axis; more are a read-only field");
    while (accept_grid(out.grid) || accept_stagger(out.stagger) || accept_precision(out.precision)) {
    }
    tokens_.expect(TokenKind::assign, "after the array", "an array needs its values: array a[x] = exp(-x)");
    out.value = lang::parse_expression(tokens_);
    end_of_line("after the values");
    return out;
}

SubdomainDecl StatementParser::subdomain() {
    SubdomainDecl out;
    out.name = identifier("a name", "after 'subdomain'");
    if (tokens_.accept(TokenKind::open_paren)) {
        out.coordinates = identifiers("a coordinate", "in the brackets");
        tokens_.expect(TokenKind::close_paren, "after the coordinates");
    }
    while (accept_grid(out.grid) || accept_stagger(out.stagger)) {
    }
    tokens_.expect(TokenKind::assign, "after the subdomain", "write: subdomain left(x) = x < 10");
    out.condition = lang::parse_expression(tokens_);
    end_of_line("after the condition");
    return out;
}

CoefficientDecl StatementParser::coefficient() {
    CoefficientDecl out;
    out.name = identifier("a name", "after 'coefficient'");
    const auto typed = [&] { // `: double` of the coefficient, and not `: disk: 2` of its first case
        return tokens_.at(TokenKind::colon) &&
               (tokens_.at_word("double", 1) || tokens_.at_word("float", 1)) &&
               accept_precision(out.precision);
    };
    while (accept_grid(out.grid) || typed()) {
    }
    block("the coefficient", [&] { out.cases.push_back(coefficient_case()); });
    return out;
}

CoefficientCase StatementParser::coefficient_case() {
    CoefficientCase out;
    const auto begin = tokens_.peek().span;
    if (!tokens_.accept_word("elsewhere")) out.where = lang::parse_expression(tokens_);
    tokens_.expect(TokenKind::colon, "after the subdomain", "write: SUBDOMAIN: VALUE");
    out.value = lang::parse_expression(tokens_);
    out.span = lang::join(begin, out.value->span);
    return out;
}

} // namespace farfield::stencil
