// The complete state of a simulation, for checkpoints: a simulation restored from it takes the same steps,
// bit for bit, as the one it was captured from.
#pragma once

#include "dynamics/forces/forces.h"
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

/// A simulation as it was at one time, for files that are written while a GPU steps on.
struct OutputState {
    double time = 0.0;
    bool finished = false;
    std::optional<Diagnostics> row;
    double sigma = 0.0;             ///< of the cores of vortices
    const Bodies* bodies = nullptr; ///< as they were; valid until the simulation is asked for anything else
};

struct SimulationAccess {
    /// Called by all ranks.
    static SimulationState capture(const Simulation& simulation);

    /// A simulation of which rank 0 alone has all bodies, where ranks have their own, until they are asked
    /// for.
    static Simulation begin(Bodies bodies, const ForceOptions& force, const TimeOptions& time, double start);
    /// Of all ranks, on rank 0.
    static std::int64_t body_count(const Simulation& simulation);

    /// Steps worth queueing in one go, at least 1: on GPUs as many as take a twentieth of a second, or the
    /// `seconds` that the host has other things to do.
    static std::uint64_t stride(const Simulation& simulation, double seconds = 0.0);
    /// Takes at most `steps` steps; on GPUs they may still be under way at return.
    static void advance(Simulation& simulation, std::uint64_t steps);
    /// The time after so many steps more (1 with adaptive steps is the present time).
    static double time_after(const Simulation& simulation, std::uint64_t steps);
    /// True where steps may be queued between begin_output and finish_output.
    static bool overlaps(const Simulation& simulation);
    /// Marks the present state, with diagnostics where `row`.
    static void begin_output(Simulation& simulation, bool row);
    static OutputState finish_output(Simulation& simulation);
    /// The complete state at the time of the output just finished.
    static SimulationState state_of_output(const Simulation& simulation);

    /// The same that continues from `state`. The accelerations are evaluated once more, to know the
    /// backend.
    /// @throws BackendUnavailable where this machine does not reproduce the accelerations of the state.
    static Simulation restore(SimulationState state, const ForceOptions& force, const TimeOptions& time);
    static ForceBackend backend(const Simulation& simulation);
    /// Those of the output finished last.
    static const ForceSettings& force_settings(const Simulation& simulation);
    static const Reinitialisations& reinitialisations(const Simulation& simulation);
};

} // namespace farfield
