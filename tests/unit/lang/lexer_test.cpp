// The lexer: tokens, blocks and brackets, and balance on any text.
#include "lang/lexer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace {

using namespace farfield::lang;

constexpr std::array<std::string_view, 2> line_words{"param", "let"};

struct Lexed {
    explicit Lexed(std::string text) : source("test.ff", std::move(text)), diagnostics(source) {
        tokens = tokenize(source, line_words, diagnostics);
    }
    // "a + NEWLINE" for quick comparison.
    std::string text() const {
        std::string out;
        for (const auto& token : tokens) {
            if (!out.empty()) out += ' ';
            switch (token.kind) {
            case TokenKind::newline:
                out += "|";
                break;
            case TokenKind::indent:
                out += "{";
                break;
            case TokenKind::dedent:
                out += "}";
                break;
            case TokenKind::end:
                out += ".";
                break;
            default:
                out += source.text(token.span);
            }
        }
        return out;
    }
    SourceText source;
    Diagnostics diagnostics;
    std::vector<Token> tokens;
};

std::string tokens_of(const std::string& text) { return Lexed(text).text(); }

} // namespace

TEST(Lexer, CutsOperatorsAtTheirLongest) {
    EXPECT_EQ(tokens_of("a+=b//c<=d!=e==f*=g-=h"), "a += b // c <= d != e == f *= g -= h | .");
    EXPECT_EQ(tokens_of("a=-b^2%c"), "a = - b ^ 2 % c | .");
}

TEST(Lexer, ReadsNumbers) {
    const Lexed lexed("9223372036854775807 0.5 .5 5. 1e3 1.5E-3 2e+2 1e-400");
    ASSERT_EQ(lexed.tokens.size(), 10U);
    EXPECT_FALSE(lexed.diagnostics.has_errors());
    EXPECT_EQ(lexed.tokens[0].kind, TokenKind::integer);
    EXPECT_EQ(lexed.tokens[0].integer, 9223372036854775807);
    const std::array<double, 7> expected{0.5, 0.5, 5.0, 1000.0, 0.0015, 200.0, 0.0};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(lexed.tokens[i + 1].kind, TokenKind::real);
        EXPECT_EQ(lexed.tokens[i + 1].real, expected[i]);
    }
}

TEST(Lexer, BlocksFollowTheIndentation) {
    EXPECT_EQ(tokens_of("a\n  b\n  c\nd\n"), "a | { b | c | } d | .");
    EXPECT_EQ(tokens_of("a\n  b\n    c\n"), "a | { b | { c | } } .");
    EXPECT_EQ(tokens_of("a\n\n   # remark\n  b # remark\n\n"), "a | { b | } .");
    EXPECT_EQ(tokens_of("a\r\n  b\r\n"), "a | { b | } .");
}

TEST(Lexer, TheFirstLineSaysWhereTheProgramStarts) {
    EXPECT_EQ(tokens_of("    a\n        b\n    c\n"), "a | { b | } c | .");
}

TEST(Lexer, LinesContinueInBrackets) {
    EXPECT_EQ(tokens_of("a = (b +\nc) # remark\nd\n"), "a = ( b + c ) | d | .");
    EXPECT_EQ(tokens_of("a[x:\n  1,\n# remark\n\n y: 2]\n"), "a [ x : 1 , y : 2 ] | .");
}

TEST(Lexer, AStatementEndsForgottenBrackets) {
    const Lexed lexed("let a = (b\n\n  let c = d\n");
    EXPECT_EQ(lexed.text(), "let a = ( b | { let c = d | } .");
    EXPECT_EQ(lexed.diagnostics.errors(), 1U);
}

TEST(Lexer, PlacesCountCharacters) {
    const SourceText source("test.ff", "a\nµ² x\n");
    const auto place = source.place(7); // two characters of two bytes and a blank before it
    EXPECT_EQ(place.line, 2);
    EXPECT_EQ(place.column, 4);
}

// Whatever the text: blocks are balanced, `end` comes once and last, spans are inside and in order.
TEST(Lexer, DeliversBalancedTokensForAnyText) {
    constexpr std::uint32_t seed = 20;
    std::mt19937 random(seed);
    const std::string alphabet = "ab1.e+-*/^<=!()[],:;\"'#\n\n\n    \t\r\\\x01\xC3\xA9&";
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        const auto length = random() % 80;
        for (std::size_t i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
        const Lexed lexed(text);
        int depth = 0;
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < lexed.tokens.size(); ++i) {
            const auto& token = lexed.tokens[i];
            depth += token.kind == TokenKind::indent ? 1 : token.kind == TokenKind::dedent ? -1 : 0;
            ASSERT_GE(depth, 0) << "seed " << seed << ", round " << round;
            ASSERT_EQ(token.kind == TokenKind::end, i + 1 == lexed.tokens.size());
            ASSERT_LE(at, token.span.begin);
            ASSERT_LE(token.span.begin, token.span.end);
            ASSERT_LE(token.span.end, lexed.source.text().size());
            at = token.span.begin;
        }
        ASSERT_EQ(depth, 0) << "seed " << seed << ", round " << round;
    }
}
