// The inside of a simulation: a clock around a propagator. simulation.cpp is its public face, access.cpp what
// outputs and checkpoints see of it.
#pragma once

#include "dynamics/propagators/propagator.h"
#include "dynamics/simulation/state.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace farfield {

struct Simulation::Impl {
    /// `frame`: that of accelerations known from an earlier process; otherwise chosen from the bodies.
    Impl(Bodies bodies, const ForceOptions& force_options, const TimeOptions& options, double start,
         const Frame* frame = nullptr);

    void set_grid();
    [[nodiscard]] double grid_time(std::uint64_t step) const {
        return state.anchor_time + static_cast<double>(step - state.anchor_step) * time_options.step;
    }

    [[nodiscard]] bool finished() const {
        return time_options.adaptive ? state.time >= time_options.end : state.step >= last_step;
    }

    /// Takes at most so many steps.
    void take_steps(std::uint64_t steps);
    void fixed_steps(std::uint64_t steps);
    void fixed_steps_of(double length, std::uint64_t steps);
    void adaptive_step();
    void begin_output(bool row);
    OutputState finish_output();

    ForceOptions force;
    TimeOptions time_options;
    SimulationState state;
    std::unique_ptr<Propagator> propagator; ///< of state.motion
    struct {
        std::uint64_t step = 0;
        double time = 0.0;
        bool finished = false;
    } output; ///< the state captured last
    std::uint64_t last_step = 0;
    double last_length = 0.0;
    std::vector<std::string> notes;
};

} // namespace farfield
