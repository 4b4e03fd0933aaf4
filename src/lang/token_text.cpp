// Numbers, names of tokens, and advice about characters.
#include "lang/token_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace farfield::lang {
namespace {

constexpr std::array<std::string_view, 32> token_names{"a name",
                                                       "a whole number",
                                                       "a real number",
                                                       "a text in quotes",
                                                       "+",
                                                       "-",
                                                       "*",
                                                       "/",
                                                       "//",
                                                       "%",
                                                       "^",
                                                       "<",
                                                       "<=",
                                                       ">",
                                                       ">=",
                                                       "==",
                                                       "!=",
                                                       "=",
                                                       "+=",
                                                       "-=",
                                                       "*=",
                                                       ",",
                                                       ":",
                                                       ";",
                                                       "(",
                                                       ")",
                                                       "[",
                                                       "]",
                                                       "the end of the line",
                                                       "an indented block",
                                                       "the end of the block",
                                                       "the end of the program"};
static_assert(token_names.size() == static_cast<std::size_t>(TokenKind::end) + 1);

struct CharacterAdvice {
    std::string_view character;
    std::string_view remedy;
};
constexpr std::array<CharacterAdvice, 14> character_advice{{
    {"&", "write 'and'"},
    {"|", "write 'or'"},
    {"!", "write 'not', or '!=' for not equal"},
    {"?", "write 'if condition then a else b'"},
    {"{", "blocks are indented, and lists are in '(' and ')'"},
    {"}", "blocks are indented, and lists are in '(' and ')'"},
    {".", "numbers are written as 0.5"},
    {"\xC2\xB2", "write '^2'"},
    {"\xC2\xB3", "write '^3'"},
    {"\xC3\x97", "write '*'"},
    {"\xC2\xB7", "write '*'"},
    {"\xE2\x88\x92", "this is not the minus sign of the keyboard; write '-'"},
    {"\xE2\x89\xA4", "write '<='"},
    {"\xE2\x89\xA5", "write '>='"},
}};

// Characters that editors and web pages leave behind, and what they are called.
constexpr std::array<CharacterAdvice, 10> invisible{{
    {"\xC2\xA0", "a no-break space (U+00A0)"},
    {"\xC2\xAD", "a soft hyphen (U+00AD)"},
    {"\xE2\x80\x89", "a thin space (U+2009)"},
    {"\xE2\x80\x8B", "a zero-width space (U+200B)"},
    {"\xE2\x80\x8C", "a zero-width non-joiner (U+200C)"},
    {"\xE2\x80\x8D", "a zero-width joiner (U+200D)"},
    {"\xE2\x80\x8E", "a left-to-right mark (U+200E)"},
    {"\xE2\x80\xAF", "a narrow no-break space (U+202F)"},
    {"\xE3\x80\x80", "an ideographic space (U+3000)"},
    {"\xEF\xBB\xBF", "a byte order mark (U+FEFF)"},
}};

// Decides between too large and too small, which from_chars does not tell apart.
double beyond_range(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

} // namespace

std::string_view name_of(TokenKind kind) { return token_names[static_cast<std::size_t>(kind)]; }

std::string_view kind_text(TokenKind kind) {
    switch (kind) {
    case TokenKind::identifier:
        return "name";
    case TokenKind::integer:
        return "integer";
    case TokenKind::real:
        return "real";
    case TokenKind::string:
        return "string";
    case TokenKind::newline:
        return "newline";
    case TokenKind::indent:
        return "indent";
    case TokenKind::dedent:
        return "dedent";
    case TokenKind::end:
        return "end";
    default:
        return "operator";
    }
}

std::size_t end_of_number(std::string_view text, std::size_t begin) {
    auto at = begin;
    while (at < text.size() && (continues_name(text[at]) || text[at] == '.')) {
        const bool exponent = text[at] == 'e' || text[at] == 'E';
        ++at;
        if (exponent && at + 1 < text.size() && (text[at] == '+' || text[at] == '-') &&
            is_digit(text[at + 1]))
            ++at;
    }
    return at;
}

ReadNumber read_number(std::string_view text) {
    Token token;
    const auto* begin = text.data();
    const auto* end = begin + text.size();
    const bool whole = text.find_first_not_of("0123456789") == std::string_view::npos;
    token.kind = whole ? TokenKind::integer : TokenKind::real;
    if (whole) {
        if (std::from_chars(begin, end, token.integer).ec == std::errc()) return {token, {}, {}};
        return {token, fmt::format("the whole number {} is larger than 2^63 - 1", text),
                fmt::format("write it as a real number: {}.0", text)};
    }
    const auto result = std::from_chars(begin, end, token.real);
    if (result.ptr != end || result.ec == std::errc::invalid_argument)
        return {token, fmt::format("'{}' is not a number", text),
                "numbers are written as 12, 0.5 or 1e-3, products with '*', and names start with a letter"};
    if (result.ec == std::errc::result_out_of_range) {
        token.real = beyond_range(text);
        if (!std::isfinite(token.real)) {
            token.real = 0;
            return {token, fmt::format("the number {} is larger than a double can be", text),
                    "double numbers end at 1.8e308"};
        }
    }
    return {token, {}, {}};
}

std::pair<std::string, std::string> about_character(std::string_view character) {
    for (const auto& known : character_advice)
        if (known.character == character)
            return {fmt::format("the character '{}' means nothing here", character),
                    std::string(known.remedy)};
    const auto first = static_cast<unsigned char>(character[0]);
    if (first < 0x20 || first == 0x7F)
        return {fmt::format("a control character (code {}) stands here", first), "remove it"};
    for (const auto& one : invisible)
        if (one.character == character)
            return {fmt::format("{} stands here, which cannot be seen", one.remedy),
                    "remove it, or write a blank"};
    if (first >= 0x80)
        return {"this character means nothing in a program",
                "names consist of the letters a-z, A-Z, digits and _; other characters may stand in remarks"};
    return {fmt::format("the character '{}' means nothing here", character), "remove it"};
}

} // namespace farfield::lang
