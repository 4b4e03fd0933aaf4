// Simulation: the clock around an integrator. Fixed steps are counted by an integer; adaptive ones add up.
#include <farfield/simulation.h>

#include "dynamics/device_choice.h"
#include "dynamics/diagnostics.h"
#include "dynamics/gpu_side.h"
#include "dynamics/simulation_state.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace farfield {
namespace {

constexpr double most_steps = 9.0e15;  // below 2^53: step numbers are exact as double
constexpr double largest_growth = 2.0; // of an adaptive step from one step to the next

// Steps queued on a GPU in one go: long enough for nothing to be lost between them, short enough for Ctrl-C.
constexpr double batch_seconds = 0.05;
constexpr double first_batch = 16.0;
constexpr double largest_batch = 262144.0;

void check_options(const TimeOptions& options, double start) {
    if (!(options.step > 0.0) || !std::isfinite(options.step))
        throw InvalidArgument(fmt::format("time.step is {}; it must be a finite number > 0", options.step));
    if (!std::isfinite(options.end) || options.end < start)
        throw InvalidArgument(fmt::format("time.end is {}; it must be finite and not before the start at {}",
                                          options.end, start));
    if ((options.end - start) / options.step > most_steps)
        throw InvalidArgument(
            fmt::format("time.step = {} would take more than {} steps to time.end = {}; use a "
                        "larger step",
                        options.step, most_steps, options.end));
    if (options.adaptive && options.integrator != Integrator::hermite4)
        throw InvalidArgument(
            fmt::format("time.adaptive needs integrator = \"hermite4\"; \"{}\" takes fixed steps",
                        name_of(options.integrator)));
    if (options.adaptive && (!(options.eta > 0.0) || !std::isfinite(options.eta)))
        throw InvalidArgument(
            fmt::format("time.eta is {}; it must be a finite number > 0, usually 0.01 to 0.03", options.eta));
}

Bodies checked(Bodies bodies) {
    if (bodies.mass.empty()) throw InvalidArgument("there are no bodies; a simulation needs at least one");
    if (bodies.id.empty()) {
        bodies.id.resize(bodies.mass.size());
        std::iota(bodies.id.begin(), bodies.id.end(), std::uint64_t{1});
    }
    bodies.validate();
    return bodies;
}

SimulationState initial_state(Bodies bodies, const TimeOptions& options, double start) {
    check_options(options, start);
    SimulationState state;
    state.motion.bodies = checked(std::move(bodies));
    state.time = start;
    state.anchor_time = start;
    state.next_step = options.step;
    return state;
}

struct StepCount {
    std::uint64_t steps = 0;
    bool last_is_whole = true;
};

// Steps of length `step` in `span`. A ratio within rounding of an integer is that integer.
StepCount steps_in(double span, double step) {
    const double ratio = span / step;
    const double nearest = std::round(ratio);
    const double slack = std::max(1e-9, 8.0 * std::numeric_limits<double>::epsilon() * ratio);
    const bool whole = std::abs(ratio - nearest) <= slack;
    return {static_cast<std::uint64_t>(whole ? nearest : std::ceil(ratio)), whole};
}

} // namespace

struct Simulation::Impl {
    /// `frame`: that of accelerations known from an earlier process; otherwise chosen from the bodies.
    Impl(Bodies bodies, const ForceOptions& force, const TimeOptions& options, double start,
         const Frame* frame = nullptr)
        : time_options(options), scheme(&descriptor_of(options.integrator)),
          state(initial_state(std::move(bodies), options, start)), forces(force, state.motion.bodies),
          place(choose_place(force, options.integrator, state.motion.bodies.size(),
                             (options.end - start) / options.step)) {
        if (place.kind == DeviceKind::cuda) {
            state.frame =
                frame != nullptr ? *frame : choose_frame(state.motion.bodies.position, {}, force.softening);
            gpu.emplace(place, force, options.integrator, state.motion, state.frame);
        } else {
            scheme->start(state.motion, forces);
        }
        if (options.adaptive)
            state.next_step = std::min(options.step, first_aarseth_step(state.motion, options.eta));
        set_grid();
    }

    // The fixed steps from the anchor to the end, and what is to be said about them. A whole last step has
    // exactly the length of the others, so that the motion does not depend on where the end is.
    void set_grid() {
        const auto [steps, whole] = steps_in(time_options.end - state.anchor_time, time_options.step);
        last_step = state.anchor_step + steps;
        last_length = whole ? time_options.step : time_options.end - grid_time(last_step - 1);
        notes.clear();
        if (!whole && !time_options.adaptive)
            notes.push_back(
                fmt::format("time.end = {} is not a multiple of time.step = {} after the start: the last "
                            "step is shortened to {}",
                            time_options.end, time_options.step, last_length));
        if (!place.note.empty()) notes.push_back(place.note);
        if (gpu) gpu->count_from(state.step, state.time, time_options.step);
        if (scheme->uses_jerk && forces.options().precision != Precision::float64)
            notes.push_back(
                fmt::format("{} computes accelerations and jerks in double; force.precision = \"{}\" is "
                            "not used",
                            scheme->name, name_of(forces.options().precision)));
    }

