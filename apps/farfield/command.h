// A command of `farfield`: one file each, one row each in the table of commands.cpp.
#pragma once

#include "parser.h"

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
    bool on_ranks = false; ///< several processes may share the work
    /// Adds the options to `app`. What they are parsed into lives in the action.
    Action (*declare)(CommandParser app) = nullptr;
};

/// The table, in the order of `farfield --help`.
std::span<const Command> commands();

Action declare_run(CommandParser app);
Action declare_sum(CommandParser app);
Action declare_plot(CommandParser app);
Action declare_info(CommandParser app);
Action declare_bench(CommandParser app);
Action declare_reproduce(CommandParser app);
Action declare_stencil(CommandParser app);
Action declare_tune(CommandParser app);
Action declare_completion(CommandParser app);
Action declare_man(CommandParser app);

/// A subcommand of `farfield stencil`: a file each.
struct StencilPart {
    CommandParser app; ///< is_named() where it is the one that was called
    Action action;
    bool on_ranks = false; ///< as of a command
};
StencilPart declare_stencil_run(CommandParser stencil);
StencilPart declare_stencil_emit(CommandParser stencil);
StencilPart declare_stencil_resonances(CommandParser stencil);
StencilPart declare_stencil_tune(CommandParser stencil);

/// The commands and their summaries, examples of `app` or null for a group; used by help, man and completion.
const Command* command_of(CommandParser app);

} // namespace farfield::app
