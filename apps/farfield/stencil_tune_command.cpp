// farfield stencil tune: the fastest way to run a program on this machine, measured and kept.
#include "command.h"
#include "deliver.h"
#include "options.h"

#include "stencil/run/tune.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace farfield::app {

StencilPart declare_stencil_tune(CommandParser stencil) {
    struct Options {
        std::filesystem::path program;
        std::vector<std::string> parameters;
        std::string target = "auto";
        int threads = 0, device = 0, repeats = 3;
        Delivery delivery;
    };
    auto options = std::make_shared<Options>();
    const auto app = stencil.add_command("tune", "Measure what runs a program fastest here, and keep it");
    app.footer("Examples:\n  farfield stencil tune microdisk.ff\n"
               "  farfield stencil tune microdisk.ff --set cells=4096 --set radius=1600 --json tuned.json\n");
    app.add("PROGRAM", options->program, "Program (.ff)").type_name("").required();
    app.add("--set", options->parameters, "Give a parameter of the program another value; may be repeated")
        .type_name("NAME=VALUE")
        .one_value_each();
    const auto targets = stencil_targets();
    show_choices(app.add_read(
                     "--target",
                     [options, targets](const std::string& text) {
                         for (const auto target : targets)
                             if (text == target) options->target = text;
                         if (options->target != text) unknown_choice("--target", text, targets);
                     },
                     "What is to be tuned"),
                 targets)
        .default_text("auto");
    add_count(app, "--gpu", options->device, {0, 63}, "The GPU for --target cuda, in CUDA's numbers");
    add_count(app, "--threads", options->threads, {0, 4096}, "Threads of the CPU; 0: all");
    add_count(app, "--repeat", options->repeats, {1, 1000}, "Measure this many times and take medians")
        .default_text("3");
    add_delivery(app, options->delivery);
    return {app, [options] {
                require_input(options->program, "PROGRAM");
                StencilParameters parameters;
                for (const auto& text : options->parameters) parameters.push_back(stencil_parameter(text));
                return with_messages([&] {
                    auto program = StencilProgram::from_file(options->program, parameters);
                    if (!options->delivery.quiet) say(program.warnings());
                    return deliver(options->delivery, [&](const StudyProgress& progress) {
                        return tune_stencil({std::move(program), options->target, options->threads,
                                             options->device, options->repeats, 0.1, progress});
                    });
                });
            }};
}

} // namespace farfield::app
