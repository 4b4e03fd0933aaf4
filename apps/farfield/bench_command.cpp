// farfield bench direct: the ladder of the direct sum, on the CPU or on a GPU; farfield bench fmm: fast
// multipole sums on the CPU; farfield bench split: CPU and GPU at once; farfield bench stencil: the stencil
// language on the CPU; farfield bench scaling: sums and grids on several ranks.
#include "command.h"
#include "deliver.h"
#include "options.h"
#include "ranks.h"
#include "stop_signal.h"

#include "studies/bench_direct.h"
#include "studies/bench_direct_cuda.h"
#include "studies/bench_fmm.h"
#include "studies/bench_scaling.h"
#include "studies/bench_split.h"
#include "studies/bench_stencil.h"

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

using Sizes = std::optional<std::vector<std::int64_t>>; ///< as given

struct DirectCommand {
    BenchDirectOptions options;
    Sizes sizes;
    DeviceChoice device{.kind = DeviceKind::cpu};
    Delivery delivery;
};

struct FmmBenchCommand {
    BenchFmmOptions options;
    Sizes sizes;
    DeviceChoice device{.kind = DeviceKind::cpu};
    std::filesystem::path picture;
    Delivery delivery;
};

struct SplitCommand {
    BenchSplitOptions options;
    Sizes sizes;
    DeviceChoice device{.kind = DeviceKind::cuda};
    Delivery delivery;
};

struct StencilBench {
    BenchStencilOptions options;
    Sizes sizes;
    Delivery delivery;
};

