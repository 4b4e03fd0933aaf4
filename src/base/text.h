// Small helpers for texts that people read: the nearest known word, lists of allowed words.
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace farfield {

/// The candidate with the smallest edit distance (insert, delete, replace, swap neighbours) to `word`; empty
/// if none is within about a third of its length. Case is ignored.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// "a, b or c".
std::string list_of_words(std::span<const std::string_view> words);

/// ", did you mean 'x'?" for a near miss, otherwise "; known: a, b or c".
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

/// The items with `separator` between them, numbers as fmt writes them by `form`. In place of fmt::join, with
/// which each source takes up to a second more to compile: fmt's own writing of numbers is compiled again
/// there.
template <class Items>
std::string joined(const Items& items, std::string_view separator, std::string_view form = "{}") {
    std::string out;
    bool first = true;
    for (const auto& item : items) {
        if (!first) out += separator;
        first = false;
        if constexpr (std::is_convertible_v<decltype(item), std::string_view>)
            out += std::string_view(item);
        else
            out += fmt::format(fmt::runtime(form), item);
    }
    return out;
}

} // namespace farfield
