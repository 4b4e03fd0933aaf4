// The inside of a simulation: a clock around a propagator. simulation.cpp is its public face, access.cpp what
// outputs and checkpoints see of it.
#pragma once

#include "dynamics/propagators/propagator.h"
#include "dynamics/simulation/state.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct Simulation::Impl {
    /// `before`: the state of an earlier process, whose frame and settled forces are taken. `releases`: as in
    /// PropagatorOptions.
    Impl(Bodies bodies, const ForceOptions& force_options, const TimeOptions& options, double start,
         const MotionState* before = nullptr, const std::function<bool()>& stop_requested = {},
         bool releases = false);

    void set_grid();
    void count_steps();
    [[nodiscard]] double grid_time(std::uint64_t step) const {
        return state.anchor_time + static_cast<double>(step - state.anchor_step) * time_options.step;
    }

    [[nodiscard]] bool finished() const {
        return time_options.adaptive ? state.time >= time_options.end : state.step >= last_step;
    }

    /// Takes at most so many steps.
    void take_steps(std::uint64_t steps);
    /// Where any rank's caller asks to stop.
    [[nodiscard]] bool is_to_stop(const std::function<bool()>& stop_requested) const;
    void fixed_steps(std::uint64_t steps);
    void fixed_steps_of(double length, std::uint64_t steps);
    void adaptive_step(double until);
    /// One step that ends at `time`, before the next one would; later steps are counted from there.
    void step_off_grid(double time);
    /// What is left of `advance_to`: a part of it that does not take long.
    void advance_towards(double time);
    void begin_output(bool row);
    OutputState finish_output();
    /// What the propagator fetches; errors tell step and time.
    std::optional<Diagnostics> fetch();
    /// Of a row of this simulation, against its first.
    [[nodiscard]] double energy_error(const Diagnostics& row) const;

    /// Evaluates everything that follows from the bodies anew, by a new propagator.
    void evaluate_anew(const std::function<bool()>& stop_requested);
    /// Puts `values` into positions or velocities, or leaves everything as it was.
    void replace(std::vector<double> Bodies::*array, std::string_view name, std::span<const double> values,
                 const std::function<bool()>& stop_requested);
    void replace_time_options(const TimeOptions& options);

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
    bool last_is_whole = true; ///< the last step is as long as the others
    std::vector<std::string> notes;
    // Of the propagators before the present one.
    double earlier_pairs = 0.0;
    double earlier_seconds = 0.0;
};

/// @throws InvalidArgument naming the option that is not allowed for bodies at the time `start`.
void check_time(const TimeOptions& options, double start);

} // namespace farfield