struct ScalingCommand {
    BenchScalingOptions options;
    bool strong = false; ///< alone
    bool scattered = false;
    DeviceChoice device{.kind = DeviceKind::cpu};
    std::filesystem::path picture;
    Delivery delivery;
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

/// None where the CPU is to be measured.
std::optional<int> gpu_of(const DeviceChoice& device) {
    const bool on_gpu =
        device.kind == DeviceKind::automatic ? !gpus().empty() : device.kind == DeviceKind::cuda;
    return on_gpu ? std::optional<int>(one_gpu(device)) : std::nullopt;
}

int bench_direct_on(const DirectCommand& command) {
    if (const auto gpu = gpu_of(command.device)) {
        BenchCudaOptions options{.repeats = command.options.repeats, .device = *gpu};
        if (command.sizes) options.sizes = *command.sizes;
        return deliver(command.delivery, [&](const StudyProgress& progress) {
            options.progress = progress;
            return bench_direct_cuda(options);
        });
    }
    auto options = command.options;
    if (command.sizes) options.sizes = *command.sizes;
    return deliver(command.delivery,
                   [&](const StudyProgress& /*progress*/) { return bench_direct(options); });
}

std::vector<int> parse_orders(const std::string& text) {
    std::vector<int> orders;
    for (std::size_t start = 0; start <= text.size();) {
        const auto comma = std::min(text.find(',', start), text.size());
        orders.push_back(read_count("--order", text.substr(start, comma - start), {1, 40},
                                    "write whole numbers with commas between, for example 4,13"));
        start = comma + 1;
    }
    return orders;
}

/// Writes and prints a report that may have been stopped. @returns the exit code.
template <class Report>
int hand_over(const Report& report, const Delivery& delivery, const std::filesystem::path& picture) {
    if (report.stopped) {
        say("farfield: stopped; nothing was written\n");
        return StopSignal::exit_code();
    }
    if (!delivery.json.empty()) write_json(report, delivery.json);
    if (!picture.empty()) write_picture(report, picture);
    if (delivery.quiet) return 0;
    fmt::print("{}", to_text(report));
    if (!delivery.json.empty() || !picture.empty()) fmt::print("Files made:\n");
    for (const auto& file : {delivery.json, picture})
        if (!file.empty()) fmt::print("  {}\n", file.string());
    return 0;
}

int bench_fmm_on(const FmmBenchCommand& command) {
    const auto& delivery = command.delivery;
    auto options = command.options;
    if (command.sizes) options.sizes = *command.sizes;
    options.gpu = gpu_of(command.device);
    if (!delivery.json.empty()) require_output(delivery.json, "--json");
    if (!command.picture.empty()) require_output(command.picture, "--picture");
    const StopSignal stop;
    options.stop_requested = [] { return StopSignal::received() != 0; };
    const auto report = [&] {
        const MeasuringLine line(delivery.quiet);
        options.progress = [&line](const std::string& what) { line.show(what); };
        return bench_fmm(options);
    }();
    return hand_over(report, delivery, command.picture);
}

// All ranks measure; rank 0 speaks and writes.
int bench_scaling_on(const ScalingCommand& command) {
    const auto& delivery = command.delivery;
    auto options = command.options;
    options.device = gpu_of(command.device) ? DeviceKind::cuda : DeviceKind::cpu;
    options.weak = !command.strong;
    options.scattered = command.scattered;
    options.communicator = Communicator::world();
    if (!delivery.json.empty()) require_output(delivery.json, "--json");
    if (!command.picture.empty()) require_output(command.picture, "--picture");
    const StopSignal stop;
    options.stop_requested = [] { return StopSignal::received() != 0; };
    const auto report = [&] {
        const MeasuringLine line(delivery.quiet || !speaks());
        options.progress = [&line](const std::string& what) { line.show(what); };
        return bench_scaling(options);
    }();
    if (speaks()) return hand_over(report, delivery, command.picture);
    return report.stopped ? StopSignal::exit_code() : 0;
}

int bench_split_on(const SplitCommand& command) {
    if (command.device.kind == DeviceKind::cpu)
        throw InvalidArgument(
            "--device cpu is not allowed: the sum is divided between the CPU and a GPU; name "
            "the GPU, such as cuda");
    auto options = command.options;
    options.device = one_gpu(command.device);
    if (command.sizes) options.sizes = *command.sizes;
    return deliver(command.delivery, [&](const StudyProgress& progress) {
        options.progress = progress;
        return bench_split(options);
    });
}

int bench_stencil_on(const StencilBench& command) {
    auto options = command.options;
    if (command.sizes) options.sizes = *command.sizes;
    return deliver(command.delivery, [&](const StudyProgress& progress) {
        options.progress = progress;
        return bench_stencil(options);
    });
}

void add_sizes(CommandParser app, Sizes& sizes, const std::string& by_default) {
    app.add_read(
           "--n", [&sizes](const std::string& text) { sizes = parse_sizes(text); },
           "Numbers of points, with commas between")
        .type_name("N,N,...")
        .default_text(by_default);
}

void add_repeats(CommandParser app, int& repeats) {
    add_count(app, "--repeat", repeats, {1, 1000}, "Measure this many times and take medians")
        .default_text(fmt::format("{}", repeats));
}

void declare_direct(CommandParser app, DirectCommand& command) {
    app.footer(
        "Examples:\n  farfield bench direct\n  farfield bench direct --n 4096 --repeat 3 --json rates.json\n"
        "  farfield bench direct --device cuda --json gpu.json\n");
    add_sizes(app, command.sizes, "16384,65536, on a GPU also 262144");
    add_one_device(app, command.device);
    add_count(app, "--threads", command.options.threads, {1, 4096},
              "Threads of the rungs that use them; by default all", "leave the option out to use all cores");
    add_repeats(app, command.options.repeats);
    app.add_flag("--cpu-time", command.options.cpu_time,
                 "Measure the time of the processors instead of the clock, on a busy machine");
    add_delivery(app, command.delivery);
}

void declare_fmm(CommandParser app, FmmBenchCommand& command) {
    app.footer("Examples:\n  farfield bench fmm --n 10000,100000\n"
               "  farfield bench fmm --order 4,8 --precision float --json fmm.json --picture fmm.png\n"
               "  farfield bench fmm --device cuda --precision mixed --order 4,12\n");
    add_sizes(app, command.sizes, "10000,100000,1000000");
    add_one_device(app, command.device);
    app.add_read(
           "--order", [&command](const std::string& text) { command.options.orders = parse_orders(text); },
           "Orders of the expansions, with commas between")
        .type_name("P,P,...")
        .default_text("4,8,13,20");
    add_choice(app, "--precision", command.options.precision, "Arithmetic");
    add_count(app, "--threads", command.options.threads, {1, 4096}, "Threads; by default all",
              "leave the option out to use all cores");
    add_repeats(app, command.options.repeats);
    app.add("--picture", command.picture, "Times against numbers of points, as PNG").type_name("FILE");
    add_delivery(app, command.delivery);
}

void declare_split(CommandParser app, SplitCommand& command) {
    app.footer("Examples:\n  farfield bench split\n  farfield bench split --n 262144 --threads 8\n");
    add_sizes(app, command.sizes, "65536,262144");
    add_one_device(app, command.device);
    add_count(app, "--threads", command.options.threads, {1, 4096},
              "Threads of the CPU's share; by default all but one",
              "leave the option out to use all cores but one");
    add_repeats(app, command.options.repeats);
    add_delivery(app, command.delivery);
}

void declare_stencil_steps(CommandParser app, StencilBench& command) {
    app.footer(
        "Examples:\n  farfield bench stencil\n  farfield bench stencil --n 1024,4096 --json stencil.json\n");
    app.add_read(
           "--n", [&command](const std::string& text) { command.sizes = parse_sizes(text); },
           "Cells along a side, with commas between")
        .type_name("N,N,...")
        .default_text("512,1024,2048,4096");
    add_count(app, "--threads", command.options.threads, {1, 4096}, "Threads; by default all",
              "leave the option out to use all cores");
    add_repeats(app, command.options.repeats);
    add_delivery(app, command.delivery);
}

void declare_scaling(CommandParser app, ScalingCommand& command) {
    constexpr int most_points = 100'000'000;
    app.footer("Examples:\n  mpirun -n 4 farfield bench scaling\n"
               "  mpirun -n 4 farfield bench scaling --work grid --cells 4096 --json grid.json\n"
               "  mpirun -n 4 farfield bench scaling --device cuda --picture scaling.png\n");
    app.add_read(
           "--work",
           [&command](const std::string& text) { command.options.work = scaling_work_from_names(text); },
           "What is measured, with commas between")
        .type_name("direct,treecode,fmm,grid")
        .default_text("all that the device has on ranks");
    add_count(app, "--n", command.options.points, {64, most_points}, "Points of sums",
              "write a whole number, for example 100000")
        .default_text("400000, of direct sums 60000, on GPUs 1048576");
    add_count(app, "--cells", command.options.cells, {64, 65536}, "Cells along a side of the grid, even",
              "write a whole number, for example 4096")
        .default_text("2048");
    app.add_flag("--strong", command.strong, "Leave out weak scaling: as much work a rank");
    app.add_flag("--scattered", command.scattered,
                 "Deal the bodies of trees out at random, not by regions: each goes to the rank that has its "
                 "leaf, and "
                 "its sum comes back");
    add_one_device(app, command.device);
    add_repeats(app, command.options.repeats);
    app.add("--picture", command.picture, "Speed-ups against ranks, as PNG").type_name("FILE");
    add_delivery(app, command.delivery);
}

} // namespace

