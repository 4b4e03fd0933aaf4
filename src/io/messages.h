// How files and their content are quoted in messages.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace farfield {

/// 'path' in quotes.
std::string quoted(const std::filesystem::path& path);

/// 'text' in quotes, cut to about 40 characters, with bytes that are not printable ASCII replaced by '?'.
std::string printable(std::string_view text);

/// "cannot <action> 'path': <reason of errno>; <remedy>".
std::string system_failure(std::string_view action, const std::filesystem::path& path, int error_number);

} // namespace farfield
