// Case files from memory: what `read_case` does once the file is read.
#pragma once

#include <farfield/run.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// As `read_case`, for a text that was read from `file`: its folder is where a relative `initial.path`
/// starts, its stem the default name.
Case parse_case(std::string_view text, const std::filesystem::path& file,
                const std::vector<std::string>& overrides = {});

} // namespace farfield