Action declare_bench(CommandParser app) {
    app.require_command();
    auto direct = std::make_shared<DirectCommand>();
    auto fmm = std::make_shared<FmmBenchCommand>();
    auto split = std::make_shared<SplitCommand>();
    auto stencil = std::make_shared<StencilBench>();
    auto scaling = std::make_shared<ScalingCommand>();
    declare_direct(app.add_command("direct", "Time every rung of the direct sum, with its error"), *direct);
    const auto fmm_app = app.add_command("fmm", "Time fast multipole sums by pass, with their errors");
    declare_fmm(fmm_app, *fmm);
    const auto split_app = app.add_command("split", "Divide one sum between the CPU and a GPU");
    declare_split(split_app, *split);
    const auto stencil_app =
        app.add_command("stencil", "Time the stencil language on the CPU beside a hand-written loop");
    declare_stencil_steps(stencil_app, *stencil);
    const auto scaling_app =
        app.add_command("scaling", "Time sums and grids on more and more of the ranks that mpirun started");
    declare_scaling(scaling_app, *scaling);
    return [direct, fmm, fmm_app, split, split_app, stencil, stencil_app, scaling, scaling_app] {
        if (scaling_app.is_named()) return bench_scaling_on(*scaling);
        require_one_process("bench");
        if (fmm_app.is_named()) return bench_fmm_on(*fmm);
        if (stencil_app.is_named()) return bench_stencil_on(*stencil);
        return split_app.is_named() ? bench_split_on(*split) : bench_direct_on(*direct);
    };
}

} // namespace farfield::app
