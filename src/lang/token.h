// What a program consists of, as the lexer delivers it.
#pragma once

#include "lang/source_text.h"

#include <cstdint>
#include <string_view>

namespace farfield::lang {

enum class TokenKind : std::uint8_t {
    identifier,
    integer,
    real,
    string,
    // operators and brackets
    plus,
    minus,
    times,
    divide,
    floor_divide,
    remainder,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    assign,
    plus_assign,
    minus_assign,
    times_assign,
    comma,
    colon,
    semicolon,
    open_paren,
    close_paren,
    open_bracket,
    close_bracket,
    // layout
    newline, ///< the end of a statement's line
    indent,  ///< the next line starts further right
    dedent,  ///< a block ends; one for each
    end      ///< of the text; always the last token, never missing
};

/// As it is written ("+="), or what it is ("a number").
std::string_view name_of(TokenKind kind);

struct Token {
    TokenKind kind = TokenKind::end;
    Span span;
    std::int64_t integer = 0; ///< of an integer
    double real = 0;          ///< of a real
};

} // namespace farfield::lang
