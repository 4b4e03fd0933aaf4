// StencilRun: a program in memory.
#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "base/stopwatch.h"
#include "stencil/api/finite.h"
#include "stencil/api/prepare.h"
#include "stencil/api/run_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield {

struct StencilRun::Impl {
    Impl(StencilProgram the_program, const StencilOptions& options)
        : program(std::move(the_program)), communicator(options.communicator),
          prepared(prepare(*program.data(), options)), series(model().records.size()) {
        notes = prepared.notes;
        if (!prepared.warnings.empty()) notes.insert(notes.begin(), prepared.warnings);
    }
    const stencil::Model& model() const { return program.data()->model(); }
    void look();

    StencilProgram program;
    Communicator communicator;
    PreparedStencil prepared;
    std::vector<std::vector<double>> series; ///< of each record, from the first step
    std::vector<std::string> notes;
    std::int64_t looked = 0; ///< the step at which all values were last known to be finite
};

void StencilRun::Impl::look() {
    auto& executor = *prepared.executor;
    auto* transport = CommunicatorAccess::transport(communicator);
    const bool first_rank = communicator.rank() == 0;
    std::vector<double> values;
    for (std::size_t i = 0; i < model().fields.size(); ++i) {
        if (!executor.program().buffers[i].written) continue;
        const auto index = static_cast<int>(i);
        const auto grid = model().fields[i].grid;
        if (first_rank)
            values.resize(static_cast<std::size_t>(cells_of(model().grids[static_cast<std::size_t>(grid)])));
        executor.read_to_first(index, values);
        comm::on_root(transport, [&] {
            if (!all_finite(values))
                throw Error(
                    fmt::format("the field '{}' became {} between step {} and step {} (t = {:.10g}); look "
                                "for a dt that is too large or a division by 0",
                                model().fields[i].name, first_bad_text(model(), index, values), looked,
                                executor.step(), static_cast<double>(executor.step()) * model().dt));
        });
    }
    looked = executor.step();
}

StencilRun::StencilRun(const StencilProgram& program, const StencilOptions& options)
    : impl_(std::make_unique<Impl>(program, options)) {}
StencilRun::StencilRun(StencilRun&&) noexcept = default;
StencilRun& StencilRun::operator=(StencilRun&&) noexcept = default;
StencilRun::~StencilRun() = default;

void StencilRun::advance(std::int64_t steps) {
    if (steps < 0)
        throw InvalidArgument(fmt::format("cannot advance by {} steps; 0 or more are allowed", steps));
    if (steps == 0) return;
    const auto last = step() + steps;
    const auto every = look_every(impl_->prepared.target);
    while (step() < last) {
        impl_->prepared.executor->advance(std::min(last, (step() / every + 1) * every) - step());
        impl_->look();
    }
}

// All ranks take the same pieces: those that rank 0 finds right by its clock.
void StencilRun::advance(std::int64_t steps, const std::function<bool()>& stop_requested) {
    if (steps <= 0) return advance(steps);
    auto* const ranks = CommunicatorAccess::transport(impl_->communicator);
    std::int64_t piece = 1;
    while (steps > 0 && !comm::any_rank(ranks, stop_requested && stop_requested())) {
        const auto now = std::min(piece, steps);
        const Stopwatch watch;
        advance(now);
        steps -= now;
        const double seconds = watch.seconds();
        if (seconds < 0.05) piece *= 2;
        if (seconds > 0.2 && piece > 1) piece /= 2;
        piece = comm::from_rank(ranks, piece);
    }
}

void StencilRun::run() {
    const auto end = steps_of(impl_->model());
    if (!end)
        throw InvalidArgument(fmt::format("the program '{}' names no end; write `time steps = 1000` or `time "
                                          "end = 10` into it, or advance by a number of steps",
                                          impl_->program.name()));
    if (*end > step()) advance(*end - step());
}

