// farfield sum: potentials and fields of points in files.
#include "command.h"
#include "options.h"
#include "progress.h"
#include "stop_signal.h"
#include "table_options.h"

#include "sums/run/sum_files.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace farfield::app {
namespace {

struct SumCommand {
    SumFilesTask task;
    GivenOptions options;
    bool quiet = false;
};

OutputSet parse_outputs(const std::string& text) {
    try {
        return outputs_from_names(text);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("--output {}: {}", text, error.what()));
    }
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    return a == b || std::filesystem::equivalent(a, b, ignored);
}

void check_paths(const SumFilesTask& task) {
    require_input(task.sources, "--sources");
    if (!task.strengths.empty()) require_input(task.strengths, "--strengths");
    if (!task.targets.empty()) require_input(task.targets, "--targets");
    if (!task.dipoles.empty()) require_input(task.dipoles, "--dipoles");
    if (!task.sigmas.empty()) require_input(task.sigmas, "--sigmas");
    require_output(task.out, "--out");
    if (!task.json.empty()) require_output(task.json, "--json");
    const auto refuse_same = [](std::string_view option, const std::filesystem::path& path,
                                std::string_view other, const std::filesystem::path& taken) {
        if (!path.empty() && !taken.empty() && same_file(path, taken))
            throw InvalidArgument(fmt::format("{} {} is also the file of {}; choose another name", option,
                                              path.string(), other));
    };
    refuse_same("--out", task.out, "--sources", task.sources);
    refuse_same("--out", task.out, "--strengths", task.strengths);
    refuse_same("--out", task.out, "--targets", task.targets);
    refuse_same("--out", task.out, "--dipoles", task.dipoles);
    refuse_same("--out", task.out, "--sigmas", task.sigmas);
    refuse_same("--json", task.json, "--sources", task.sources);
    refuse_same("--json", task.json, "--strengths", task.strengths);
    refuse_same("--json", task.json, "--targets", task.targets);
    refuse_same("--json", task.json, "--dipoles", task.dipoles);
    refuse_same("--json", task.json, "--sigmas", task.sigmas);
    refuse_same("--json", task.json, "--out", task.out);
}

// "37%  1 min 05 s left"
ProgressState state_of(double share, double seconds) {
    const double left = share > 0.0 ? seconds / share * (1.0 - share) : 0.0;
    return {.fraction = share,
            .last = share >= 1.0,
            .parts = {percent_text(share), share > 0.0 ? duration_text(left) + " left" : ""},
            .dispensable = {}};
}

int run(SumCommand& command) {
    check_paths(command.task);
    command.task.options.communicator = Communicator::world();
    const StopSignal stop;
    ProgressDisplay display(ProgressDisplay::style_for_stderr(command.quiet));
    const auto start = std::chrono::steady_clock::now();
    command.task.hooks = {.progress =
                              [&](double share) {
                                  const std::chrono::duration<double> passed =
                                      std::chrono::steady_clock::now() - start;
                                  if (passed.count() > 1.0) display.update(state_of(share, passed.count()));
                              },
                          .stop_requested = [] { return StopSignal::received() != 0; }};
    try {
        const auto text = sum_files(command.task);
        display.clear();
        if (!command.quiet) fmt::print("{}", text);
        return 0;
    } catch (const Interrupted&) {
        display.message("stopped; nothing was written");
        return StopSignal::exit_code();
    }
}

// Prints a table in place of a sum, whatever else is missing on the line.
void add_table(CommandParser app, const std::string& flag, std::string (*table)(), const std::string& doc) {
    app.add_exit_flag(
        flag, [table] { fmt::print("{}", table()); }, doc);
}

void add_files(CommandParser app, SumFilesTask& task) {
    app.add("--sources", task.sources,
            "Points with masses or charges: .npy N x 4 (x y z q), .csv with x,y,z,q in its header, or .h5")
        .type_name("FILE")
        .required();
    app.add("--strengths", task.strengths,
            "k strengths of each source, which then is x y z alone: .npy N x k, .csv or .h5")
        .type_name("FILE");
    app.add("--targets", task.targets,
            "Where to compute: .npy M x 3, .csv with x,y,z, or .h5; by default at the sources")
        .type_name("FILE");
    app.add("--dipoles", task.dipoles,
            "Dipoles of the sources (coulomb): .npy N x 3, .csv with px,py,pz, or .h5; charges may be absent")
        .type_name("FILE");
    app.add("--sigmas", task.sigmas,
            "A width of each source (gauss), of at most 64 different ones: .npy N, or .csv with one column")
        .type_name("FILE");
    show_choices(app.add_read(
                     "--density",
                     [&task](const std::string& text) {
                         task.density = from_name<BandwidthRule>(text);
                         if (!task.density) unknown_choice("--density", text, names_of<BandwidthRule>());
                     },
                     "The density of the points in place of a sum (gauss): by a rule, or of width --sigma"),
                 names_of<BandwidthRule>());
    app.add_flag("--unweighted", task.unweighted,
                 "Density: all points count the same, and every column of a .npy is a coordinate");
    app.add_read(
           "--output", [&task](const std::string& text) { task.wanted = parse_outputs(text); },
           "What to compute, separated by commas; by default all that the kernel has, but for the Hessian")
        .type_name(choices_text(names_of<Output>()));
    app.add("--out", task.out,
            "Result: .npy with the numbers of all outputs in a row (potential first), .csv or .h5 by its "
            "ending")
        .type_name("FILE")
        .required();
    app.add("--json", task.json, "Report of times, rate and options used").type_name("FILE");
}

} // namespace

Action declare_sum(CommandParser app) {
    auto command = std::make_shared<SumCommand>();
    auto& task = command->task;
    add_files(app, task);
    for (const auto& option : option_table()) {
        if (!option.sum) continue;
        const auto added = add_table_option<SumOptions>(app, option, command->options);
        if (option.name == "kernel") added.required().default_text("");
    }
    add_count(app, "--repeat", task.repeat, {1, 1'000'000}, "Compute this many times and report the fastest");
    app.add_flag("--quiet", command->quiet, "Print nothing but errors");
    add_table(app, "--list-options", options_markdown, "Print the table of options, and exit");
    add_table(app, "--list-kernels", kernels_markdown, "Print the table of kernels, and exit");
    add_table(app, "--list-methods", methods_markdown, "Print the table of methods, and exit");
    return [command] {
        const auto& inputs = command->task;
        command->options.apply_to(command->task.options);
        return with_inputs({inputs.sources, inputs.strengths, inputs.targets, inputs.dipoles, inputs.sigmas},
                           [&] { return run(*command); });
    };
}

} // namespace farfield::app
