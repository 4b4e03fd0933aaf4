// Statements, recovery and what several statements share.
#include "stencil/front_end/syntax/parser.h"

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

Program parse_program(std::span<const lang::Token> tokens, lang::Diagnostics& diagnostics) {
    lang::TokenStream stream(tokens, diagnostics.source(), diagnostics);
    return StatementParser(stream).program();
}

Program StatementParser::program() {
    while (!tokens_.at(TokenKind::end) && !tokens_.diagnostics().full()) {
        if (tokens_.accept(TokenKind::newline) || tokens_.accept(TokenKind::dedent)) continue;
        const auto first = tokens_.peek().span;
        tokens_.begin_statement();
        try {
            statement();
        } catch (const SyntaxFailure&) {
            recover(first.begin);
        }
    }
    return std::move(program_);
}

void StatementParser::statement() {
    if (tokens_.at(TokenKind::indent)) {
        tokens_.next();
        tokens_.diagnostics().report(kinds::misplaced, tokens_.peek().span,
                                     "this line is indented, but no block begins above it",
                                     "start it in the column of the statement above");
        return;
    }
    const auto begin = tokens_.peek().span;
    const auto word = tokens_.text();
    const bool opens =
        tokens_.at(TokenKind::identifier) &&
        (opens_statement(word) || (word == "step" && tokens_.peek(1).kind == TokenKind::colon));
    if (!opens) refuse_statement();
    tokens_.next();
    auto node = statement_node(word);
    program_.statements.push_back({lang::join(begin, tokens_.last_span()), std::move(node)});
}

StatementNode StatementParser::statement_node(std::string_view word) {
    if (word == "program") return program_name();
    if (word == "param") return constants(true);
    if (word == "let") return constants(false);
    if (word == "time") return time_settings();
    if (word == "grid") return grid();
    if (word == "field") return field();
    if (word == "array") return array();
    if (word == "subdomain") return subdomain();
    if (word == "coefficient") return coefficient();
    if (word == "update") return update();
    if (word == "source") return source();
    if (word == "boundary") return boundary();
    if (word == "record") return record();
    if (word == "output") return output();
    return step();
}

void StatementParser::refuse_statement() {
    const auto word = tokens_.text();
    std::string remedy(statement_advice(word));
    const auto after = tokens_.peek(1).kind;
    if (remedy.empty() && tokens_.at(TokenKind::identifier)) {
        std::vector<std::string_view> words(statement_words().begin(), statement_words().end());
        words.emplace_back("step");
        const auto nearest = nearest_word(word, words);
        if (word == "step")
            remedy = "write: step: FIRST, SECOND";
        else if (after == TokenKind::assign)
            remedy = fmt::format(
                "a constant is declared with 'let {} = …'; equations stand below an 'update'", word);
        else if (after == TokenKind::plus_assign || after == TokenKind::minus_assign ||
                 after == TokenKind::times_assign || after == TokenKind::open_bracket)
            remedy = "equations stand below an 'update', indented";
        else if (!nearest.empty())
            remedy = fmt::format("did you mean '{}'?", nearest);
    }
    if (remedy.empty())
        remedy = fmt::format("statements open with {}, step:", joined(statement_words(), ", "));
    tokens_.diagnostics().report(kinds::unknown_statement, tokens_.peek().span,
                                 tokens_.at(TokenKind::identifier)
                                     ? fmt::format("'{}' does not open a statement", word)
                                     : std::string("no statement opens like this"),
                                 std::move(remedy));
    throw SyntaxFailure{};
}

void StatementParser::recover(std::uint32_t begin) {
    tokens_.skip_statement();
    const lang::Span span{begin, tokens_.last_span().end};
    const auto text = tokens_.source().text(span);
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ' ';
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
            (!word.empty() && c >= '0' && c <= '9')) {
            word += c;
        } else if (!word.empty()) {
            program_.unread_names.push_back(std::exchange(word, {}));
        }
    }
}

Identifier StatementParser::identifier(std::string_view what, std::string_view where) {
    if (!tokens_.at(TokenKind::identifier)) tokens_.fail(what, where);
    const auto& token = tokens_.next();
    return {std::string(tokens_.text(token)), token.span};
}

std::vector<Identifier> StatementParser::identifiers(std::string_view what, std::string_view where) {
    std::vector<Identifier> out;
    do out.push_back(identifier(what, where));
    while (tokens_.accept(TokenKind::comma));
    return out;
}

