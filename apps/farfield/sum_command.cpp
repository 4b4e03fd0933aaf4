// farfield sum: potentials and fields of points in files.
#include "command.h"
#include "options.h"

#include "studies/sum_files.h"

#include <fmt/format.h>

#include <array>
#include <memory>

namespace farfield::app {
namespace {

struct SumCommand {
    SumFilesTask task;
    DeviceOptions device;
    bool quiet = false;
};

constexpr std::array<std::string_view, 2> output_names{"potential", "field"};

SumWanted parse_outputs(const std::string& text) {
    SumWanted wanted{false, false};
    for (std::size_t start = 0; start <= text.size();) {
        const auto comma = std::min(text.find(',', start), text.size());
        const auto name = text.substr(start, comma - start);
        if (name == "potential")
            wanted.potential = true;
        else if (name == "field")
            wanted.field = true;
        else
            unknown_choice("--output", "'" + name + "'", output_names);
        start = comma + 1;
    }
    return wanted;
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    return a == b || std::filesystem::equivalent(a, b, ignored);
}

void check_paths(const SumFilesTask& task) {
    require_input(task.sources, "--sources");
    if (!task.targets.empty()) require_input(task.targets, "--targets");
    require_output(task.out, "--out");
    if (!task.json.empty()) require_output(task.json, "--json");
    const auto refuse_same = [](std::string_view option, const std::filesystem::path& path,
                                std::string_view other, const std::filesystem::path& taken) {
        if (!path.empty() && !taken.empty() && same_file(path, taken))
            throw InvalidArgument(fmt::format("{} {} is also the file of {}; choose another name", option,
                                              path.string(), other));
    };
    refuse_same("--out", task.out, "--sources", task.sources);
    refuse_same("--out", task.out, "--targets", task.targets);
    refuse_same("--json", task.json, "--sources", task.sources);
    refuse_same("--json", task.json, "--targets", task.targets);
    refuse_same("--json", task.json, "--out", task.out);
}

} // namespace

Action declare_sum(CLI::App& app) {
    auto command = std::make_shared<SumCommand>();
    auto& task = command->task;
    auto& options = task.options;
    add_choice(app, "--kernel", options.kernel, "Pair interaction: masses attract, like charges repel")
        ->required()
        ->default_str("");
    app.add_option(
           "--sources", task.sources,
           "Points with masses or charges: .npy N x 4 (x y z q), .csv with x,y,z,q in its header, or .h5")
        ->type_name("FILE")
        ->required();
    app.add_option("--targets", task.targets,
                   "Where to compute: .npy M x 3, .csv with x,y,z, or .h5; by default at the sources")
        ->type_name("FILE");
    add_choice(app, "--method", options.method, "Algorithm");
    add_real(app, "--softening", options.softening, 0.0,
             "Plummer softening, in the length unit of the points");
    add_choice(app, "--precision", options.precision, "Arithmetic of the pair loop");
    add_choice(app, "--coincident", options.coincident,
               "What distinct points at one place do without softening");
    add_device_options(app, command->device);
    add_machine_options(app, options.threads, options.isa);
    add_choice(app, "--variant", options.variant,
               "Rung of the ladder of direct sums; auto takes the fastest");
    add_count(app, "--repeat", task.repeat, {1, 1'000'000}, "Compute this many times and report the fastest");
    app.add_option_function<std::string>(
           "--output", [command](const std::string& text) { command->task.wanted = parse_outputs(text); },
           "What to compute")
        ->type_name("potential|field|potential,field")
        ->default_str("potential,field");
    app.add_option("--out", task.out,
                   "Result: .npy M x 1, M x 3 or M x 4 (potential first), .csv or .h5 by its ending")
        ->type_name("FILE")
        ->required();
    app.add_option("--json", task.json, "Report of times, rate and options used")->type_name("FILE");
    app.add_flag("--quiet", command->quiet, "Print nothing but errors");
    return [command] {
        const auto& inputs = command->task;
        command->device.apply_to(command->task.options);
        return with_inputs({inputs.sources, inputs.targets}, [&] {
            check_paths(command->task);
            const auto text = sum_files(command->task);
            if (!command->quiet) fmt::print("{}", text);
            return 0;
        });
    };
}

} // namespace farfield::app
