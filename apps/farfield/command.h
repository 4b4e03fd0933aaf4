// A command of `farfield`: one file each, one row each in the table of commands.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <span>
#include <string_view>

namespace farfield::app {

/// What a command does once its options are parsed; returns the exit code.
using Action = std::function<int()>;

struct Command {
    std::string_view name;
    std::string_view summary;  ///< one line for the list of commands
    std::string_view examples; ///< whole lines, shown at the end of `--help` and in the man page
    bool hidden = false;
    /// Adds the options to `app`. What they are parsed into lives in the action.
    Action (*declare)(CLI::App& app) = nullptr;
};

/// The table, in the order of `farfield --help`.
std::span<const Command> commands();

Action declare_run(CLI::App& app);
Action declare_sum(CLI::App& app);
Action declare_plot(CLI::App& app);
Action declare_info(CLI::App& app);
Action declare_bench(CLI::App& app);
Action declare_reproduce(CLI::App& app);
Action declare_stencil(CLI::App& app);
Action declare_tune(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_man(CLI::App& app);

/// A subcommand of `farfield stencil`: a file each.
struct StencilPart {
    CLI::App* app = nullptr; ///< parsed() where it is the one that was called
    Action action;
};
StencilPart declare_stencil_run(CLI::App& stencil);
StencilPart declare_stencil_emit(CLI::App& stencil);
StencilPart declare_stencil_resonances(CLI::App& stencil);
StencilPart declare_stencil_tune(CLI::App& stencil);

/// The commands and their summaries, examples of `app` or null for a group; used by help, man and completion.
const Command* command_of(const CLI::App& app);

} // namespace farfield::app
