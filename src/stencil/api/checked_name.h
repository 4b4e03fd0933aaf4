// Names that come from C++, where no lexer has looked at them.
#pragma once

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace farfield::stencil_builder {

/// The name itself. @throws InvalidArgument where the language could not read it as one.
inline std::string checked_name(const std::string& name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (name.empty() || name.size() > 64 || !letter(name.front()) ||
        !std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); }))
        throw InvalidArgument(
            fmt::format("'{}' is no name; names are up to 64 letters, digits and _, and begin "
                        "with no digit",
                        name));
    return name;
}

} // namespace farfield::stencil_builder