    [[nodiscard]] double grid_time(std::uint64_t step) const {
        return state.anchor_time + static_cast<double>(step - state.anchor_step) * time_options.step;
    }

    [[nodiscard]] bool finished() const {
        return time_options.adaptive ? state.time >= time_options.end : state.step >= last_step;
    }

    void fixed_step() {
        const bool last = state.step + 1 == last_step;
        scheme->step(state.motion, forces, last ? last_length : time_options.step);
        ++state.step;
        state.time = last ? time_options.end : grid_time(state.step);
    }

    void take_steps(std::uint64_t steps) {
        steps = std::min(steps, last_step - state.step);
        const bool to_end = steps > 0 && state.step + steps == last_step;
        gpu->advance(to_end ? steps - 1 : steps, time_options.step);
        if (to_end) gpu->advance(1, last_length);
        state.step += steps;
        state.time = to_end ? time_options.end : grid_time(state.step);
        host_is_current = host_is_current && steps == 0;
        gpu->check(state.motion);
    }

    // The host's arrays at the present moment.
    void update_host() {
        if (!gpu || host_is_current) return;
        gpu->capture(false);
        state.frame = gpu->fetch(state.motion).frame;
        host_is_current = true;
    }

    Diagnostics with_error(Diagnostics row) {
        if (!state.initial_energy) state.initial_energy = row.total;
        row.relative_energy_error = relative_energy_error(row.total, *state.initial_energy);
        return row;
    }

    Diagnostics row_of(const cuda::Moment& moment, double time) {
        Diagnostics row;
        row.time = time;
        row.kinetic = moment.kinetic;
        row.potential = moment.potential;
        row.total = row.kinetic + row.potential;
        row.momentum = moment.momentum;
        row.angular_momentum = moment.angular_momentum;
        if (row.potential != 0.0) row.virial_ratio = -row.kinetic / row.potential;
        row.lagrangian_radii = lagrangian_radii(state.motion.bodies);
        return with_error(row);
    }

    void begin_moment(bool row) {
        mark = {.step = state.step, .time = state.time, .finished = finished(), .row = row};
        if (gpu) gpu->capture(row);
    }

    SimulationMoment finish_moment() {
        SimulationMoment out{.time = mark.time, .finished = mark.finished, .row = {}, .bodies = nullptr};
        if (gpu) {
            const auto& moment = gpu->fetch(state.motion);
            state.frame = moment.frame;
            host_is_current = mark.step == state.step;
            if (mark.row) out.row = row_of(moment, mark.time);
        } else if (mark.row) {
            out.row = with_error(compute_diagnostics(state.motion.bodies, state.time,
                                                     forces.potential_energy(state.motion.bodies)));
        }
        out.bodies = &state.motion.bodies;
        return out;
    }

    void adaptive_step() {
        const double left = time_options.end - state.time;
        const bool last = state.next_step >= left;
        const double length = last ? left : state.next_step;
        if (state.time + length == state.time)
            throw InvalidArgument(
                fmt::format("the adaptive step has shrunk to {}, too small to advance the time: "
                            "bodies come too close; use a larger force.softening or time.eta",
                            length));
        scheme->step(state.motion, forces, length);
        ++state.step;
        state.time = last ? time_options.end : state.time + length;
        state.next_step = std::min(
            {time_options.step, aarseth_step(state.motion, time_options.eta), largest_growth * length});
    }

    TimeOptions time_options;
    const IntegratorDescriptor* scheme;
    SimulationState state;
    Forces forces;
    Place place;
    std::optional<GpuSide> gpu;
    bool host_is_current = true; ///< on GPUs: state.motion is that of state.step
    struct {
        std::uint64_t step = 0;
        double time = 0.0;
        bool finished = false;
        bool row = false;
    } mark; ///< the moment begun last
    std::uint64_t last_step = 0;
    double last_length = 0.0;
    std::vector<std::string> notes;
};

Simulation::Simulation(Bodies bodies, const ForceOptions& force, const TimeOptions& time, double start_time)
    : impl_(std::make_unique<Impl>(std::move(bodies), force, time, start_time)) {}
Simulation::Simulation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

void Simulation::step() {
    if (finished()) return;
    if (impl_->gpu) return impl_->take_steps(1);
    try {
        impl_->time_options.adaptive ? impl_->adaptive_step() : impl_->fixed_step();
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(
            fmt::format("step {} from t = {}: {}", impl_->state.step + 1, impl_->state.time, error.what()));
    }
}

