// Small helpers for texts that people read: the nearest known word, lists of allowed words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace farfield {

/// The candidate with the smallest edit distance (insert, delete, replace, swap neighbours) to `word`; empty
/// if none is within about a third of its length. Case is ignored.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// "a, b or c".
std::string list_of_words(std::span<const std::string_view> words);

/// ", did you mean 'x'?" for a near miss, otherwise "; known: a, b or c".
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

} // namespace farfield
