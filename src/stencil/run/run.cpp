// run_stencil: prepare, begin or restart, step from event to event, sum up.
#include <farfield/stencil_run.h>

#include "backend/comm/communicator_access.h"
#include "base/stopwatch.h"
#include "io/atomic_file.h"
#include "run/checkpoint.h"
#include "run/hooks.h"
#include "stencil/front_end/syntax/printer.h"
#include "stencil/run/files.h"
#include "stencil/run/leader.h"
#include "stencil/run/settings.h"
#include "stencil/run/summary.h"

#include <farfield/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace farfield {
namespace {

namespace fs = std::filesystem;

constexpr double chunk_seconds = 0.1; // between looks at the clock, the keyboard and the progress line

class Run {
public:
    /// @param leader of the ranks; null where this process is alone
    Run(const StencilProgram& program, const StencilRunSettings& settings, const StencilRunHooks& hooks,
        Leader* leader)
        : program_(program), settings_(settings), hooks_(hooks), leader_(leader),
          last_step_(checked_last_step(program, settings)),
          folder_(settings.out, settings.restart || settings.overwrite),
          inputs_(input_files(model(), program.data()->folder)) {
        auto checkpoint =
            settings.restart
                ? newest_stencil_checkpoint(folder_.checkpoints(), [this](const auto& text) { note(text); })
                : std::nullopt;
        if (checkpoint) check(*checkpoint);
        const Stopwatch watch;
        if (leader_ != nullptr) leader_->prepare();
        prepared_ = prepare(*program.data(), settings.options, hooks_.finding_cells);
        if (leader_ != nullptr)
            prepared_.executor =
                leader_->lead(std::move(prepared_.executor), prepared_.program, hooks_.stop_requested);
        prepare_seconds_ = watch.seconds();
        if (settings.overwrite) folder_.remove_earlier_run();
        if (hooks_.prepared) hooks_.prepared();
        for (const auto& text : prepared_.notes) note(text);
        if (!prepared_.warnings.empty()) say(prepared_.warnings);
        work_ = work_of(*prepared_.program);
        state_.emplace(*prepared_.executor, model());
        files_.emplace(program_, settings_, folder_, prepared_, *state_, last_step_);
        if (checkpoint)
            restart(std::move(*checkpoint));
        else
            begin();
    }

    StencilRunResult execute() {
        if (step() < last_step_) fs::remove(folder_.summary()); // it tells of an earlier part of the run
        report_progress();
        bool stopped = false;
        while (step() < last_step_ && !stopped) {
            advance();
            stopped = leader_ != nullptr ? leader_->any_stops() : stop_requested(hooks_);
            try {
                write_due(stopped);
            } catch (const NotFinite&) {
                end_before_it();
                throw;
            }
            report_progress();
        }
        return finish(stopped);
    }

private:
    [[nodiscard]] const stencil::Model& model() const { return program_.data()->model(); }
    [[nodiscard]] std::int64_t step() const { return prepared_.executor->step(); }
    [[nodiscard]] double time() const { return static_cast<double>(step()) * model().dt; }
    void check(const StencilCheckpoint& checkpoint) const;
    void check_program(const std::string& before) const;
    void check_inputs(const std::vector<InputFile>& before) const;
    void restart(StencilCheckpoint checkpoint);
    void begin();
    void write_program() const;
    void advance();
    void write_due(bool stopped);
    void end_before_it();
    void save_checkpoint();
    void report_progress() const;
    StencilRunResult finish(bool stopped);
    void say(const std::string& text) const { farfield::say(hooks_, text); }
    void note(const std::string& text) {
        notes_.push_back(text);
        say(text);
    }

