// Statements that say what happens: updates, sources, boundaries, records, the step, outputs.
#include "base/text.h"
#include "lang/expression_parser.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/statement_parser.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <utility>

namespace farfield::stencil {

using lang::SyntaxFailure;
using lang::TokenKind;

UpdateDecl StatementParser::update() {
    UpdateDecl out;
    out.name = identifier("a name", "after 'update'");
    if (tokens_.accept_word("on")) out.where = lang::parse_expression(tokens_);
    block("the update", [&] { out.equations.push_back(equation()); });
    return out;
}

SourceDecl StatementParser::source() {
    SourceDecl out;
    out.name = identifier("a name", "after 'source'");
    if (tokens_.accept_word("at"))
        out.at = place();
    else if (tokens_.accept_word("on"))
        out.where = lang::parse_expression(tokens_);
    else
        tokens_.fail("'at' or 'on'", "after the name of the source", "write: source s at (10, 20):");
    block("the source", [&] { out.equations.push_back(equation()); });
    return out;
}

Equation StatementParser::equation() {
    if (tokens_.accept_word("let")) {
        auto value = named_value("a temporary");
        return Temporary{std::move(value.name), std::move(value.value)};
    }
    Assignment out;
    if (!tokens_.at(TokenKind::identifier)) tokens_.fail("an equation", "here", "write: FIELD = EXPRESSION");
    out.target = lang::parse_expression(tokens_);
    if (tokens_.accept(TokenKind::assign))
        out.op = AssignOp::assign;
    else if (tokens_.accept(TokenKind::plus_assign))
        out.op = AssignOp::add;
    else if (tokens_.accept(TokenKind::minus_assign))
        out.op = AssignOp::subtract;
    else if (tokens_.accept(TokenKind::times_assign))
        out.op = AssignOp::multiply;
    else
        tokens_.fail("'=', '+=', '-=' or '*='", "in the equation", "write: FIELD = EXPRESSION");
    out.value = lang::parse_expression(tokens_);
    return out;
}

BoundaryDecl StatementParser::boundary() {
    BoundaryDecl out;
    if (!tokens_.at(TokenKind::colon))
        out.fields = identifiers("the name of a field, or ':'", "after 'boundary'");
    tokens_.expect(TokenKind::colon, "before the kind of boundary", "write: boundary: periodic");
    do out.rules.push_back(boundary_rule());
    while (tokens_.accept(TokenKind::comma));
    end_of_line("after the boundary");
    return out;
}

BoundaryRule StatementParser::boundary_rule() {
    BoundaryRule out;
    const auto kind = identifier("a kind of boundary", "here");
    const auto found = boundary_of(kind.text);
    if (!found) {
        tokens_.diagnostics().report(kinds::unknown_word, kind.span,
                                     fmt::format("'{}' is not a kind of boundary", kind.text),
                                     fmt::format("choose {}", list_of_words(boundary_names())));
        throw SyntaxFailure{};
    }
    out.boundary = *found;
    if (!tokens_.accept_word("in")) return out;
    out.axes.push_back(identifier("an axis", "after 'in'"));
    while (tokens_.accept_word("and")) out.axes.push_back(identifier("an axis", "after 'and'"));
    return out;
}

RecordDecl StatementParser::record() {
    RecordDecl out;
    out.name = identifier("a name", "after 'record'");
    tokens_.expect(TokenKind::assign, "after the name of the record", "write: record total = sum of u");
    if (tokens_.at(TokenKind::identifier) && tokens_.at_word("of", 1)) {
        const auto word = tokens_.text();
        const auto reduction = reduction_of(word);
        if (!reduction) {
            tokens_.diagnostics().report(kinds::unknown_word, tokens_.peek().span,
                                         fmt::format("'{}' is not a way to reduce many values to one", word),
                                         "choose sum, mean, max or min");
            throw SyntaxFailure{};
        }
        out.reduction = *reduction;
        tokens_.next();
        tokens_.next();
    }
    out.value = lang::parse_expression(tokens_);
    if (tokens_.accept_word("on"))
        out.where = lang::parse_expression(tokens_);
    else if (tokens_.accept_word("at"))
        out.at = place();
    out.every = accept_every();
    end_of_line("after the record");
    return out;
}

StepDecl StatementParser::step() {
    StepDecl out;
    block("the step", [&] {
        do out.entries.push_back(step_entry());
        while (tokens_.accept(TokenKind::comma) && !tokens_.at(TokenKind::newline));
    });
    return out;
}

StepEntry StatementParser::step_entry() {
    StepEntry out;
    out.name = identifier("the name of an update or source", "in the step");
    out.every = accept_every();
    return out;
}

OutputDecl StatementParser::output() {
    OutputDecl out;
    out.fields = identifiers("the name of a field", "here");
    const std::string when = "write: output u every 100, at end";
    bool any = false;
    do {
        if (tokens_.at_word("every")) {
            out.every = accept_every();
        } else if (tokens_.accept_word("at")) {
            if (tokens_.accept_word("end"))
                out.at_end = true;
            else if (tokens_.accept_word("start"))
                out.at_start = true;
            else
                tokens_.fail("'start' or 'end'", "after 'at'", when);
        } else if (!any) {
            tokens_.fail("'at' or 'every'", "after the fields", when);
        } else {
            break;
        }
        any = true;
        tokens_.accept(TokenKind::comma);
    } while (!tokens_.at(TokenKind::newline));
    end_of_line("after the output");
    return out;
}

} // namespace farfield::stencil
