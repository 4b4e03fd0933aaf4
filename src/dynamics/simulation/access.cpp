// What others see of a simulation beside its public face: steps in batches, moments for files, and the
// complete state for checkpoints.
#include "dynamics/bodies/diagnostics.h"
#include "dynamics/simulation/impl.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

// Steps queued on a GPU in one go: long enough for nothing to be lost between them, short enough for Ctrl-C.
constexpr double batch_seconds = 0.05;
constexpr double longest_batch = 5.0; // also while files are written
constexpr double largest_batch = 262144.0;

} // namespace

void Simulation::Impl::take_steps(std::uint64_t steps) {
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
void Simulation::Impl::update_host() {
    if (!gpu || host_is_current) return;
    gpu->capture(false);
    state.frame = gpu->fetch(state.motion).frame;
    host_is_current = true;
}

Diagnostics Simulation::Impl::with_error(Diagnostics row) {
    if (!state.initial_energy) state.initial_energy = row.total;
    row.relative_energy_error = relative_energy_error(row.total, *state.initial_energy);
    return row;
}

Diagnostics Simulation::Impl::row_of(const cuda::Moment& moment, double time) {
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

void Simulation::Impl::begin_moment(bool row) {
    mark = {.step = state.step, .time = state.time, .finished = finished(), .row = row};
    if (gpu) gpu->capture(row);
}

SimulationMoment Simulation::Impl::finish_moment() {
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

SimulationState SimulationAccess::capture(const Simulation& simulation) {
    simulation.impl_->update_host();
    return simulation.impl_->state;
}

ForceBackend SimulationAccess::backend(const Simulation& simulation) {
    const auto& impl = *simulation.impl_;
    return impl.gpu ? impl.gpu->backend() : impl.forces.backend();
}

std::uint64_t SimulationAccess::stride(const Simulation& simulation, double seconds) {
    const auto& impl = *simulation.impl_;
    if (!impl.gpu) return 1;
    const double worth = std::clamp(seconds, batch_seconds, longest_batch) / impl.gpu->seconds_per_step();
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
