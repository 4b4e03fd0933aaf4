// farfield stencil run: a program, watched and stopped from the terminal.
#include "command.h"
#include "options.h"
#include "picture_words.h"
#include "progress.h"
#include "ranks.h"
#include "shell_words.h"
#include "stencil_options.h"
#include "stop_signal.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "stencil/run/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::app {
namespace {

struct StencilRunOptions {
    std::filesystem::path program;
    std::vector<std::string> parameters;
    StencilOptions machine;
    std::int64_t steps = -1;
    double end = -1;
    std::filesystem::path out;
    bool restart = false;
    bool overwrite = false;
    bool quiet = false;
    std::vector<std::string> plots;
    std::vector<std::string> animations;
    std::string checkpoint_every;
    std::vector<std::string> given; ///< options other than those above, as they were given, for the restart
};

// "500" steps, or "30s", "10min", "2h" of the clock
void set_checkpoints(const std::string& text, StencilRunSettings& settings) {
    if (text.empty()) return;
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = whole_number(std::string_view(text).substr(0, digits));
    const auto unit = text.substr(digits);
    double seconds = 0;
    if (unit == "s") seconds = 1;
    if (unit == "min") seconds = 60;
    if (unit == "h") seconds = 3600;
    if (!number || *number < 1 || (seconds == 0 && !unit.empty()))
        throw InvalidArgument(
            fmt::format("--checkpoint-every {} is not understood; give a number of steps (500) "
                        "or a time of the clock (30s, 10min, 2h)",
                        text));
    if (unit.empty())
        settings.checkpoint_steps = *number;
    else
        settings.checkpoint_seconds = seconds * static_cast<double>(*number);
}

std::string restart_command(const StencilRunOptions& options) {
    auto text = "farfield stencil run " + quoted(options.program.string());
    for (const auto& word : options.given) text += ' ' + quoted(word);
    return text + " --restart";
}

ProgressState state_of(const StencilRunProgress& p) {
    ProgressState state;
    if (p.steps_total > 0) state.fraction = static_cast<double>(p.step) / static_cast<double>(p.steps_total);
    state.last = p.step == p.steps_total;
    const bool starting = p.cell_steps_per_second <= 0;
    state.parts = {percent_text(state.fraction),
                   fmt::format("step {}/{}", p.step, p.steps_total),
                   fmt::format("t = {:.4g}/{:.4g}", p.time, p.end),
                   starting ? "" : fmt::format("{:.2e} cell-steps/s", p.cell_steps_per_second),
                   starting ? "" : fmt::format("{:.2e} stencils/s", p.stencils_per_second),
                   starting ? "" : duration_text(p.seconds_left) + " left"};
    state.dispensable = {4, 2, 1, 3};
    return state;
}

void print_files(const std::vector<std::filesystem::path>& files) {
    constexpr std::size_t most = 12;
    fmt::print("Files made:\n");
    const auto shown = files.size() > most + 3 ? most / 2 : files.size();
    for (std::size_t i = 0; i < shown; ++i) fmt::print("  {}\n", files[i].string());
    if (shown == files.size()) return;
    fmt::print("  … {} more …\n", files.size() - 2 * shown);
    for (std::size_t i = files.size() - shown; i < files.size(); ++i) fmt::print("  {}\n", files[i].string());
}

int report_end(const StencilRunOptions& options, const StencilRunResult& result) {
    if (!result.finished) {
        say(fmt::format(
            "farfield: stopped at t = {:.6g}, step {}; the checkpoint is written. Continue with\n  {}\n",
            result.time, result.step, restart_command(options)));
        return StopSignal::exit_code();
    }
    if (options.quiet) return 0;
    fmt::print("Reached t = {:.6g} after {} steps", result.time, result.step);
    if (result.cell_steps_per_second > 0)
        fmt::print(
            "; {:.3g} cell-steps/s (a cell of the grid in a step), {:.3g} stencils/s (an equation at a "
            "cell)",
            result.cell_steps_per_second, result.stencils_per_second);
    fmt::print("\n");
    print_files(result.files);
    return 0;
}

StencilProgram read_program(const StencilRunOptions& options) {
    require_input(options.program, "PROGRAM");
    StencilParameters parameters;
    for (const auto& text : options.parameters) parameters.push_back(stencil_parameter(text));
    return StencilProgram::from_file(options.program, parameters);
}

StencilRunSettings settings_of(const StencilRunOptions& options, const StencilProgram& program) {
    StencilRunSettings settings;
    settings.out = options.out.empty() ? std::filesystem::path(program.name()) : options.out;
    settings.restart = options.restart;
    settings.overwrite = options.overwrite;
    settings.options = options.machine;
    settings.options.communicator = Communicator::world();
    if (options.steps >= 0) settings.steps = options.steps;
    if (options.end >= 0) settings.end = options.end;
    for (const auto& text : options.plots) settings.plots.push_back(stencil_plot(text));
    for (const auto& text : options.animations) {
        settings.animations.push_back(stencil_animation(text));
        for (std::size_t i = 0; i + 1 < settings.animations.size(); ++i)
            if (settings.animations[i].field == settings.animations.back().field)
                throw InvalidArgument(
                    fmt::format("--animate {}: the field has an animation already; one a field "
                                "is possible",
                                text));
    }
    check_pictures(settings);
    set_checkpoints(options.checkpoint_every, settings);
    return settings;
}

int run_with_files(const StencilRunOptions& options, const StencilProgram& program,
                   const StencilRunSettings& settings) {
    std::optional<StopSignal> stop; // until there is something to save, Ctrl-C ends the program as usual
    ProgressDisplay display(ProgressDisplay::style_for_stderr(options.quiet));
    ProgressDisplay before(ProgressDisplay::style_for_stderr(options.quiet));
    const StencilRunHooks hooks{
        [&](const StencilRunProgress& progress) { display.update(state_of(progress)); },
        [] { return StopSignal::received() != 0; }, [&](const std::string& text) { display.message(text); },
        told_when_slow(before, "finding the cells of conditions"),
        [&] {
            before.clear();
            stop.emplace();
        }};
    std::error_code ignored;
    const bool is_new = speaks() && !std::filesystem::exists(settings.out, ignored);
    try {
        comm::on_root(CommunicatorAccess::transport(settings.options.communicator), [&] {
            make_output_folder(settings.out, "--out"); // pictures may go into it
            for (const auto& plot : settings.plots) require_output(plot.png, "--plot");
            for (const auto& animation : settings.animations) require_output(animation.png, "--animate");
        });
        const auto result = run_stencil(program, settings, hooks);
        display.clear();
        return report_end(options, result);
    } catch (...) {
        display.clear();
        if (is_new) std::filesystem::remove(settings.out, ignored); // only if nothing was written into it
        throw;
    }
}

int run(const StencilRunOptions& options) {
    return with_messages([&] {
        const auto program = read_program(options);
        if (!options.quiet) say(program.warnings());
        const auto settings = settings_of(options, program);
        require_output_folder(settings.out, "--out");
        return run_with_files(options, program, settings);
    });
}

void add_machine(CommandParser app, const std::shared_ptr<StencilRunOptions>& options) {
    const std::shared_ptr<StencilOptions> machine(options, &options->machine);
    const auto targets = stencil_targets();
    show_choices(app.add_read(
                     "--target",
                     [options, targets](const std::string& text) {
                         if (std::find(targets.begin(), targets.end(), text) == targets.end())
                             unknown_choice("--target", text, targets);
                         options->machine.target = text;
                     },
                     "What computes; all give the same bits"),
                 targets)
        .default_text("auto");
    add_count(app, "--gpu", options->machine.device, {0, 63}, "The GPU for --target cuda, in CUDA's numbers");
    add_choice(app, "--mpi-gpu", options->machine.mpi_gpu,
               "Ranks: whether messages hold memory of their GPUs");
    add_mask(app, machine);
    add_count(app, "--threads", options->machine.threads, {0, 4096}, "Threads of the CPU; 0: all");
    add_tiles(app, machine);
    app.add_flag("--allow-unstable", options->machine.allow_unstable,
                 "Run a program whose time step is too long to be stable");
}

// Every option that the restart needs again, as words.
void keep_given(CommandParser app, StencilRunOptions& options) {
    for (const auto& option : app.options()) {
        if (option.given.empty() || option.long_names.empty()) continue;
        const auto name = "--" + option.long_names.front();
        if (name == "--restart" || name == "--overwrite" || name == "--help") continue;
        if (!option.takes_value) {
            options.given.push_back(name);
            continue;
        }
        for (const auto& value : option.given) {
            options.given.push_back(name);
            options.given.push_back(value);
        }
    }
}

} // namespace