void Simulation::advance_to(double time_end, const std::function<bool()>& stop_requested) {
    if (std::isnan(time_end)) throw InvalidArgument("advance_to: the time is NaN; it must be a number");
    const double slack = 1e-9 * impl_->time_options.step;
    while (!finished() && time() < time_end - slack) {
        // The first of the steps ahead that reaches the end, or as many as are worth queueing.
        std::uint64_t steps = 1, most = SimulationAccess::stride(*this);
        while (steps < most) {
            const auto middle = steps + (most - steps) / 2;
            if (SimulationAccess::time_after(*this, middle) < time_end - slack)
                steps = middle + 1;
            else
                most = middle;
        }
        SimulationAccess::advance(*this, steps);
        if (stop_requested && stop_requested()) return;
    }
}

bool Simulation::finished() const { return impl_->finished(); }
double Simulation::time() const { return impl_->state.time; }
std::uint64_t Simulation::step_count() const { return impl_->state.step; }

std::uint64_t Simulation::steps_remaining() const {
    if (finished()) return 0;
    if (!impl_->time_options.adaptive) return impl_->last_step - impl_->state.step;
    return static_cast<std::uint64_t>(
        std::min(most_steps, std::ceil((impl_->time_options.end - time()) / impl_->state.next_step)));
}

const Bodies& Simulation::bodies() const {
    impl_->update_host();
    return impl_->state.motion.bodies;
}
const ForceOptions& Simulation::force_options() const { return impl_->forces.options(); }
const TimeOptions& Simulation::time_options() const { return impl_->time_options; }
const std::vector<std::string>& Simulation::notes() const { return impl_->notes; }
const std::vector<double>& Simulation::acceleration() const {
    impl_->update_host();
    return impl_->state.motion.acceleration;
}
double Simulation::pairs_evaluated() const {
    return impl_->gpu ? impl_->gpu->pairs() : impl_->forces.pairs();
}
double Simulation::force_seconds() const {
    return impl_->gpu ? impl_->gpu->seconds() : impl_->forces.seconds();
}

Diagnostics Simulation::diagnostics() {
    impl_->begin_moment(true);
    return *impl_->finish_moment().row;
}

SimulationState SimulationAccess::capture(const Simulation& simulation) {
    simulation.impl_->update_host();
    return simulation.impl_->state;
}

ForceBackend SimulationAccess::backend(const Simulation& simulation) {
    const auto& impl = *simulation.impl_;
    return impl.gpu ? impl.gpu->backend() : impl.forces.backend();
}

std::uint64_t SimulationAccess::stride(const Simulation& simulation) {
    const auto& impl = *simulation.impl_;
    if (!impl.gpu) return 1;
    const double a_step = impl.gpu->seconds_per_step();
    const double worth = a_step > 0.0 ? batch_seconds / a_step : first_batch;
    return std::min(static_cast<std::uint64_t>(std::clamp(worth, 1.0, largest_batch)),
                    std::max<std::uint64_t>(1, simulation.steps_remaining()));
}

void SimulationAccess::advance(Simulation& simulation, std::uint64_t steps) {
    if (simulation.impl_->gpu) return simulation.impl_->take_steps(steps);
    for (std::uint64_t k = 0; k < steps; ++k) simulation.step();
}

double SimulationAccess::time_after(const Simulation& simulation, std::uint64_t steps) {
    const auto& impl = *simulation.impl_;
    if (impl.time_options.adaptive) return impl.state.time;
    const auto step = impl.state.step + steps;
    return step >= impl.last_step ? impl.time_options.end : impl.grid_time(step);
}

bool SimulationAccess::overlaps(const Simulation& simulation) { return simulation.impl_->gpu.has_value(); }

void SimulationAccess::begin_moment(Simulation& simulation, bool row) { simulation.impl_->begin_moment(row); }

SimulationMoment SimulationAccess::finish_moment(Simulation& simulation) {
    return simulation.impl_->finish_moment();
}

SimulationState SimulationAccess::state_of_moment(const Simulation& simulation) {
    auto state = simulation.impl_->state;
    state.step = simulation.impl_->mark.step;
    state.time = simulation.impl_->mark.time;
    return state;
}

Simulation SimulationAccess::restore(SimulationState state, const ForceOptions& force,
                                     const TimeOptions& time) {
    Simulation simulation(
        std::make_unique<Simulation::Impl>(state.motion.bodies, force, time, state.time, &state.frame));
    auto& impl = *simulation.impl_;
    // Where the stored accelerations belong to the stored positions, they must come out again.
    if (!impl.scheme->uses_jerk && impl.state.motion.acceleration != state.motion.acceleration)
        throw BackendUnavailable(
            "this machine or build computes accelerations whose last bits differ from those of "
            "the run so far; continue on the machine that wrote the checkpoint, or begin a new "
            "run from its last snapshot ([initial] kind = \"file\")");
    impl.state = std::move(state);
    const bool on_grid = std::abs(impl.state.time - impl.grid_time(impl.state.step)) <= 1e-6 * time.step;
    if (!time.adaptive && !on_grid && impl.state.time < time.end) {
        impl.state.anchor_step = impl.state.step;
        impl.state.anchor_time = impl.state.time;
    }
    impl.set_grid();
    return simulation;
}

} // namespace farfield