    const StencilProgram& program_;
    const StencilRunSettings& settings_;
    const StencilRunHooks& hooks_;
    Leader* leader_;
    std::int64_t last_step_;
    StencilFolder folder_;
    std::vector<InputFile> inputs_;
    PreparedStencil prepared_;
    StencilWork work_;
    std::optional<StencilState> state_;
    std::optional<StencilFiles> files_;
    std::vector<std::string> notes_;
    std::optional<std::int64_t> restarted_from_step_;
    std::int64_t first_step_ = 0; // of this process
    std::int64_t chunk_ = 1;
    Stopwatch whole_;            // since the run began
    Stopwatch since_checkpoint_; // the last one
    double prepare_seconds_ = 0;
    double compute_seconds_ = 0;
    double output_seconds_ = 0;
};

void Run::check_program(const std::string& before) const {
    require_same("program", folder_.path(), difference_of(before, deciding_text(model())), "program.ff");
}

// Of the same program: the names are the same.
void Run::check_inputs(const std::vector<InputFile>& before) const {
    for (const auto& file : before)
        for (const auto& now : inputs_)
            if (now.name == file.name && !now.hash.empty() && now.hash != file.hash)
                throw InvalidArgument(
                    fmt::format("the file '{}', which the program reads, has changed since the checkpoint in "
                                "'{}'; put the earlier one back, or choose another folder",
                                file.name, folder_.path().string()));
}

void Run::check(const StencilCheckpoint& checkpoint) const {
    require_this_version(folder_.path(), checkpoint.version, "begin again in another folder");
    check_program(checkpoint.program);
    check_inputs(checkpoint.inputs);
    if (last_step_ < checkpoint.step)
        throw InvalidArgument(
            fmt::format("the run is to end at step {}, before the checkpoint in '{}' at step "
                        "{}; a restart only goes forward",
                        last_step_, folder_.path().string(), checkpoint.step));
}

void Run::restart(StencilCheckpoint checkpoint) {
    std::vector<std::vector<double>> values;
    for (const int index : state_->written()) {
        const auto& name = model().fields[static_cast<std::size_t>(index)].name;
        const auto found = std::find_if(checkpoint.fields.begin(), checkpoint.fields.end(),
                                        [&](const auto& field) { return field.name == name; });
        if (found == checkpoint.fields.end() || found->values.size() != state_->field(index).size())
            throw InvalidArgument(
                fmt::format("the checkpoint in '{}' does not have the field '{}'; begin again "
                            "in another folder",
                            folder_.path().string(), name));
        values.push_back(std::move(found->values));
    }
    state_->restore(std::move(values), checkpoint.step);
    for (const auto& text : files_->continue_from(checkpoint)) note(text);
    first_step_ = step();
    restarted_from_step_ = first_step_;
    if (first_step_ == last_step_)
        say(fmt::format("the run had already reached step {}", first_step_));
    else
        say(fmt::format("continuing from step {}, t = {:.10g}", first_step_, time()));
}

void Run::write_program() const {
    write_file_atomically(
        folder_.program(),
        fmt::format("# The program of this run with the values of its parameters. Names of files "
                    "start where the original is.\n{}",
                    deciding_text(model())));
}

void Run::begin() {
    if (settings_.restart) {
        if (fs::exists(folder_.program())) {
            const auto earlier = StencilProgram::from_file(folder_.program());
            check_program(deciding_text(earlier.data()->model()));
        }
        say_no_checkpoint(hooks_, folder_.path());
    }
    state_->take();
    write_program();
    files_->begin();
    const Stopwatch watch;
    files_->add_frames();
    if (files_->fields_due(0)) files_->write_fields();
    output_seconds_ += watch.seconds();
}

// To the next event, but no longer than a moment.
void Run::advance() {
    const auto every = look_every(prepared_.target);
    const auto look = (step() / every + 1) * every;
    auto until = std::min({last_step_, step() + chunk_, files_->next_due(step()), look});
    if (settings_.checkpoint_steps > 0)
        until = std::min(until, (step() / settings_.checkpoint_steps + 1) * settings_.checkpoint_steps);
    const auto from = step();
    const Stopwatch watch;
    prepared_.executor->advance(until - from);
    const double taken = watch.seconds();
    compute_seconds_ += taken;
    const auto steps = static_cast<double>(until - from);
    const double wanted = steps * chunk_seconds / std::max(taken, 1e-9);
    chunk_ = static_cast<std::int64_t>(std::clamp(wanted, 1.0, 2.0 * static_cast<double>(chunk_)));
    files_->write_series(from, step());
}

void Run::write_due(bool stopped) {
    const Stopwatch watch;
    const bool fields = files_->fields_due(step());
    const bool by_clock = settings_.checkpoint_steps == 0 && settings_.checkpoint_seconds > 0 &&
                          since_checkpoint_.seconds() >= settings_.checkpoint_seconds;
    const bool by_steps = settings_.checkpoint_steps > 0 && step() % settings_.checkpoint_steps == 0;
    const bool checkpoint = stopped || step() == last_step_ || by_clock || by_steps;
    files_->add_frames();
    if (fields || checkpoint || step() % look_every(prepared_.target) == 0) state_->take();
    if (fields) files_->write_fields();
    if (checkpoint) save_checkpoint();
    output_seconds_ += watch.seconds();
}

// The files are those of a run to the last step at which all was finite, whenever the rest was noticed.
void Run::end_before_it() {
    files_->cut_to(state_->step());
    save_checkpoint();
}

void Run::save_checkpoint() {
    files_->write_checkpoint(inputs_);
    since_checkpoint_.lap();
}

void Run::report_progress() const {
    if (!hooks_.progress) return;
    StencilRunProgress progress;
    progress.step = step();
    progress.steps_total = last_step_;
    progress.time = time();
    progress.end = static_cast<double>(last_step_) * model().dt;
    const auto done = static_cast<double>(step() - first_step_);
    if (compute_seconds_ > 0) {
        progress.cell_steps_per_second = done * work_.cell_steps / compute_seconds_;
        progress.stencils_per_second = done * work_.stencils / compute_seconds_;
        progress.seconds_left =
            seconds_left(compute_seconds_ + output_seconds_, done, static_cast<double>(last_step_ - step()));
    }
    hooks_.progress(progress);
}

StencilRunResult Run::finish(bool stopped) {
    StencilRunResult result;
    result.finished = !stopped || step() == last_step_;
    result.step = step();
    result.time = time();
    result.steps_here = step() - first_step_;
    const bool did_nothing = restarted_from_step_ && result.steps_here == 0;
    const bool unsaved = result.steps_here == 0 && !restarted_from_step_; // a run of no steps
    if (unsaved) save_checkpoint();
    const Stopwatch watch;
    if (did_nothing && files_->fields_due(step()))
        files_->write_fields(); // `at end`, where the end has moved
    const auto pictures = files_->write_pictures();
    output_seconds_ += watch.seconds();
    const auto done = static_cast<double>(result.steps_here);
    if (compute_seconds_ > 0) {
        result.cell_steps_per_second = done * work_.cell_steps / compute_seconds_;
        result.stencils_per_second = done * work_.stencils / compute_seconds_;
    }
    if (!did_nothing || !fs::exists(folder_.summary()))
        write_summary(folder_, program_, settings_.options, prepared_,
                      {result, work_, restarted_from_step_, whole_.seconds(), compute_seconds_,
                       prepare_seconds_, output_seconds_, notes_});
    result.files = folder_.files();
    result.files.insert(result.files.end(), pictures.begin(), pictures.end());
    return result;
}

} // namespace

StencilRunResult run_stencil(const StencilProgram& program, const StencilRunSettings& settings,
                             const StencilRunHooks& hooks) {
    auto* transport = CommunicatorAccess::transport(settings.options.communicator);
    if (transport == nullptr) return Run(program, settings, hooks, nullptr).execute();
    if (transport->rank() != 0) return follow(*transport, program, settings, hooks);
    Leader leader(*transport);
    try {
        auto result = Run(program, settings, hooks, &leader).execute();
        leader.finish(result);
        return result;
    } catch (const comm::RankFailed&) {
        throw;
    } catch (const std::exception&) {
        leader.fail(std::current_exception());
    }
}

} // namespace farfield
