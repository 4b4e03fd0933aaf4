// run_case: prepare the folder, begin or restart, step with outputs and checkpoints, sum up.
#include <farfield/run.h>

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "dynamics/initial/model.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/run/case_text.h"
#include "dynamics/run/checkpoint.h"
#include "dynamics/run/folder.h"
#include "dynamics/run/origin.h"
#include "dynamics/run/outputs.h"
#include "dynamics/run/summary.h"
#include "dynamics/simulation/state.h"
#include "io/atomic_file.h"
#include "run/checkpoint.h"
#include "run/hooks.h"
#include "sums/costs/cost_file.h"

#include <farfield/error.h>
#include <farfield/farfield.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <utility>

namespace farfield {
namespace {

namespace fs = std::filesystem;

constexpr const char* new_run_remedy =
    "begin a new run from the last snapshot ([initial] kind = \"file\", path = "
    "\"snapshot_NNNN.h5\") in another folder";

class Run {
public:
    Run(const Case& simulation_case, const RunSettings& settings, const RunHooks& hooks)
        : case_(simulation_case), ranks_(CommunicatorAccess::transport(simulation_case.force.communicator)),
          hooks_(is_root() ? hooks
                           : RunHooks{.progress = {}, .stop_requested = hooks.stop_requested, .message = {}}),
          folder_(folder_for(settings)) {
        if (settings.restart) restart();
        if (!simulation_) begin(settings.restart);
    }

    RunResult execute() {
        const bool was_finished = simulation_->finished();
        if (!was_finished && is_root())
            fs::remove(folder_.summary()); // it tells of an earlier part of the run
        for (const auto& note : simulation_->notes()) say(note);
        report_progress();
        bool stopped = false;
        while (!simulation_->finished() && !stopped) {
            SimulationAccess::advance(*simulation_, agreed_stride());
            write_output(); // that before these steps, which a GPU takes meanwhile
            stopped = begin_due_output();
            if (!SimulationAccess::overlaps(*simulation_)) write_output();
            report_progress();
        }
        write_output();
        if (was_finished && restarted_from_step_)
            say(fmt::format("the run had already reached time.end = {}", case_.time.end));
        if (was_finished && !restarted_from_step_) {
            pending_ = {.due = {}, .checkpoint = true};
            SimulationAccess::begin_output(*simulation_, false);
            write_output();
        }
        return finish();
    }

private:
    [[nodiscard]] ForceOptions force_of(const Checkpoint& checkpoint) const;
    void tell_of_another_cost_table(const Checkpoint& checkpoint) const;
    void check_case(const std::string& deciding_text_before) const;
    void restart();
    void begin(bool wanted_restart);
    [[nodiscard]] OutputTimes checkpoint_times() const {
        return {start_time_, case_.output.checkpoint_every, case_.time.step};
    }
    // Rank 0 keeps the clocks and the files, says what is due, and alone speaks; all ranks compute.
    [[nodiscard]] bool is_root() const { return ranks_ == nullptr || ranks_->rank() == 0; }
    [[nodiscard]] RunFolder folder_for(const RunSettings& settings) const;
    [[nodiscard]] std::uint64_t agreed_stride() const {
        return comm::from_rank(ranks_, is_root() ? stride() : 0);
    }
    [[nodiscard]] std::uint64_t stride() const;
    bool begin_due_output();
    [[nodiscard]] bool clock_is_due() const {
        const double longest = case_.output.checkpoint_clock;
        return longest > 0.0 && since_checkpoint_.seconds() >= longest;
    }
    void write_output();
    void save_checkpoint();
    void report_progress() const;
    RunResult finish();
    void tell(const RunResult& result, const Diagnostics& row);
    void say(const std::string& text) const { farfield::say(hooks_, text); }

    /// What is to be written of the output begun last.
    struct Pending {
        Outputs::Due due;
        bool checkpoint = false;
    };

