// farfield tune: measures the costs that `auto` compares, and keeps them for this user.
#include "command.h"
#include "deliver.h"
#include "options.h"
#include "stop_signal.h"

#include "studies/tune.h"

#include <fmt/format.h>

#include <memory>

namespace farfield::app {
namespace {

struct TuneCommand {
    CostTuneTask task;
    Delivery delivery;
};

int tune(const TuneCommand& command) {
    const auto& delivery = command.delivery;
    auto task = command.task;
    static_cast<void>(one_gpu(task.device)); // refuses several
    if (!delivery.json.empty()) require_output(delivery.json, "--json");
    if (!task.out.empty() && !task.dry_run) require_output(task.out, "--out");
    const StopSignal stop;
    task.stop_requested = [] { return StopSignal::received() != 0; };
    const auto report = [&] {
        const MeasuringLine line(delivery.quiet);
        task.progress = [&line](const std::string& what) { line.show(what); };
        return tune_costs(task);
    }();
    if (report.stopped) {
        say("farfield: stopped; nothing was written\n");
        return StopSignal::exit_code();
    }
    if (!delivery.json.empty()) write_json(report, delivery.json);
    if (delivery.quiet) return 0;
    fmt::print("{}", to_text(report));
    if (!delivery.json.empty())
        fmt::print("{}  {}\n", report.written ? "" : "Files made:\n", delivery.json.string());
    return 0;
}

} // namespace

Action declare_tune(CommandParser app) {
    auto command = std::make_shared<TuneCommand>();
    auto& task = command->task;
    add_choice(app, "method", task.method, "The method whose costs are measured; auto: of all that have any");
    add_one_device(app, task.device)
        .description("What to measure: cpu, a GPU such as cuda or cuda:1, or the CPU and the first GPU");
    add_count(app, "--threads", task.threads, {1, 4096}, "Threads of the CPU; by default all",
              "leave the option out to use all cores");
    add_count(app, "--points", task.points, {64, 1 << 20},
              "Points of the largest sum on the CPU, of the smallest of the long ones on a GPU")
        .default_text("16384");
    add_count(app, "--repeat", task.repeats, {1, 1000}, "Measure this many times; the fastest counts")
        .default_text("3");
    app.add("--out", task.out, "The table; by default the one that other commands read").type_name("FILE");
    app.add_flag("--dry-run", task.dry_run, "Measure and show, but leave the table as it is");
    add_delivery(app, command->delivery);
    return [command] { return tune(*command); };
}

} // namespace farfield::app
