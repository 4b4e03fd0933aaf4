// Runs another program and collects what it says. No shell is involved.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::jit {

struct ProcessResult {
    int exit_code = 0;  ///< 128 + signal where one ended it
    std::string output; ///< standard output and error, interleaved; the first MiB
};

/// Runs argv[0], a path, with standard input closed, and waits for it. @throws IoError where it does not
/// start.
ProcessResult run_process(const std::vector<std::string>& argv);

/// `name` itself if it has a slash and can be executed, otherwise where $PATH has it.
std::optional<std::filesystem::path> find_program(std::string_view name);

} // namespace farfield::jit
