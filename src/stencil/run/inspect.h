// Reading stencil programs: what `farfield stencil check` and `farfield stencil explain` do.
#pragma once

#include <farfield/stencil.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct StencilTask {
    std::filesystem::path input;         ///< a program (*.ff)
    std::vector<std::string> parameters; ///< "name=value"
    /// Told which share of the cells of a condition is done, on any thread, once at a time.
    std::function<void(double)> progress = {};
};

struct StencilCheck {
    std::string messages; ///< errors and warnings with their lines, for people
    std::string json;     ///< the same as JSON
    std::string summary;  ///< one line: what the program consists of; empty where it has errors
    std::size_t errors = 0;
    std::size_t warnings = 0;
};

/// @throws InvalidArgument for a parameter that is not name=value; IoError.
StencilCheck check_stencil(const StencilTask& task);

/// The stages that can be shown: lex, parse, names, and the passes of the compiler, code.
std::vector<std::string_view> stencil_stages();

/// What the stage "code" shows: the text that a target compiles.
struct StencilCode {
    std::string target = "cpu"; ///< or "cuda"
    StencilOptions options;     ///< mask, steps a pass and block
};

/// The program after a stage of stencil_stages().
/// @param[out] check its messages; after `lex` and `parse` the program is shown in spite of errors.
/// @returns empty where the stage was not reached.
std::string explain_stencil(const StencilTask& task, std::string_view stage, StencilCheck& check,
                            const StencilCode& code = {});

} // namespace farfield