NamedValue StatementParser::named_value(std::string_view what) {
    auto name = identifier("a name", fmt::format("for {}", what));
    tokens_.expect(TokenKind::assign, "after the name",
                   fmt::format("{} needs a value: {} = 1", what, name.text));
    return {std::move(name), lang::parse_expression(tokens_)};
}

std::vector<NamedValue> StatementParser::named_values(std::string_view what) {
    std::vector<NamedValue> out;
    do out.push_back(named_value(what));
    while (tokens_.accept(TokenKind::comma));
    end_of_line(fmt::format("after {}", what));
    return out;
}

bool StatementParser::accept_grid(Identifier& grid) {
    if (!tokens_.at_word("on")) return false;
    const auto span = tokens_.next().span;
    if (!grid.empty())
        tokens_.diagnostics().report(kinds::repeated, span, "a grid was given before",
                                     "leave one of them out");
    grid = identifier("the name of a grid", "after 'on'");
    return true;
}

bool StatementParser::accept_stagger(std::vector<ExprPtr>& stagger) {
    if (!tokens_.at_word("at")) return false;
    const auto span = tokens_.next().span;
    if (!stagger.empty())
        tokens_.diagnostics().report(kinds::repeated, span, "a place in the cell was given before",
                                     "leave one of them out");
    stagger.clear();
    tokens_.expect(TokenKind::open_paren, "after 'at'", "write: at (x+1/2, y)");
    do stagger.push_back(lang::parse_expression(tokens_));
    while (tokens_.accept(TokenKind::comma));
    tokens_.expect(TokenKind::close_paren, "after the place in the cell");
    return true;
}

bool StatementParser::accept_precision(Precision& precision) {
    if (!tokens_.at(TokenKind::colon) || tokens_.peek(1).kind != TokenKind::identifier) return false;
    tokens_.next();
    const auto word = tokens_.text();
    const auto found = precision_of(word);
    if (!found) {
        tokens_.diagnostics().report(kinds::unknown_word, tokens_.peek().span,
                                     fmt::format("'{}' is not a type of fields", word),
                                     fmt::format("choose {}", list_of_words(precision_names())));
        throw SyntaxFailure{};
    }
    tokens_.next();
    precision = *found;
    return true;
}

std::vector<PlaceRange> StatementParser::place() {
    std::vector<PlaceRange> out;
    tokens_.expect(TokenKind::open_paren, "after 'at'", "write: at (10, 20)");
    do {
        PlaceRange range;
        range.first = lang::parse_expression(tokens_);
        if (tokens_.accept_word("to")) range.last = lang::parse_expression(tokens_);
        out.push_back(std::move(range));
    } while (tokens_.accept(TokenKind::comma));
    tokens_.expect(TokenKind::close_paren, "after the place");
    return out;
}

ExprPtr StatementParser::accept_every() {
    if (!tokens_.accept_word("every")) return nullptr;
    auto every = lang::parse_expression(tokens_);
    tokens_.accept_word("steps");
    return every;
}

void StatementParser::end_of_line(std::string_view after) { tokens_.expect(TokenKind::newline, after); }

void StatementParser::entries_of_line(const std::function<void()>& entry) {
    do entry();
    while (tokens_.accept(TokenKind::semicolon) && !tokens_.at(TokenKind::newline));
    end_of_line("here");
}

void StatementParser::block(std::string_view of, const std::function<void()>& entry) {
    tokens_.expect(TokenKind::colon, fmt::format("before the lines of {}", of));
    if (!tokens_.accept(TokenKind::newline)) return entries_of_line(entry);
    if (!tokens_.accept(TokenKind::indent))
        tokens_.fail("an indented block", fmt::format("with the lines of {}", of),
                     "indent the lines that belong to it by four blanks");
    while (!tokens_.accept(TokenKind::dedent) && !tokens_.at(TokenKind::end) &&
           !tokens_.diagnostics().full()) {
        const auto begin = tokens_.peek().span.begin;
        tokens_.begin_statement();
        try {
            if (tokens_.at(TokenKind::indent))
                tokens_.fail("a line of the block", "in the column of the one above");
            entries_of_line(entry);
        } catch (const SyntaxFailure&) {
            recover(begin);
        }
    }
}

} // namespace farfield::stencil
