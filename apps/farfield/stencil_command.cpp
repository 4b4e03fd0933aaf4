// farfield stencil: check, explain, and the parts that have a file of their own; programs of the stencil
// language.
#include "base/text.h"
#include "command.h"
#include "options.h"
#include "progress.h"
#include "ranks.h"
#include "stencil_options.h"

#include "stencil/run/emit.h"
#include "stencil/run/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace farfield::app {
namespace {

struct StencilCommand {
    StencilTask task;                         // of `explain`
    std::vector<std::filesystem::path> files; // of `check`
    std::string stage;
    StencilCode code; // of `explain --after code`
    bool json = false;
};

std::string counted(std::size_t n, std::string_view word) {
    return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string counts(const StencilCheck& check) {
    return counted(check.errors, "error") +
           (check.warnings > 0 ? " and " + counted(check.warnings, "warning") : "");
}

// Says what one program is like; returns its JSON.
std::string check_one(const StencilTask& task, bool json, StencilCheck& total) {
    ProgressDisplay display(ProgressDisplay::style_for_stderr(json));
    auto told = task;
    told.progress = told_when_slow(display, "finding the cells of conditions");
    const auto result = check_stencil(told);
    display.clear();
    total.errors += result.errors;
    total.warnings += result.warnings;
    if (!json) say(result.messages);
    if (!json && result.errors == 0)
        fmt::print("{}: no errors{}: {}\n", task.input.string(),
                   result.warnings > 0 ? ", " + counted(result.warnings, "warning") : "", result.summary);
    return result.json.substr(0, result.json.find_last_not_of('\n') + 1);
}

int check(const StencilCommand& command) {
    return with_inputs(command.files, [&] {
        for (const auto& file : command.files) require_input(file, "FILE");
        StencilCheck total;
        std::vector<std::string> reports;
        for (const auto& file : command.files)
            reports.push_back(check_one({file, command.task.parameters}, command.json, total));
        if (command.json) fmt::print("[{}]\n", joined(reports, ",\n"));
        if (total.errors > 0)
            throw CompileError(fmt::format("{}: {}",
                                           command.files.size() == 1
                                               ? command.files[0].string()
                                               : counted(command.files.size(), "program"),
                                           counts(total)));
        return 0;
    });
}

int explain(const StencilCommand& command) {
    const auto& input = command.task.input;
    return with_inputs({input}, [&] {
        require_input(input, "FILE");
        StencilCheck result;
        fmt::print("{}", explain_stencil(command.task, command.stage, result, command.code));
        say(result.messages);
        if (result.errors > 0) throw CompileError(fmt::format("{}: {}", input.string(), counts(result)));
        return 0;
    });
}

void add_parameter_option(CommandParser app, StencilCommand& command) {
    app.add("--set", command.task.parameters,
            "Give a parameter of the program another value; may be repeated")
        .type_name("NAME=VALUE")
        .one_value_each();
}

} // namespace

Action declare_stencil(CommandParser app) {
    app.require_command();
    std::vector<StencilPart> parts{declare_stencil_run(app)};
    auto command = std::make_shared<StencilCommand>();
    const auto checker = app.add_command("check", "Report the mistakes of a program");
    checker.footer("Examples:\n  farfield stencil check microdisk.ff\n"
                   "  farfield stencil check microdisk.ff --set cells=1024 --json\n");
    checker.add("FILE", command->files, "Programs (.ff)").type_name("").required();
    add_parameter_option(checker, *command);
    checker.add_flag("--json", command->json,
                     "Errors and warnings as JSON on standard output, a list with an entry for each file");

    const auto explainer = app.add_command("explain", "Show what a stage of the compiler makes of a program");
    explainer.footer("Examples:\n  farfield stencil explain microdisk.ff --after parse\n"
                     "  farfield stencil explain microdisk.ff --after names --set cells=256\n"
                     "  farfield stencil explain microdisk.ff --after fuse\n"
                     "  farfield stencil explain microdisk.ff --after code --target cuda --mask multiply\n");
    explainer.add("FILE", command->task.input, "Program (.ff)").type_name("").required();
    add_parameter_option(explainer, *command);
    explainer
        .add_read(
            "--after",
            [command](const std::string& text) {
                const auto stages = stencil_stages();
                for (const auto stage : stages)
                    if (text == stage) command->stage = text;
                if (command->stage != text) unknown_choice("--after", text, stages);
            },
            "The stage: tokens, the program with all brackets, names and values, where things apply, or the "
            "operations on each cell, as they are lowered and after each pass, or the code that a target "
            "compiles")
        .type_name(choices_text(stencil_stages()))
        .required();
    explainer
        .add_read(
            "--target",
            [command](const std::string& text) {
                const auto targets = emit_targets();
                if (std::find(targets.begin(), targets.end(), text) == targets.end())
                    unknown_choice("--target", text, targets);
                command->code.target = text;
            },
            "Whose code is shown after the stage code")
        .type_name(choices_text(emit_targets()))
        .default_text("cpu");
    const std::shared_ptr<StencilOptions> machine(command, &command->code.options);
    add_mask(explainer, machine);
    add_tiles(explainer, machine);
    parts.push_back(declare_stencil_emit(app));
    parts.push_back(declare_stencil_tune(app));
    parts.push_back(declare_stencil_resonances(app));
    return [command, explainer, parts] {
        for (const auto& part : parts) {
            if (!part.app.is_named()) continue;
            if (!part.on_ranks) require_one_process("stencil " + std::string(part.app.name()));
            return part.action();
        }
        require_one_process(explainer.is_named() ? "stencil explain" : "stencil check");
        return explainer.is_named() ? explain(*command) : check(*command);
    };
}

} // namespace farfield::app
