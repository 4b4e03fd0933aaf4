// The complete state of a simulation, for checkpoints: a simulation restored from it takes the same steps,
// bit for bit, as the one it was captured from.
#pragma once

#include "dynamics/forces.h"
#include "dynamics/integrators/integrator.h"

#include <farfield/simulation.h>

#include <cstdint>
#include <optional>

namespace farfield {

struct SimulationState {
    MotionState motion;
    std::uint64_t step = 0;
    double time = 0.0;
    // Fixed steps: t = anchor_time + (step − anchor_step)·dt. The anchor moves only where a shortened last
    // step left the grid and the run is continued to a later end.
    std::uint64_t anchor_step = 0;
    double anchor_time = 0.0;
    double next_step = 0.0; ///< length of the next step before it is cut at the end
    std::optional<double> initial_energy;
};

struct SimulationAccess {
    static SimulationState capture(const Simulation& simulation);
    /// A simulation that continues from `state`. The accelerations are evaluated once more, to know the
    /// backend.
    /// @throws BackendUnavailable where this machine does not reproduce the accelerations of the state.
    static Simulation restore(SimulationState state, const ForceOptions& force, const TimeOptions& time);
    static const ForceBackend& backend(const Simulation& simulation);
};

} // namespace farfield
