// farfield run: a case file, watched and stopped from the terminal.
#include "base/spelling.h"
#include "command.h"
#include "options.h"
#include "progress.h"
#include "shell_words.h"
#include "stop_signal.h"
#include "table_options.h"

#include <farfield/options.h>
#include <farfield/run.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace farfield::app {
namespace {

struct RunOptions {
    std::filesystem::path case_file;
    std::vector<std::string> overrides;
    GivenOptions force;
    std::filesystem::path out;
    bool restart = false;
    bool quiet = false;
    bool list_keys = false;
};

// The command that continues this run, ready to be pasted.
std::string restart_command(const RunOptions& options) {
    auto text = "farfield run " + quoted(options.case_file.string());
    for (const auto& assignment : options.overrides) text += " --set " + quoted(assignment);
    text += options.force.flags();
    if (!options.out.empty()) text += " --out " + quoted(options.out.string());
    return text + " --restart";
}

void print_files(const RunResult& result) {
    fmt::print("Files made:\n");
    for (const auto& file : result.files) fmt::print("  {}\n", file.string());
}

int report_end(const RunOptions& options, const Case& simulation_case, const RunResult& result) {
    if (!result.finished) {
        say(fmt::format(
            "farfield: stopped at t = {:.6g}, step {}; the checkpoint is written. Continue with\n  {}\n",
            result.time, result.steps, restart_command(options)));
        if (!result.warning.empty()) say("farfield: warning: " + result.warning + '\n');
        return StopSignal::exit_code();
    }
    const bool vortices = facts_of(simulation_case.force.kernel).moves_vortices;
    if (!options.quiet) {
        fmt::print("Reached t = {:.6g} after {} steps; {} {:.2e}\n", result.time, result.steps,
                   vortices ? "error of the Hamiltonian" : "relative energy error",
                   result.relative_energy_error);
        if (result.acceleration_error > 0.0)
            fmt::print("Largest relative error of the {} {:.1e}{} (L2, sampled at rows of diagnostics)\n",
                       vortices ? "velocities" : "accelerations", result.acceleration_error,
                       result.potential_error > 0.0
                           ? fmt::format(", of the {} {:.1e}", vortices ? "stream function" : "potentials",
                                         result.potential_error)
                           : "");
        print_files(result);
        std::fflush(stdout);
    }
    if (!result.warning.empty()) say("farfield: warning: " + result.warning + '\n');
    // Nothing is left of the orbits that were asked for.
    return !result.warning.empty() && result.energy_error > 1.0 ? 1 : 0;
}

Case read(const RunOptions& options) {
    if (options.case_file.empty())
        throw InvalidArgument("CASE is missing: give a case file, for example farfield run plummer.toml "
                              "(see farfield run --help)");
    require_input(options.case_file, "case file");
    try {
        return read_case(options.case_file, options.overrides);
    } catch (const IoError& error) { // the case file or the bodies it names
        throw InvalidArgument(error.what());
    }
}

// "37%  step 12/400  t = 1.5/4  dE/E = -1.2e-07  4.68e+09 pairs/s  12 s left"
ProgressState state_of(const RunProgress& p) {
    ProgressState state;
    if (p.steps_total > 0)
        state.fraction =
            std::clamp(static_cast<double>(p.step) / static_cast<double>(p.steps_total), 0.0, 1.0);
    state.last = p.step == p.steps_total;
    // Before the first step of this process there is no time left to tell, and the rate would be that of one
    // cold evaluation.
    const bool starting = p.seconds_left <= 0.0 && p.step < p.steps_total;
    state.parts = {percent_text(state.fraction),
                   fmt::format("step {}/{}", p.step, p.steps_total),
                   fmt::format("t = {:.4g}/{:.4g}", p.time, p.end),
                   fmt::format("dE/E = {:.1e}", p.relative_energy_error),
                   starting ? "" : fmt::format("{:.2e} pairs/s", p.pairs_per_second),
                   starting ? "" : duration_text(p.seconds_left) + " left"};
    state.dispensable = {1, 4, 2, 3};
    return state;
}

int run(const RunOptions& options) {
    if (options.list_keys) {
        fmt::print("{}", case_key_table());
        return 0;
    }
    auto simulation_case = read(options);
    options.force.apply_to(simulation_case.force);
    simulation_case.force.communicator = Communicator::world();
    const RunSettings settings{
        options.out.empty() ? std::filesystem::path(simulation_case.name) : options.out, options.restart};
    require_output_folder(settings.out, "--out");

    const StopSignal stop;
    ProgressDisplay display(ProgressDisplay::style_for_stderr(options.quiet));
    const RunHooks hooks{[&](const RunProgress& progress) { display.update(state_of(progress)); },
                         [] { return StopSignal::received() != 0; },
                         [&](const std::string& text) { display.message(text); }};
    std::error_code ignored;
    const bool is_new = !std::filesystem::exists(settings.out, ignored);
    try {
        make_output_folder(settings.out, "--out");
        return with_inputs({simulation_case.initial.path}, [&] {
            const auto result = run_case(simulation_case, settings, hooks);
            display.clear();
            return report_end(options, simulation_case, result);
        });
    } catch (...) {
        if (is_new) std::filesystem::remove(settings.out, ignored); // only if nothing was written into it
        throw;
    }
}

} // namespace

Action declare_run(CommandParser app) {
    auto options = std::make_shared<RunOptions>();
    app.add("CASE", options->case_file, "Case file (TOML)");
    app.add("--set", options->overrides, "Replace a value of the case; may be repeated")
        .type_name("SECTION.KEY=VALUE")
        .one_value_each();
    for (const auto& option : option_table())
        if (option.machine && option.force)
            add_table_option<ForceOptions>(app, option, options->force,
                                           option.case_key ? "the case file" : "");
    app.add("--out", options->out, "Folder for the output; by default named after the case").type_name("DIR");
    app.add_flag("--restart", options->restart, "Continue from the last checkpoint in the output folder");
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    app.add_flag("--list-keys", options->list_keys, "Print every key a case file may have, and exit");
    return [options] {
        spell_options(as_case_key);
        return run(*options);
    };
}

} // namespace farfield::app
