// Reading tokens one after the other.
#include "lang/token_stream.h"

#include "lang/diagnostic_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield::lang {

const Token& TokenStream::peek(std::size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

std::string_view TokenStream::text(std::size_t ahead) const {
    const auto& token = peek(ahead);
    return token.kind >= TokenKind::newline ? std::string_view() : source_.text(token.span);
}

bool TokenStream::at_word(std::string_view word, std::size_t ahead) const {
    return peek(ahead).kind == TokenKind::identifier && text(ahead) == word;
}

const Token& TokenStream::next() {
    const auto& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
}

bool TokenStream::accept(TokenKind kind) {
    if (!at(kind)) return false;
    next();
    return true;
}

bool TokenStream::accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    next();
    return true;
}

bool TokenStream::accept_hyphenated(std::string_view first, std::string_view second) {
    const bool there = at_word(first) && peek(1).kind == TokenKind::minus && at_word(second, 2) &&
                       peek().span.end == peek(1).span.begin && peek(1).span.end == peek(2).span.begin;
    if (there)
        for (int i = 0; i < 3; ++i) next();
    return there;
}

const Token& TokenStream::expect(TokenKind kind, std::string_view where, std::string remedy) {
    if (at(kind)) return next();
    const bool word = kind <= TokenKind::string || kind >= TokenKind::newline;
    fail(word ? std::string(name_of(kind)) : fmt::format("'{}'", name_of(kind)), where, std::move(remedy));
}

const Token& TokenStream::expect_word(std::string_view word, std::string_view where, std::string remedy) {
    if (at_word(word)) return next();
    fail(fmt::format("'{}'", word), where, std::move(remedy));
}

void TokenStream::fail(std::string_view expected, std::string_view where, std::string remedy) {
    auto span = peek().span;
    if (peek().kind >= TokenKind::newline) { // show the end of what was written, not the blank line behind it
        span.begin = last_span().end;
        span.end = span.begin;
    }
    if (diagnostics_.reported_between(statement_begin_, span.end)) throw SyntaxFailure{};
    diagnostics_.report(
        kinds::syntax, span,
        fmt::format("expected {}{}{}, found {}", expected, where.empty() ? "" : " ", where, described()),
        std::move(remedy));
    throw SyntaxFailure{};
}

std::string TokenStream::described() const {
    const auto& token = peek();
    if (token.kind >= TokenKind::newline) return std::string(name_of(token.kind));
    return token.kind == TokenKind::string ? std::string(source_.text(token.span))
                                           : fmt::format("'{}'", source_.text(token.span));
}

Span TokenStream::last_span() const { return at_ == 0 ? Span{} : tokens_[at_ - 1].span; }

void TokenStream::skip_statement() {
    while (!at(TokenKind::newline) && !at(TokenKind::end) && !at(TokenKind::indent) && !at(TokenKind::dedent))
        next();
    accept(TokenKind::newline);
    if (!accept(TokenKind::indent)) return;
    for (int depth = 1; depth > 0 && !at(TokenKind::end);) {
        const auto kind = next().kind;
        depth += kind == TokenKind::indent ? 1 : kind == TokenKind::dedent ? -1 : 0;
    }
}

} // namespace farfield::lang