std::int64_t StencilRun::step() const { return impl_->prepared.executor->step(); }
double StencilRun::time() const { return static_cast<double>(step()) * impl_->model().dt; }

StencilField StencilRun::field(std::string_view name) {
    const auto& model = impl_->model();
    const auto index = field_index(model, name);
    const auto& grid =
        model.grids[static_cast<std::size_t>(model.fields[static_cast<std::size_t>(index)].grid)];
    StencilField out;
    for (auto axis = grid.axes.rbegin(); axis != grid.axes.rend(); ++axis) out.shape.push_back(axis->cells);
    out.values.resize(static_cast<std::size_t>(cells_of(grid)));
    impl_->prepared.executor->read(index, out.values);
    return out;
}

void StencilRun::set_field(std::string_view name, std::span<const double> values) {
    const auto& model = impl_->model();
    const auto index = field_index(model, name);
    const auto& field = model.fields[static_cast<std::size_t>(index)];
    const auto cells = cells_of(model.grids[static_cast<std::size_t>(field.grid)]);
    if (static_cast<std::int64_t>(values.size()) != cells)
        throw InvalidArgument(
            fmt::format("the field '{}' has {} cells, and {} values were given; one for each "
                        "cell is needed",
                        name, cells, values.size()));
    if (!all_finite(values))
        throw InvalidArgument(fmt::format("the values for the field '{}' have {}; all must be finite", name,
                                          first_bad_text(model, index, values)));
    impl_->prepared.executor->write(index, values);
}

StencilSeries StencilRun::series(std::string_view name) {
    const auto& model = impl_->model();
    const auto index = record_index(model, name);
    auto& all = impl_->series[static_cast<std::size_t>(index)];
    const auto fresh = impl_->prepared.executor->take_series(index);
    all.insert(all.end(), fresh.begin(), fresh.end());
    StencilSeries out;
    out.values = all;
    const auto every = model.records[static_cast<std::size_t>(index)].every;
    for (std::size_t i = 1; i <= all.size(); ++i)
        out.times.push_back(static_cast<double>(static_cast<std::int64_t>(i) * every) * model.dt);
    return out;
}

StencilRunState StencilRunAccess::capture(StencilRun& run) {
    StencilRunState state;
    state.step = run.step();
    for (const auto& field : run.impl_->model().fields) state.fields.push_back(run.field(field.name).values);
    for (const auto& record : run.impl_->model().records)
        state.series.push_back(run.series(record.name).values);
    return state;
}

void StencilRunAccess::restore(StencilRun& run, StencilRunState state) {
    const auto& model = run.impl_->model();
    if (state.step < 0 || state.fields.size() != model.fields.size() ||
        state.series.size() != model.records.size())
        throw InvalidArgument(fmt::format("what was saved of a run of '{}' has step {}, {} fields and {} "
                                          "records; the program has {} fields "
                                          "and {} records",
                                          run.program().name(), state.step, state.fields.size(),
                                          state.series.size(), model.fields.size(), model.records.size()));
    for (std::size_t i = 0; i < state.series.size(); ++i)
        if (static_cast<std::int64_t>(state.series[i].size()) != state.step / model.records[i].every)
            throw InvalidArgument(fmt::format("what was saved of the record '{}' has {} values at step {}",
                                              model.records[i].name, state.series[i].size(), state.step));
    for (std::size_t i = 0; i < state.fields.size(); ++i)
        run.set_field(model.fields[i].name, state.fields[i]);
    run.impl_->prepared.executor->set_step(state.step);
    run.impl_->looked = state.step;
    run.impl_->series = std::move(state.series);
}

const Communicator& StencilRunAccess::communicator(const StencilRun& run) { return run.impl_->communicator; }

const StencilProgram& StencilRun::program() const { return impl_->program; }
const std::string& StencilRun::description() const {
    return impl_->prepared.executor->preparation().description;
}
const std::vector<std::string>& StencilRun::notes() const { return impl_->notes; }

} // namespace farfield