    const Case& case_;
    comm::Transport* ranks_; ///< null: this process alone
    RunHooks hooks_;
    RunFolder folder_;
    Stopwatch watch_;            ///< since the run began
    Stopwatch since_checkpoint_; ///< or since the run began
    std::optional<Simulation> simulation_;
    std::optional<Outputs> outputs_; ///< of rank 0
    std::optional<Pending> pending_;
    double write_seconds_ = 0.5; ///< that the files of the last output took; a guess before the first
    double start_time_ = 0.0;
    RunOrigin origin_;
    std::string cost_table_; ///< hash of the one that chose the backend when the run began
    std::uint64_t next_checkpoint_ = 1;
    std::uint64_t first_step_ = 0; // of this process
    std::optional<std::uint64_t> restarted_from_step_;
};

RunFolder Run::folder_for(const RunSettings& settings) const {
    std::optional<RunFolder> folder;
    comm::on_root(ranks_, [&] { folder.emplace(settings.out, settings.restart); });
    return folder ? *folder : RunFolder(settings.out, RunFolder::OfAnotherRank{});
}

void Run::check_case(const std::string& before) const {
    require_same("case", folder_.path(), first_difference(before, deciding_text(case_)), "case.toml");
}

// The bits of a run belong to a kind of device and an ISA: an automatic choice stays what it was when the run
// began.
ForceOptions Run::force_of(const Checkpoint& checkpoint) const {
    require_this_version(folder_.path(), checkpoint.version, new_run_remedy);
    auto force = case_.force;
    const DeviceChoice before{.kind = checkpoint.backend.device};
    if (force.device.kind == DeviceKind::automatic) force.device = before;
    if (force.device.kind != before.kind)
        throw InvalidArgument(fmt::format("the run in '{}' was computed with device = {}, not {}: other "
                                          "devices give other last bits; leave "
                                          "device out, or {}",
                                          folder_.path().string(), name_of(before), name_of(force.device),
                                          new_run_remedy));
    if (before.kind != DeviceKind::cpu) return force;
    if (force.isa != Isa::automatic && force.isa != checkpoint.backend.isa)
        throw InvalidArgument(fmt::format(
            "the run in '{}' was computed with isa = {}, not {}: other instructions give "
            "other last bits; leave isa out, or {}",
            folder_.path().string(), name_of(checkpoint.backend.isa), name_of(force.isa), new_run_remedy));
    force.isa = checkpoint.backend.isa;
    return force;
}

// The choice made when the run began stays, whatever the user's table says now.
void Run::tell_of_another_cost_table(const Checkpoint& checkpoint) const {
    if (checkpoint.cost_table.empty() || !leaves_to_cost_table(case_.force)) return;
    std::string now;
    try {
        now = cost_table_in_use().hash;
    } catch (const Error& error) {
        now = fmt::format("not readable: {}", error.what());
    }
    if (now != checkpoint.cost_table)
        say(fmt::format("the cost table was {} when the run began and is {} now; the run stays on {} with "
                        "method '{}'",
                        checkpoint.cost_table, now,
                        checkpoint.backend.device == DeviceKind::cpu ? "the CPU" : "the GPU",
                        name_of(SimulationAccess::force_settings(*simulation_).method)));
}

void Run::restart() {
    auto checkpoint = newest_checkpoint(folder_, [this](const std::string& text) { say(text); });
    if (!checkpoint) return;
    check_case(checkpoint->deciding_text);
    require_same_bodies(case_, checkpoint->origin, folder_.path(),
                        [this](const std::string& text) { say(text); });
    if (case_.time.end < checkpoint->state.time)
        throw InvalidArgument(
            fmt::format("time.end = {} lies before the checkpoint in '{}' at t = {}; a restart only "
                        "goes forward",
                        case_.time.end, folder_.path().string(), checkpoint->state.time));
    const auto force = force_of(*checkpoint);
    try {
        simulation_.emplace(SimulationAccess::restore(std::move(checkpoint->state), force, case_.time));
    } catch (const BackendUnavailable& error) {
        throw BackendUnavailable(fmt::format("the run in '{}' cannot be continued here: {}; {}",
                                             folder_.path().string(), error.what(), new_run_remedy));
    }
    if (SimulationAccess::backend(*simulation_) != checkpoint->backend)
        throw BackendUnavailable(fmt::format("the run in '{}' used another variant of the sums ({}); {}",
                                             folder_.path().string(), name_of(checkpoint->backend.variant),
                                             new_run_remedy));
    start_time_ = checkpoint->start_time;
    origin_ = checkpoint->origin;
    cost_table_ = checkpoint->cost_table;
    comm::on_root(ranks_, [&] {
        outputs_.emplace(folder_, case_, origin_, start_time_);
        outputs_->continue_from(*checkpoint);
        write_file_atomically(folder_.case_file(), case_toml(case_)); // time.end may have moved
    });
    next_checkpoint_ = checkpoint_times().next_after(simulation_->time());
    first_step_ = simulation_->step_count();
    restarted_from_step_ = first_step_;
    say(fmt::format("continuing from step {}, t = {}", first_step_, simulation_->time()));
    tell_of_another_cost_table(*checkpoint);
}

void Run::begin(bool wanted_restart) {
    if (wanted_restart) {
        if (fs::exists(folder_.case_file())) check_case(deciding_text(read_case(folder_.case_file())));
        say_no_checkpoint(hooks_, folder_.path());
    }
    auto initial = state_for(case_.initial, facts_of(case_.force.kernel).moves_vortices,
                             thread_count(case_.force.threads));
    start_time_ = initial.time;
    origin_ = run_origin(case_, initial, [this](const std::string& text) { say(text); });
    cost_table_ = deciding_cost_table(case_.force);
    simulation_.emplace(
        SimulationAccess::begin(std::move(initial.bodies), case_.force, case_.time, start_time_));
    comm::on_root(ranks_, [&] {
        outputs_.emplace(folder_, case_, origin_, start_time_);
        write_file_atomically(folder_.case_file(), case_toml(case_));
        outputs_->begin();
    });
    pending_ = {.due = {.row = true, .snapshot = true}, .checkpoint = false};
    SimulationAccess::begin_output(*simulation_, true);
    if (!SimulationAccess::overlaps(*simulation_)) write_output();
}

// Steps to the next time at which something is to be written, by bisection, or as many as are worth queueing.
std::uint64_t Run::stride() const {
    const auto something_due = [&](std::uint64_t steps) {
        const double time = SimulationAccess::time_after(*simulation_, steps);
        return outputs_->is_due(time) || checkpoint_times().due(time, next_checkpoint_);
    };
    std::uint64_t first = 1;
    // While the output before is written, the GPU is to have enough to do.
    std::uint64_t last = SimulationAccess::stride(*simulation_, pending_ ? write_seconds_ : 0.0);
    while (first < last) {
        const auto middle = first + (last - first) / 2;
        if (something_due(middle))
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

// After steps: begins an output if anything is to be written. True if the run is to stop.
bool Run::begin_due_output() {
    const double time = simulation_->time();
    const bool finished = simulation_->finished();
    const bool stopped = comm::any_rank(ranks_, stop_requested(hooks_));
    Pending now;
    if (is_root()) now = {.due = outputs_->take_due(time, finished), .checkpoint = clock_is_due()};
    now = comm::from_rank(ranks_, now);
    now.checkpoint = now.checkpoint || checkpoint_times().due(time, next_checkpoint_) || stopped || finished;
    if (now.checkpoint) next_checkpoint_ = checkpoint_times().next_after(time);
    if (now.due.row || now.due.snapshot || now.checkpoint) {
        SimulationAccess::begin_output(*simulation_, now.due.row);
        pending_ = now;
    }
    return stopped;
}

void Run::write_output() {
    if (!pending_) return;
    const auto now = *std::exchange(pending_, std::nullopt);
    const int order_before = SimulationAccess::force_settings(*simulation_).order;
    const double aim_before = SimulationAccess::force_settings(*simulation_).aim;
    const auto state = SimulationAccess::finish_output(*simulation_);
    if (const int order = SimulationAccess::force_settings(*simulation_).order; order != order_before)
        say(fmt::format(
            "at t = {} the forces missed {}: the last step was taken again with expansions of order {}, "
            "as those to come ({} before)",
            state.time, spelled("tolerance", fmt::format("{:g}", case_.force.tolerance)), order,
            order_before));
    if (const double aim = SimulationAccess::force_settings(*simulation_).aim; aim != aim_before)
        say(fmt::format("at t = {} the forces missed {}: the last step was taken again with sums that aim at "
                        "{:.2g}, as those to come",
                        state.time, spelled("tolerance", fmt::format("{:g}", case_.force.tolerance)), aim));
    const Stopwatch watch;
    comm::on_root(ranks_, [&] {
        outputs_->write(state, now.due);
        if (now.checkpoint) save_checkpoint();
    });
    write_seconds_ = watch.seconds();
}

void Run::save_checkpoint() {
    Checkpoint checkpoint;
    checkpoint.state = SimulationAccess::state_of_output(*simulation_);
    checkpoint.deciding_text = deciding_text(case_);
    checkpoint.force = case_.force;
    checkpoint.time = case_.time;
    checkpoint.backend = SimulationAccess::backend(*simulation_);
    checkpoint.cost_table = cost_table_;
    checkpoint.origin = origin_;
    checkpoint.version = std::string(version());
    outputs_->save_to(checkpoint);
    write_checkpoint(folder_, checkpoint);
    since_checkpoint_.lap();
}

void Run::report_progress() const {
    if (!hooks_.progress) return;
    RunProgress progress;
    progress.step = simulation_->step_count();
    progress.steps_total = progress.step + simulation_->steps_remaining();
    progress.time = simulation_->time();
    progress.end = case_.time.end;
    progress.relative_energy_error = outputs_->relative_energy_error();
    progress.seconds_elapsed = watch_.seconds();
    if (simulation_->force_seconds() > 0.0)
        progress.pairs_per_second = simulation_->pairs_evaluated() / simulation_->force_seconds();
    if (progress.step > first_step_)
        progress.seconds_left =
            seconds_left(progress.seconds_elapsed, static_cast<double>(progress.step - first_step_),
                         static_cast<double>(simulation_->steps_remaining()));
    hooks_.progress(progress);
}

RunResult Run::finish() {
    RunResult result;
    result.finished = simulation_->finished();
    result.time = simulation_->time();
    result.steps = simulation_->step_count();
    result.relative_energy_error =
        comm::from_rank(ranks_, is_root() ? outputs_->relative_energy_error() : 0.0);
    result.energy_error = comm::from_rank(ranks_, is_root() ? outputs_->energy_error() : 0.0);
    const auto& settings = SimulationAccess::force_settings(*simulation_);
    result.acceleration_error = settings.worst_acceleration_error;
    result.potential_error = settings.worst_potential_error;
    if (case_.output.energy_warning > 0.0 && result.energy_error > case_.output.energy_warning)
        result.warning = fmt::format(
            "the energy is off by {:.2g} %, more than output.energy_warning = {} ({:g} %): do not trust this "
            "run; use a smaller time.step, {}",
            100.0 * result.energy_error, case_.output.energy_warning, 100.0 * case_.output.energy_warning,
            facts_of(case_.force.kernel).moves_vortices
                ? "or a larger force.sigma"
                : "a larger force.softening, or hermite4 with time.adaptive");
    const bool already_told = result.finished && result.steps == first_step_ && fs::exists(folder_.summary());
    if (!comm::from_rank(ranks_, already_told)) {
        std::optional<Diagnostics> row;
        if (is_root()) row = outputs_->last_row();
        if (!comm::from_rank(ranks_, row.has_value())) row = simulation_->diagnostics();
        comm::on_root(ranks_, [&] { tell(result, *row); });
    }
    if (is_root()) result.files = folder_.files(outputs_->snapshots());
    return result;
}

// Pictures and the summary.
void Run::tell(const RunResult& result, const Diagnostics& row) {
    outputs_->plot_diagnostics_file();
    if (result.finished) outputs_->animate_snapshots();
    RunSummary summary;
    summary.finished = result.finished;
    summary.time = result.time;
    summary.steps = result.steps;
    summary.bodies = static_cast<std::uint64_t>(SimulationAccess::body_count(*simulation_));
    summary.relative_energy_error = result.relative_energy_error;
    summary.energy_error = result.energy_error;
    if (!result.warning.empty()) summary.warnings.push_back(result.warning);
    summary.last_row = row;
    summary.backend = SimulationAccess::backend(*simulation_);
    summary.force = SimulationAccess::force_settings(*simulation_);
    summary.reinitialised = SimulationAccess::reinitialisations(*simulation_);
    summary.cost_table = cost_table_;
    summary.origin = origin_;
    summary.ranks = case_.force.communicator.size();
    summary.threads = thread_count(case_.force.threads);
    summary.restarted_from_step = restarted_from_step_;
    summary.steps_here = result.steps - first_step_;
    summary.pairs = simulation_->pairs_evaluated();
    summary.seconds = watch_.seconds();
    summary.force_seconds = simulation_->force_seconds();
    summary.output_seconds = outputs_->seconds();
    summary.notes = simulation_->notes();
    summary.files = folder_.files(outputs_->snapshots());
    write_summary(folder_, case_, summary);
}

} // namespace

RunResult run_case(const Case& simulation_case, const RunSettings& settings, const RunHooks& hooks) {
    return Run(simulation_case, settings, hooks).execute();
}

} // namespace farfield
