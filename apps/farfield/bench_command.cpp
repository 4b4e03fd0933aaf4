// farfield bench direct: the ladder of the direct sum on this machine, on its CPU or on a GPU.
#include "command.h"
#include "options.h"

#include "studies/bench_direct.h"
#include "studies/bench_direct_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace farfield::app {
namespace {

struct BenchCommand {
    BenchDirectOptions options;
    std::optional<std::vector<std::int64_t>> sizes; ///< as given
    DeviceChoice device{.kind = DeviceKind::cpu};
    std::filesystem::path json;
    bool quiet = false;
};

// The seconds of the naive rung at the largest size allowed are already too many.
constexpr std::int64_t largest_size = std::int64_t{1} << 24;

std::vector<std::int64_t> parse_sizes(const std::string& text) {
    std::vector<std::int64_t> sizes;
    for (std::size_t start = 0; start <= text.size();) {
        const auto comma = std::min(text.find(',', start), text.size());
        const auto* end = text.data() + comma;
        std::int64_t size = 0;
        const auto result = std::from_chars(text.data() + start, end, size);
        if (result.ec != std::errc() || result.ptr != end || size < 2 || size > largest_size)
            throw InvalidArgument(
                fmt::format("--n {} is not allowed: it must be whole numbers from 2 to {} with "
                            "commas between, for example 16384,65536",
                            text, largest_size));
        sizes.push_back(size);
        start = comma + 1;
    }
    return sizes;
}

// The report of either ladder, as JSON to its file and as a table to the terminal.
template <class Report>
void deliver(const Report& report, const std::filesystem::path& json, bool quiet) {
    if (!json.empty()) write_json(report, json);
    if (quiet) return;
    fmt::print("{}", to_text(report));
    if (!json.empty()) fmt::print("Files made:\n  {}\n", json.string());
}

int bench_direct_on(const BenchCommand& command) {
    if (!command.json.empty()) require_output(command.json, "--json");
    auto kind = command.device.kind;
    if (kind == DeviceKind::automatic) kind = gpus().empty() ? DeviceKind::cpu : DeviceKind::cuda;
    if (kind == DeviceKind::cuda) {
        BenchCudaOptions options{.repeats = command.options.repeats, .device = one_gpu(command.device)};
        if (command.sizes) options.sizes = *command.sizes;
        deliver(bench_direct_cuda(options), command.json, command.quiet);
    } else {
        auto options = command.options;
        if (command.sizes) options.sizes = *command.sizes;
        deliver(bench_direct(options), command.json, command.quiet);
    }
    return 0;
}

} // namespace

Action declare_bench(CLI::App& app) {
    app.require_subcommand(1);
    auto* direct = app.add_subcommand("direct", "Time every rung of the direct sum, with its error");
    direct->footer("Examples:\n  farfield bench direct\n  farfield bench direct --n 4096 --repeat 3 --json "
                   "rates.json\n  farfield bench direct --device cuda --json gpu.json\n");
    auto command = std::make_shared<BenchCommand>();
    auto& options = command->options;
    direct
        ->add_option_function<std::string>(
            "--n", [command](const std::string& text) { command->sizes = parse_sizes(text); },
            "Numbers of points, with commas between")
        ->type_name("N,N,...")
        ->default_str("16384,65536, on a GPU also 262144");
    add_one_device(*direct, command->device);
    add_count(*direct, "--threads", options.threads, {1, 4096},
              "Threads of the rungs that use them; by default all", "leave the option out to use all cores");
    add_count(*direct, "--repeat", options.repeats, {1, 1000}, "Measure this many times and take medians")
        ->default_str(fmt::format("{}", options.repeats));
    direct->add_flag("--cpu-time", options.cpu_time,
                     "Measure the time of the processors instead of the clock, on a busy machine");
    direct->add_option("--json", command->json, "The table as JSON")->type_name("FILE");
    direct->add_flag("--quiet", command->quiet, "Print nothing but errors");
    return [command] { return bench_direct_on(*command); };
}

} // namespace farfield::app
