// farfield.run_case: a whole simulation with its files, interruptible by Ctrl-C.
#include "bindings.h"
#include "communicator.h"
#include "interrupt.h"
#include "pickles.h"

#include <farfield/run.h>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

using ProgressFunction = nb::typed<nb::callable, void(RunProgress)>;
using MessageFunction = nb::typed<nb::callable, void(std::string)>;

RunResult run(const Case& simulation_case, const RunSettings& settings,
              const std::optional<ProgressFunction>& progress,
              const std::optional<MessageFunction>& message) {
    Interrupt interrupt;
    RunHooks hooks;
    hooks.stop_requested = [&] { return interrupt.poll(); };
    if (progress)
        hooks.progress = [&](const RunProgress& now) { interrupt.guard([&] { (*progress)(now); }); };
    hooks.message = [&](const std::string& text) {
        interrupt.guard([&] { tell(message ? nb::object(*message) : nb::none(), text); });
    };
    RunResult result;
    {
        const nb::gil_scoped_release no_gil;
        result = run_case(simulation_case, settings, hooks);
    }
    interrupt.rethrow();
    if (!result.warning.empty()) {
        tell(message ? nb::object(*message) : nb::none(), result.warning);
        interrupt.rethrow();
    }
    return result;
}

constexpr const char* run_case_doc =
    R"(Runs a case to its end, leaving diagnostics.csv, snapshots, pictures, checkpoint.h5 and summary.json in `out`.

The files are those of `farfield run`. Ctrl-C, or an exception raised by a callback, finishes the step, writes a
checkpoint and is then raised; restart=True goes on from there to files that are byte-identical to those of an
undisturbed run.

Args:
    case: a Case, or the path of a case file.
    out: the output folder; created if missing, refused if it holds an earlier run and `restart` is False.
    restart: go on from the last checkpoint in `out`.
    progress: called with a RunProgress after each step.
    message: called with each warning or note, one line; None: they go to the logger "farfield".
    comm: ranks that share the work, a communicator of mpi4py or a farfield.Communicator; rank 0 alone writes files
        and calls `progress` and `message`. None: those of case.force.comm.

Raises:
    InvalidArgument (a ValueError), IoError (an OSError), BackendUnavailable (a RuntimeError).)";

} // namespace

void bind_run(nb::module_& module) {
    auto progress = nb::class_<RunProgress>(module, "RunProgress", "How far a run has come.");
    progress.def_ro("step", &RunProgress::step)
        .def_ro("steps_total", &RunProgress::steps_total, "An estimate with adaptive steps.")
        .def_ro("time", &RunProgress::time)
        .def_ro("end", &RunProgress::end)
        .def_ro("relative_energy_error", &RunProgress::relative_energy_error,
                "Of the last row of diagnostics.")
        .def_ro("pairs_per_second", &RunProgress::pairs_per_second)
        .def_ro("seconds_elapsed", &RunProgress::seconds_elapsed)
        .def_ro("seconds_left", &RunProgress::seconds_left);
    make_record(progress, {"step", "steps_total", "time", "end", "relative_energy_error", "pairs_per_second",
                           "seconds_elapsed", "seconds_left"});
    make_picklable(progress, &RunProgress::step, &RunProgress::steps_total, &RunProgress::time,
                   &RunProgress::end, &RunProgress::relative_energy_error, &RunProgress::pairs_per_second,
                   &RunProgress::seconds_elapsed, &RunProgress::seconds_left);
    auto result = nb::class_<RunResult>(module, "RunResult", "What a run has done and what it left behind.");
    result.def_ro("finished", &RunResult::finished)
        .def_ro("time", &RunResult::time)
        .def_ro("steps", &RunResult::steps)
        .def_ro("relative_energy_error", &RunResult::relative_energy_error)
        .def_ro("energy_error", &RunResult::energy_error,
                "|E - E0| / max(|E0|, (T0 + |V0|)/10) of the last row of diagnostics.")
        .def_ro("acceleration_error", &RunResult::acceleration_error,
                "With a tolerance: the largest relative error found at rows of diagnostics.")
        .def_ro("potential_error", &RunResult::potential_error)
        .def_ro("warning", &RunResult::warning,
                "That energy_error exceeds output.energy_warning; empty: it does not.")
        .def_ro("files", &RunResult::files, "Everything the run left in `out`.");
    make_record(result, {"finished", "time", "steps", "relative_energy_error", "energy_error",
                         "acceleration_error", "potential_error", "warning", "files"});
    make_picklable(result, &RunResult::finished, &RunResult::time, &RunResult::steps,
                   &RunResult::relative_energy_error, &RunResult::energy_error,
                   &RunResult::acceleration_error, &RunResult::potential_error, &RunResult::warning,
                   &RunResult::files);
    module.def(
        "run_case",
        [](const std::variant<Case, std::filesystem::path>& simulation_case, const std::filesystem::path& out,
           bool restart, const std::optional<ProgressFunction>& on_progress,
           const std::optional<MessageFunction>& on_message, const nb::object& comm) {
            const auto* path = std::get_if<std::filesystem::path>(&simulation_case);
            auto whole = path ? read_case(*path) : std::get<Case>(simulation_case);
            if (!comm.is_none()) whole.force.communicator = communicator_from(comm);
            return run(whole, {.out = out, .restart = restart}, on_progress, on_message);
        },
        "case"_a, "out"_a, nb::kw_only(), "restart"_a = false, "progress"_a.none() = nb::none(),
        "message"_a.none() = nb::none(), "comm"_a.none() = nb::none(), run_case_doc);
}

} // namespace farfield::python
