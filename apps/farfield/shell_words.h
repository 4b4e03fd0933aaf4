// Commands that are shown for pasting.
#pragma once

#include <string>

namespace farfield::app {

/// The word as a shell reads it.
inline std::string quoted(const std::string& word) {
    if (!word.empty() && word.find_first_of(" \t'\"\\$`*?[]()&;|<>#~!") == std::string::npos) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

} // namespace farfield::app
