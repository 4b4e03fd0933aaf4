// The side of a simulation that lives on GPUs: steps are queued there, and the host's arrays follow on
// demand.
#pragma once

#include "dynamics/cuda/device_motion.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/forces/forces.h"
#include "dynamics/integrators/integrator.h"

#include <farfield/simulation.h>

#include <cstdint>

namespace farfield {

class GpuSide {
public:
    /// Evaluates the accelerations of `motion` in `frame` and brings them to the host.
    /// @throws InvalidArgument for bodies whose accelerations are not finite; BackendUnavailable,
    /// DeviceError.
    GpuSide(const Place& place, const ForceOptions& force, Integrator integrator, MotionState& motion,
            const Frame& frame);

    /// Queues steps of length `dt`.
    void advance(std::uint64_t steps, double dt) { motion_.advance(steps, dt); }
    void capture(bool diagnostics) { motion_.capture(diagnostics); }
    /// Waits for the captured moment and copies it into `motion`. Returns it for the rest.
    /// @throws InvalidArgument where an evaluation up to it was not finite.
    const cuda::Moment& fetch(MotionState& motion);
    /// Throws as `fetch` does for a failure that has already shown.
    void check(MotionState& motion);

    [[nodiscard]] ForceBackend backend() const;
    [[nodiscard]] double pairs() const;
    [[nodiscard]] double seconds() const { return motion_.seconds(); }
    /// Of the last steps measured, a guess before any were.
    [[nodiscard]] double seconds_per_step() const;
    [[nodiscard]] const cuda::DeviceMotion& motion() const { return motion_; }

    /// Where the steps of this object begin, for messages.
    void count_from(std::uint64_t step, double time, double length) {
        first_step_ = step;
        first_time_ = time;
        length_ = length;
    }

private:
    [[noreturn]] void refuse(std::uint64_t evaluation, MotionState& motion);

    cuda::DeviceMotion motion_;
    Precision precision_;
    std::uint64_t evaluations_a_step_;
    double bodies_;
    std::uint64_t first_step_ = 0;
    double first_time_ = 0.0, length_ = 0.0;
};

} // namespace farfield
