// What a caller may change between two steps: places, velocities, and how time goes on.
#include "dynamics/simulation/impl.h"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {

void Simulation::Impl::evaluate_anew(const std::function<bool()>& stop_requested) {
    auto fresh = make_propagator({.force = force,
                                  .integrator = time_options.integrator,
                                  .steps = (time_options.end - state.time) / time_options.step,
                                  .continues = false,
                                  .stop_requested = stop_requested,
                                  .releases = false},
                                 state.motion);
    earlier_pairs += propagator->pairs();
    earlier_seconds += propagator->seconds();
    propagator = std::move(fresh);
    if (time_options.adaptive)
        state.next_step = std::min(time_options.step, first_aarseth_step(state.motion, time_options.eta));
    state.initial_energy.reset();
    set_grid();
}

void Simulation::Impl::replace(std::vector<double> Bodies::*array, std::string_view name,
                               std::span<const double> values, const std::function<bool()>& stop_requested) {
    propagator->update_motion();
    auto& motion = state.motion;
    const auto expected = (motion.bodies.*array).size();
    if (values.size() != expected)
        throw InvalidArgument(fmt::format("{}: {} numbers for {} bodies; there must be {}", name,
                                          values.size(), motion.bodies.size(), expected));
    const MotionState before = motion;
    // Arrays keep their places: there are views of them.
    const auto copy = [](std::span<const double> from, std::vector<double>& to) {
        std::copy(from.begin(), from.end(), to.begin());
    };
    try {
        copy(values, motion.bodies.*array);
        motion.bodies.validate();
        evaluate_anew(stop_requested);
    } catch (...) {
        copy(before.bodies.*array, motion.bodies.*array);
        copy(before.bodies.velocity, motion.bodies.velocity); // of vortices it follows from the places
        copy(before.acceleration, motion.acceleration);
        copy(before.jerk, motion.jerk);
        motion.timescale = before.timescale;
        motion.frame = before.frame;
        motion.force = before.force;
        throw;
    }
}

void Simulation::Impl::replace_time_options(const TimeOptions& options) {
    check_time(options, state.time);
    if (options.integrator != time_options.integrator)
        throw InvalidArgument(fmt::format("the integrator of a simulation stays \"{}\"; make a new one from "
                                          "its bodies for \"{}\"",
                                          name_of(time_options.integrator), name_of(options.integrator)));
    if (options.adaptive && !time_options.adaptive)
        state.next_step = first_aarseth_step(state.motion, options.eta);
    else if (options.adaptive)
        state.next_step *= std::sqrt(options.eta / time_options.eta); // as the criterion does
    state.next_step = std::min(options.step, options.adaptive ? state.next_step : options.step);
    time_options = options;
    state.anchor_step = state.step;
    state.anchor_time = state.time;
    set_grid();
}

void Simulation::set_positions(std::span<const double> positions,
                               const std::function<bool()>& stop_requested) {
    impl_->replace(&Bodies::position, "positions", positions, stop_requested);
}

void Simulation::set_velocities(std::span<const double> velocities,
                                const std::function<bool()>& stop_requested) {
    if (kernel_info(impl_->force.kernel).moves_vortices())
        throw InvalidArgument(
            "velocities: vortices move with the flow, which their places decide; set positions");
    impl_->replace(&Bodies::velocity, "velocities", velocities, stop_requested);
}

void Simulation::set_time_options(const TimeOptions& options) { impl_->replace_time_options(options); }

} // namespace farfield
