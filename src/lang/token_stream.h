// Reading tokens one after the other, and saying what was expected instead.
#pragma once

#include "lang/diagnostics.h"
#include "lang/token.h"

#include <span>
#include <string>
#include <string_view>

namespace farfield::lang {

/// Thrown by parsers after they have reported, caught where they can go on: it never leaves a parser.
struct SyntaxFailure {};

class TokenStream {
public:
    /// `tokens` end with TokenKind::end.
    TokenStream(std::span<const Token> tokens, const SourceText& source, Diagnostics& diagnostics)
        : tokens_(tokens), source_(source), diagnostics_(diagnostics) {}

    const Token& peek(std::size_t ahead = 0) const;
    bool at(TokenKind kind) const { return peek().kind == kind; }
    /// The text of the token ahead; empty for layout.
    std::string_view text(std::size_t ahead = 0) const;
    bool at_word(std::string_view word, std::size_t ahead = 0) const;
    std::string_view text(const Token& token) const { return source_.text(token.span); }

    const Token& next();
    bool accept(TokenKind kind);
    bool accept_word(std::string_view word);
    /// "double-buffered": two names joined by a hyphen without blanks.
    bool accept_hyphenated(std::string_view first, std::string_view second);

    /// `where` ends the message "expected ')' …": "after the coordinates", say.
    /// @throws SyntaxFailure after reporting.
    const Token& expect(TokenKind kind, std::string_view where, std::string remedy = {});
    const Token& expect_word(std::string_view word, std::string_view where, std::string remedy = {});
    /// Reports what was expected at the next token. @throws SyntaxFailure.
    [[noreturn]] void fail(std::string_view expected, std::string_view where, std::string remedy = {});

    /// The last token read.
    Span last_span() const;
    /// Skips to behind the newline of the statement at hand, and an indented block that follows it.
    void skip_statement();

    /// Says that a statement begins here: where something in it was reported before (by the lexer, say),
    /// `fail` does not add that something is missing.
    void begin_statement() { statement_begin_ = peek().span.begin; }

    const SourceText& source() const { return source_; }
    Diagnostics& diagnostics() { return diagnostics_; }

private:
    /// "'foo'", or what the token is.
    std::string described() const;

    std::span<const Token> tokens_;
    const SourceText& source_;
    Diagnostics& diagnostics_;
    std::size_t at_ = 0;
    std::uint32_t statement_begin_ = 0;
};

} // namespace farfield::lang