StencilPart declare_stencil_run(CommandParser stencil) {
    const auto app = stencil.add_command("run", "Run a program");
    auto options = std::make_shared<StencilRunOptions>();
    app.footer(
        "Examples:\n  farfield stencil run microdisk.ff --steps 2000 --plot Hz:hz.png\n"
        "  farfield stencil run microdisk.ff --set cells=1024 --steps 5000 --out big \\\n"
        "      --animate Hz:waves.png:every=50\n"
        "  farfield stencil run yee_cavity.ff --plot Ez:ez.png:slice=y=8:range=-1,1:colours=purple-green\n"
        "  farfield stencil run microdisk.ff --set cells=1024 --steps 9000 --out big --restart\n");
    app.add("PROGRAM", options->program, "Program (.ff)").type_name("").required();
    app.add("--set", options->parameters, "Give a parameter of the program another value; may be repeated")
        .type_name("NAME=VALUE")
        .one_value_each();
    const auto steps = app.add_read(
        "--steps",
        [options](const std::string& text) {
            const auto number = whole_number(text);
            if (!number || *number < 0)
                throw InvalidArgument(fmt::format("--steps {} is not a whole number of 0 or more", text));
            options->steps = *number;
        },
        "Steps to reach, in place of the program's end");
    steps.type_name("N");
    add_real(app, "--end", options->end, 0, "Time to reach, in place of the program's end")
        .type_name("T")
        .default_text("")
        .excludes(steps);
    app.add("--out", options->out, "Folder for the output; by default named after the program")
        .type_name("DIR");
    app.add_flag("--restart", options->restart, "Continue from the last checkpoint in the output folder");
    app.add_flag("--overwrite", options->overwrite,
                 "Replace the files of an earlier run in the output folder");
    app.add("--checkpoint-every", options->checkpoint_every,
            "Steps (500) or time of the clock (30s, 10min, 2h) between checkpoints")
        .type_name("INTERVAL")
        .default_text("10min");
    app.add("--plot", options->plots,
            "Draw a field when the run ends; behind the file :range=LOW,HIGH :slice=AXIS=CELL :colours=MAP")
        .type_name("FIELD:FILE.png[:…]")
        .one_value_each();
    app.add("--animate", options->animations,
            "The same, and :every=N steps, as an animated PNG; both may be repeated")
        .type_name("FIELD:FILE.png[:…]")
        .one_value_each();
    add_machine(app, options);
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    return {app,
            [options, app] {
                keep_given(app, *options);
                return run(*options);
            },
            true};
}

} // namespace farfield::app
