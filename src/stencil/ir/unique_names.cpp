// Names for generated code.
#include "stencil/ir/unique_names.h"

#include <fmt/format.h>

namespace farfield::stencil {
namespace {

// Reserved words of C++20, and what compilers define without headers.
constexpr std::string_view words_of_cpp[] = {
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq",      "asm",       "linux",      "unix"};

// Names that the printers use, and those of CUDA.
constexpr std::string_view words_of_printers[] = {"main",
                                                  "std",
                                                  "farfield",
                                                  "ff_std",
                                                  "minimum",
                                                  "maximum",
                                                  "negated",
                                                  "wrapping_add",
                                                  "periodic",
                                                  "mirrored",
                                                  "clamped",
                                                  "value_or_zero",
                                                  "clamped_to",
                                                  "sum_of_atom",
                                                  "cell",
                                                  "line",
                                                  "wrapping_subtract",
                                                  "wrapping_multiply",
                                                  "wrapping_negate",
                                                  "wrapping_abs",
                                                  "floor_divide",
                                                  "floor_remainder",
                                                  "RowCall",
                                                  "call",
                                                  "first",
                                                  "last",
                                                  "low",
                                                  "high",
                                                  "mask",
                                                  "here",
                                                  "uniforms",
                                                  "step",
                                                  "span",
                                                  "value",
                                                  "counted",
                                                  "end",
                                                  "a",
                                                  "i",
                                                  "k",
                                                  "out",
                                                  "atom",
                                                  "lane",
                                                  "values",
                                                  "best",
                                                  "any",
                                                  "blockIdx",
                                                  "blockDim",
                                                  "threadIdx",
                                                  "gridDim",
                                                  "warpSize"};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

UniqueNames::UniqueNames(Taken taken) {
    for (const auto word : words_of_cpp) taken_.emplace(word);
    if (taken == Taken::words_of_cpp) return;
    for (const auto word : words_of_printers) taken_.emplace(word);
    for (const char* axis : {"x", "y", "z", "t"}) taken_.emplace(axis);
}

std::string UniqueNames::unique(std::string_view wanted) {
    std::string name;
    for (const char c : wanted) {
        // Two underscores in a row are reserved, and so is one in front.
        const char next = is_letter_or_digit(c) ? c : '_';
        if (next != '_' || (!name.empty() && name.back() != '_')) name += next;
    }
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "n" + name;
    // Constants of the printer are v and u with a number.
    const bool like_a_constant =
        (name[0] == 'v' || name[0] == 'u') && name.find_first_not_of("0123456789", 1) == std::string::npos;
    auto candidate = like_a_constant ? fmt::format("{}_1", name) : name;
    for (int i = 2; !taken_.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", name, i);
    return candidate;
}

} // namespace farfield::stencil
