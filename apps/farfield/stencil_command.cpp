// farfield stencil check|explain: programs of the stencil language.
#include "command.h"
#include "options.h"

#include "studies/stencil_program.h"

#include <fmt/format.h>

#include <memory>

namespace farfield::app {
namespace {

struct StencilCommand {
    StencilTask task;
    std::string stage;
    bool json = false;
};

std::string counted(std::size_t n, std::string_view word) {
    return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string counts(const StencilCheck& check) {
    return counted(check.errors, "error") +
           (check.warnings > 0 ? " and " + counted(check.warnings, "warning") : "");
}

int check(const StencilCommand& command) {
    const auto& input = command.task.input;
    return with_inputs({input}, [&] {
        require_input(input, "FILE");
        const auto result = check_stencil(command.task);
        if (command.json)
            fmt::print("{}", result.json);
        else
            say(result.messages);
        if (result.errors > 0) throw InvalidArgument(fmt::format("{}: {}", input.string(), counts(result)));
        if (!command.json)
            fmt::print("{}: no errors{}: {}\n", input.string(),
                       result.warnings > 0 ? ", " + counted(result.warnings, "warning") : "", result.summary);
        return 0;
    });
}

int explain(const StencilCommand& command) {
    const auto& input = command.task.input;
    return with_inputs({input}, [&] {
        require_input(input, "FILE");
        StencilCheck result;
        fmt::print("{}", explain_stencil(command.task, command.stage, result));
        say(result.messages);
        if (result.errors > 0) throw InvalidArgument(fmt::format("{}: {}", input.string(), counts(result)));
        return 0;
    });
}

void add_program_options(CLI::App& app, StencilCommand& command) {
    app.add_option("FILE", command.task.input, "Program (.ff)")->type_name("")->required();
    app.add_option("--set", command.task.parameters,
                   "Give a parameter of the program another value; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

} // namespace

Action declare_stencil(CLI::App& app) {
    app.require_subcommand(1);
    auto command = std::make_shared<StencilCommand>();
    auto* checker = app.add_subcommand("check", "Report the mistakes of a program");
    checker->footer("Examples:\n  farfield stencil check microdisk.ff\n"
                    "  farfield stencil check microdisk.ff --set cells=1024 --json\n");
    add_program_options(*checker, *command);
    checker->add_flag("--json", command->json, "Errors and warnings as JSON on standard output");

    auto* explainer = app.add_subcommand("explain", "Show what a stage of the compiler makes of a program");
    explainer->footer("Examples:\n  farfield stencil explain microdisk.ff --after parse\n"
                      "  farfield stencil explain microdisk.ff --after names --set cells=256\n");
    add_program_options(*explainer, *command);
    explainer
        ->add_option_function<std::string>(
            "--after",
            [command](const std::string& text) {
                const auto stages = stencil_stages();
                for (const auto stage : stages)
                    if (text == stage) command->stage = text;
                if (command->stage != text) unknown_choice("--after", text, stages);
            },
            "The stage: tokens, the program with all brackets, or names and values")
        ->type_name(choices_text(stencil_stages()))
        ->required();
    return [command, explainer] { return explainer->parsed() ? explain(*command) : check(*command); };
}

} // namespace farfield::app
