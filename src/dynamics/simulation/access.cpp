// What outputs and checkpoints see of a simulation beside its public face: steps in batches, states for
// files, and the complete state.
#include "backend/comm/communicator_access.h"
#include "dynamics/bodies/diagnostics.h"
#include "dynamics/simulation/impl.h"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {

void Simulation::Impl::begin_output(bool row) {
    output = {.step = state.step, .time = state.time, .finished = finished()};
    propagator->capture(row);
}

std::optional<Diagnostics> Simulation::Impl::fetch() {
    try {
        return propagator->fetch();
    } catch (const ToleranceNotReached& error) {
        throw ToleranceNotReached(fmt::format("step {}, t = {}: {}", output.step, output.time, error.what()));
    }
}

OutputState Simulation::Impl::finish_output() {
    OutputState out{.time = output.time,
                    .finished = output.finished,
                    .row = fetch(),
                    .sigma = std::sqrt(state.motion.core_variance),
                    .bodies = &state.motion.bodies};
    if (out.row) {
        out.row->time = output.time;
        out.row->step = output.step;
        if (!state.initial_energy) state.initial_energy = out.row->total;
        out.row->relative_energy_error = energy_error(*out.row);
    }
    return out;
}

double Simulation::Impl::energy_error(const Diagnostics& row) const {
    if (!row.vortices) return relative_energy_error(row.total, *state.initial_energy);
    const double scale = row.vortices->hamiltonian_scale;
    return force.viscosity > 0.0 || scale == 0.0 ? 0.0 : (row.total - *state.initial_energy) / scale;
}

SimulationState SimulationAccess::capture(const Simulation& simulation) {
    simulation.impl_->propagator->update_motion();
    return simulation.impl_->state;
}

Simulation SimulationAccess::begin(Bodies bodies, const ForceOptions& force, const TimeOptions& time,
                                   double start) {
    return Simulation(std::make_unique<Simulation::Impl>(std::move(bodies), force, time, start, nullptr,
                                                         std::function<bool()>{}, true));
}

std::int64_t SimulationAccess::body_count(const Simulation& simulation) {
    return simulation.impl_->state.motion.bodies.size();
}

ForceBackend SimulationAccess::backend(const Simulation& simulation) {
    return simulation.impl_->propagator->backend();
}

const ForceSettings& SimulationAccess::force_settings(const Simulation& simulation) {
    return simulation.impl_->state.motion.force;
}

const Reinitialisations& SimulationAccess::reinitialisations(const Simulation& simulation) {
    return simulation.impl_->state.motion.reinitialised;
}

std::uint64_t SimulationAccess::stride(const Simulation& simulation, double seconds) {
    return std::min(simulation.impl_->propagator->batch(seconds),
                    std::max<std::uint64_t>(1, simulation.steps_remaining()));
}

void SimulationAccess::advance(Simulation& simulation, std::uint64_t steps) {
    simulation.impl_->take_steps(steps);
}

double SimulationAccess::time_after(const Simulation& simulation, std::uint64_t steps) {
    const auto& impl = *simulation.impl_;
    if (impl.time_options.adaptive) return impl.state.time;
    const auto step = impl.state.step + steps;
    return step >= impl.last_step ? impl.time_options.end : impl.grid_time(step);
}

bool SimulationAccess::overlaps(const Simulation& simulation) {
    return simulation.impl_->propagator->overlaps();
}

void SimulationAccess::begin_output(Simulation& simulation, bool row) { simulation.impl_->begin_output(row); }

OutputState SimulationAccess::finish_output(Simulation& simulation) {
    return simulation.impl_->finish_output();
}

SimulationState SimulationAccess::state_of_output(const Simulation& simulation) {
    auto state = simulation.impl_->state;
    state.step = simulation.impl_->output.step;
    state.time = simulation.impl_->output.time;
    return state;
}

Simulation SimulationAccess::restore(SimulationState state, const ForceOptions& force,
                                     const TimeOptions& time) {
    Simulation simulation(std::make_unique<Simulation::Impl>(state.motion.bodies, force, time, state.time,
                                                             &state.motion, std::function<bool()>{}, true));
    auto& impl = *simulation.impl_;
    const auto differ = [&](const std::vector<double>& now, const std::vector<double>& before) {
        return !now.empty() && now != before; // none where they were released
    };
    // Where the stored accelerations belong to the stored positions, they must come out again; so must the
    // velocities of vortices.
    const bool other_accelerations = !descriptor_of(time.integrator).uses_jerk &&
                                     differ(impl.state.motion.acceleration, state.motion.acceleration);
    const bool vortices = kernel_info(force.kernel).moves_vortices();
    const bool other_velocities =
        vortices && differ(impl.state.motion.bodies.velocity, state.motion.bodies.velocity);
    if (comm::any_rank(CommunicatorAccess::transport(force.communicator),
                       other_accelerations || other_velocities))
        throw BackendUnavailable(
            "this machine or build computes accelerations whose last bits differ from those of "
            "the run so far; continue on the machine that wrote the checkpoint, or begin a new "
            "run from its last snapshot ([initial] kind = \"file\")");
    impl.state = std::move(state);
    impl.propagator->release();
    const bool on_grid = std::abs(impl.state.time - impl.grid_time(impl.state.step)) <= 1e-6 * time.step;
    if (!time.adaptive && !on_grid && impl.state.time < time.end) {
        impl.state.anchor_step = impl.state.step;
        impl.state.anchor_time = impl.state.time;
    }
    impl.set_grid();
    return simulation;
}

} // namespace farfield
