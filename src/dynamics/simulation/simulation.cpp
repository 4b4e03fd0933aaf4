// Simulation: the clock around a propagator. Fixed steps are counted by an integer; adaptive ones add up.
#include <farfield/simulation.h>

#include "backend/comm/communicator_access.h"
#include "base/spelling.h"
#include "dynamics/simulation/impl.h"

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
    check_time(options, start);
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

void check_time(const TimeOptions& options, double start) {
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

Simulation::Impl::Impl(Bodies bodies, const ForceOptions& force_options, const TimeOptions& options,
                       double start, const MotionState* before, const std::function<bool()>& stop_requested,
                       bool releases)
    : force(force_options), time_options(options), state(initial_state(std::move(bodies), options, start)) {
    state.motion.core_variance = force.sigma * force.sigma;
    if (before != nullptr) {
        state.motion.core_variance = before->core_variance;
        state.motion.frame = before->frame;
        state.motion.force = before->force;
    }
    propagator = make_propagator({.force = force,
                                  .integrator = options.integrator,
                                  .steps = (options.end - start) / options.step,
                                  .continues = before != nullptr,
                                  .stop_requested = stop_requested,
                                  .releases = releases},
                                 state.motion);
    if (options.adaptive)
        state.next_step = std::min(options.step, first_aarseth_step(state.motion, options.eta));
    set_grid();
}

// The fixed steps from the anchor to the end. A whole last step has exactly the length of the others, so that
// the motion does not depend on where the end is.
void Simulation::Impl::count_steps() {
    const auto [steps, whole] = steps_in(time_options.end - state.anchor_time, time_options.step);
    last_step = state.anchor_step + steps;
    last_is_whole = whole;
    last_length = whole ? time_options.step : time_options.end - grid_time(last_step - 1);
}

// The steps, and what is to be said about them.
void Simulation::Impl::set_grid() {
    count_steps();
    notes = propagator->notes();
    if (!last_is_whole && !time_options.adaptive)
        notes.insert(
            notes.begin(),
            fmt::format("time.end = {} is not a multiple of time.step = {} after the start: the last "
                        "step is shortened to {}",
                        time_options.end, time_options.step, last_length));
}

void Simulation::Impl::take_steps(std::uint64_t steps) {
    if (!time_options.adaptive) return fixed_steps(steps);
    for (std::uint64_t k = 0; k < steps && !finished(); ++k) adaptive_step(time_options.end);
}

bool Simulation::Impl::is_to_stop(const std::function<bool()>& stop_requested) const {
    return comm::any_rank(CommunicatorAccess::transport(force.communicator),
                          stop_requested && stop_requested());
}

void Simulation::Impl::fixed_steps(std::uint64_t steps) {
    if (finished()) return;
    const std::uint64_t left = last_step - state.step;
    fixed_steps_of(time_options.step, std::min(steps, left - 1));
    if (steps >= left) fixed_steps_of(last_length, 1);
}

void Simulation::Impl::fixed_steps_of(double length, std::uint64_t steps) {
    if (steps == 0) return;
    propagator->advance({.count = steps, .length = length, .before = state.step, .start = state.time});
    state.step += steps;
    state.time = finished() ? time_options.end : grid_time(state.step);
}

void Simulation::Impl::step_off_grid(double time) {
    propagator->advance({.count = 1, .length = time - state.time, .before = state.step, .start = state.time});
    ++state.step;
    state.time = time;
    state.anchor_step = state.step;
    state.anchor_time = time;
    count_steps();
}

void Simulation::Impl::advance_towards(double time) {
    if (time_options.adaptive) return adaptive_step(time);
    // ranks measure times of their own, but look together whether to stop
    const auto most =
        comm::from_rank(CommunicatorAccess::transport(force.communicator), propagator->batch(0.0));
    if (time >= time_options.end) return fixed_steps(most);
    const auto [steps, whole] = steps_in(time - state.anchor_time, time_options.step);
    const auto goal = state.anchor_step + steps - (whole ? 0 : 1); // the last of the grid that is wanted
    if (state.step < goal) fixed_steps(std::min(most, goal - state.step));
    if (state.step < goal) return;
    if (whole)
        state.time = time;
    else
        step_off_grid(time);
}

void Simulation::Impl::adaptive_step(double until) {
    const double left = until - state.time;
    const bool last = state.next_step >= left;
    const double proposed = state.next_step;
    const double length = last ? left : proposed;
    if (state.time + length == state.time)
        throw error_in_step(state.step + 1, state.time,
                            fmt::format("the adaptive step has shrunk to {}, too small to advance the time: "
                                        "bodies come too close; use a larger {} or time.eta",
                                        length, spelled("softening")));
    propagator->advance({.count = 1, .length = length, .before = state.step, .start = state.time});
    ++state.step;
    state.time = last ? until : state.time + length;
    // The criterion of a step that was cut short on the way measures rounding; what it proposed before holds.
    const bool cut = length < proposed && until < time_options.end;
    state.next_step = cut ? std::min(time_options.step, proposed)
                          : std::min({time_options.step, aarseth_step(state.motion, time_options.eta),
                                      largest_growth * length});
}

namespace {

// While it lives, long evaluations ask whether to go on.
class Watch {
public:
    Watch(Propagator& propagator, const std::function<bool()>& stop_requested) : propagator_(propagator) {
        propagator_.watch(stop_requested);
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { propagator_.watch({}); }

private:
    Propagator& propagator_;
};

} // namespace

Simulation::Simulation(Bodies bodies, const ForceOptions& force, const TimeOptions& time, double start_time,
                       const std::function<bool()>& stop_requested)
    : impl_(std::make_unique<Impl>(std::move(bodies), force, time, start_time, nullptr, stop_requested)) {}
Simulation::Simulation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

void Simulation::step(const std::function<bool()>& stop_requested) {
    if (!stop_requested) return impl_->take_steps(1);
    const Watch watch(*impl_->propagator, stop_requested);
    try {
        impl_->take_steps(1);
    } catch (const Interrupted&) { // the step was not taken
    }
}

void Simulation::steps(std::uint64_t count, const std::function<bool()>& stop_requested) {
    const Watch watch(*impl_->propagator, stop_requested);
    try {
        for (std::uint64_t k = 0; k < count && !finished(); ++k) {
            impl_->take_steps(1);
            if (impl_->is_to_stop(stop_requested)) return;
        }
    } catch (const Interrupted&) { // the last step was not taken
    }
}

void Simulation::advance_to(double time_end, const std::function<bool()>& stop_requested) {
    if (!std::isfinite(time_end))
        throw InvalidArgument(
            fmt::format("advance_to: the time is {}; it must be a finite number", time_end));
    const double slack = std::max(1e-9 * impl_->time_options.step,
                                  8.0 * std::numeric_limits<double>::epsilon() * std::abs(time()));
    if (time_end < time() - slack)
        throw InvalidArgument(
            fmt::format("advance_to: the time {} has passed, the bodies are at {}; a simulation "
                        "goes forward only",
                        time_end, time()));
    const Watch watch(*impl_->propagator, stop_requested);
    try {
        while (!finished() && time() < time_end - slack) {
            impl_->advance_towards(time_end);
            if (impl_->is_to_stop(stop_requested)) return;
        }
    } catch (const Interrupted&) { // the last step was not taken
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
    impl_->propagator->update_motion();
    return impl_->state.motion.bodies;
}
const ForceOptions& Simulation::force_options() const { return impl_->force; }
const TimeOptions& Simulation::time_options() const { return impl_->time_options; }
const std::vector<std::string>& Simulation::notes() const { return impl_->notes; }
const std::vector<double>& Simulation::acceleration() const {
    impl_->propagator->update_motion();
    return impl_->state.motion.acceleration;
}
double Simulation::pairs_evaluated() const { return impl_->earlier_pairs + impl_->propagator->pairs(); }
double Simulation::force_seconds() const { return impl_->earlier_seconds + impl_->propagator->seconds(); }

Diagnostics Simulation::diagnostics(const std::function<bool()>& stop_requested) {
    const Watch watch(*impl_->propagator, stop_requested);
    impl_->begin_output(true);
    return *impl_->finish_output().row;
}

} // namespace farfield
