// The inside of a simulation: the clock (simulation.cpp), and moments for files, which on GPUs are seen while
// the next steps are under way (simulation_moments.cpp).
#pragma once

#include "dynamics/propagators/device_choice.h"
#include "dynamics/propagators/resident.h"
#include "dynamics/simulation/state.h"

#include <optional>
#include <string>
#include <vector>

namespace farfield {

struct Simulation::Impl {
    /// `frame`: that of accelerations known from an earlier process; otherwise chosen from the bodies.
    Impl(Bodies bodies, const ForceOptions& force, const TimeOptions& options, double start,
         const Frame* frame = nullptr);

    void set_grid();
    [[nodiscard]] double grid_time(std::uint64_t step) const {
        return state.anchor_time + static_cast<double>(step - state.anchor_step) * time_options.step;
    }

    [[nodiscard]] bool finished() const {
        return time_options.adaptive ? state.time >= time_options.end : state.step >= last_step;
    }

    void fixed_step();
    void adaptive_step();
    /// On GPUs: queues at most so many steps.
    void take_steps(std::uint64_t steps);
    /// Brings the present moment into the host's arrays.
    void update_host();
    void begin_moment(bool row);
    SimulationMoment finish_moment();
    Diagnostics with_error(Diagnostics row);
    Diagnostics row_of(const cuda::Moment& moment, double time);

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

} // namespace farfield
