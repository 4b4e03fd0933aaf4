// farfield bench direct: the ladder of the direct sum on this machine.
#include "command.h"
#include "options.h"

#include "studies/bench_direct.h"

#include <fmt/format.h>

#include <memory>

namespace farfield::app {
namespace {

struct BenchCommand {
    BenchDirectOptions options;
    std::filesystem::path json;
    bool quiet = false;
};

} // namespace

Action declare_bench(CLI::App& app) {
    app.require_subcommand(1);
    auto* direct = app.add_subcommand("direct", "Time every rung of the direct sum, with its error");
    direct->allow_extras();
    auto command = std::make_shared<BenchCommand>();
    auto& options = command->options;
    direct->add_option("--n", options.sizes, "Numbers of points, with commas between")
        ->type_name("N,N,...")
        ->delimiter(',')
        ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 24))
        ->capture_default_str();
    direct->add_option("--threads", options.threads, "Threads of the rungs that use them; by default all")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    add_count(*direct, "--repeat", options.repeats, 1, "Measure this many times and take medians");
    direct->add_flag("--cpu-time", options.cpu_time,
                     "Measure the time of the processors instead of the clock, on a busy machine");
    direct->add_option("--json", command->json, "The table as JSON")->type_name("FILE");
    direct->add_flag("--quiet", command->quiet, "Print nothing but errors");
    return [command] {
        if (!command->json.empty()) require_output(command->json, "--json");
        const auto report = bench_direct(command->options);
        if (!command->json.empty()) write_json(report, command->json);
        if (!command->quiet) fmt::print("{}", to_text(report));
        return 0;
    };
}

} // namespace farfield::app
