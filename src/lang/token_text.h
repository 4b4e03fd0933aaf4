// The texts of tokens: characters of names, numbers, and words about what cannot be read.
#pragma once

#include "lang/token.h"

#include <string>
#include <string_view>
#include <utility>

namespace farfield::lang {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool continues_name(char c) { return starts_name(c) || is_digit(c); }

/// Where a number that begins at `begin` ends, letters that stick to it included.
std::size_t end_of_number(std::string_view text, std::size_t begin);

struct ReadNumber {
    Token token;
    std::string problem; ///< empty: it was read
    std::string remedy;
};
/// A whole number up to 2^63 − 1, or a finite real; what underflows is 0.
ReadNumber read_number(std::string_view text);

/// What to say about a character that opens no token, and what to write instead.
std::pair<std::string, std::string> about_character(std::string_view character);

/// The word for lists of tokens: "identifier", "operator", "newline"…
std::string_view kind_text(TokenKind kind);

} // namespace farfield::lang
