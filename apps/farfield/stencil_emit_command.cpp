// farfield stencil emit: a program as a project that needs no Farfield.
#include "command.h"
#include "options.h"
#include "stencil_options.h"

#include "stencil/run/emit.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace farfield::app {
namespace {

void print_project(const std::vector<std::filesystem::path>& files, const StencilEmitTask& task) {
    fmt::print("Files made:\n");
    for (const auto& path : files) fmt::print("  {}\n", path.string());
    fmt::print("Build and run: cmake -S {0} -B {0}/build && cmake --build {0}/build && {1}{0}/build/run\n",
               task.folder.string(), launcher_of(task.target));
}

} // namespace

StencilPart declare_stencil_emit(CommandParser stencil) {
    struct Options {
        StencilEmitTask task;
        StencilOptions machine;
        int steps = 0;
    };
    auto command = std::make_shared<Options>();
    const auto app =
        stencil.add_command("emit", "Write a program as C++ that builds and runs without Farfield");
    app.footer(
        "Examples:\n  farfield stencil emit microdisk.ff --out microdisk\n"
        "  farfield stencil emit microdisk.ff --set cells=256 --steps 500 --target cpu --out microdisk\n"
        "  farfield stencil emit microdisk.ff --target cuda --mask multiply --block 32x8 --out microdisk\n"
        "  farfield stencil emit microdisk.ff --target mpi --out microdisk\n"
        "  farfield stencil emit microdisk.ff --target mpi-cuda --out microdisk\n");
    auto& task = command->task;
    app.add("FILE", task.program.input, "Program (.ff)").type_name("").required();
    app.add("--set", task.program.parameters,
            "Give a parameter of the program another value; may be repeated")
        .type_name("NAME=VALUE")
        .one_value_each();
    app.add_read(
           "--target",
           [command](const std::string& text) {
               const auto targets = emit_targets();
               bool known = false;
               for (const auto target : targets) known = known || text == target;
               if (!known) unknown_choice("--target", text, targets);
               command->task.target = text;
           },
           "What the code is for: one process, a GPU, the ranks of MPI, or their GPUs")
        .type_name(choices_text(emit_targets()))
        .default_text("cpu");
    const std::shared_ptr<StencilOptions> machine(command, &command->machine);
    add_mask(app, machine);
    add_tiles(app, machine);
    add_count(
        app, "--steps", command->steps, {1, 2147483647},
        "Steps that the project does unless it is told otherwise; by default those of the program, or 1000");
    app.add_flag("--allow-unstable", task.allow_unstable,
                 "Write a program whose time step is too long to be stable");
    app.add("--out", task.folder, "Folder for the project").type_name("FOLDER").required();
    return {app, [command] {
                return with_inputs({command->task.program.input}, [&] {
                    auto& emit = command->task;
                    require_input(emit.program.input, "FILE");
                    require_output_folder(emit.folder, "--out");
                    if (command->steps > 0) emit.steps = command->steps;
                    emit.mask = command->machine.mask;
                    emit.time_tile = command->machine.time_tile;
                    emit.block = command->machine.block;
                    std::error_code ignored;
                    const bool is_new = !std::filesystem::exists(emit.folder, ignored);
                    make_output_folder(emit.folder, "--out");
                    try {
                        return with_messages([&] {
                            print_project(emit_stencil(emit), emit);
                            return 0;
                        });
                    } catch (...) {
                        if (is_new) std::filesystem::remove(emit.folder, ignored); // only if it is empty
                        throw;
                    }
                });
            }};
}

} // namespace farfield::app
