// What takes a simulation forward in time: an integrator together with the forces it asks for, on one kind of
// device. make_propagator chooses which, once; a simulation does not know which it has.
#pragma once

#include "dynamics/forces/forces.h"
#include "dynamics/integrators/integrator.h"

#include <farfield/error.h>
#include <farfield/simulation.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// Steps of one length.
struct Steps {
    std::uint64_t count = 0;
    double length = 0.0;
    std::uint64_t before = 0; ///< steps taken before these, for messages
    double start = 0.0;       ///< time at which they start, for messages
};

/// Moves one MotionState, `motion`, which outlives it. Steps may still be under way when `advance` returns;
/// then the arrays of `motion` are of an earlier state until `fetch` or `update_motion`.
class Propagator {
public:
    Propagator() = default;
    Propagator(const Propagator&) = delete;
    Propagator& operator=(const Propagator&) = delete;
    virtual ~Propagator() = default;

    /// From now on `advance` and `fetch` of many bodies ask now and then, and where `stop_requested` says so
    /// throw `Interrupted`: `motion` is then that before the first of the steps that were not finished.
    /// Propagators that return soon do not ask. Empty: never.
    virtual void watch(const std::function<bool()>& /*stop_requested*/) {}

    /// Takes or queues steps.
    /// @throws InvalidArgument naming step and body where an acceleration is not finite: of these steps, or
    /// of
    ///         earlier ones that were under way; DeviceError; Interrupted.
    virtual void advance(const Steps& steps) = 0;

    /// Marks the present state, to be fetched; with energies and momenta where `diagnostics`.
    virtual void capture(bool diagnostics) = 0;
    /// Brings the captured state into `motion`, waiting for it if need be. Its diagnostics, if they were
    /// asked for, lack the time and the energy error; with a tolerance that is missed, the last step is taken
    /// again first, with motion.force as it then is. Throws as `advance` does; ToleranceNotReached.
    virtual std::optional<Diagnostics> fetch() = 0;
    /// True if steps may be taken between `capture` and `fetch`.
    [[nodiscard]] virtual bool overlaps() const = 0;
    /// Brings the present state into `motion`. Throws as `advance` does.
    virtual void update_motion() = 0;
    /// Lets go of what this rank need not have of `motion`, as PropagatorOptions::releases says. Called by
    /// all ranks.
    virtual void release() {}

    /// Steps worth taking in one go, at least 1, by a caller that has other things to do for `seconds`.
    [[nodiscard]] virtual std::uint64_t batch(double seconds) const = 0;

    /// The backend of the last accelerations.
    [[nodiscard]] virtual ForceBackend backend() const = 0;
    /// Directed pairs evaluated, and seconds spent in forces, since construction.
    [[nodiscard]] virtual double pairs() const = 0;
    [[nodiscard]] virtual double seconds() const = 0;
    /// What the caller should know: why not on a GPU, a precision that is not used.
    [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

struct PropagatorOptions {
    ForceOptions force;
    Integrator integrator = Integrator::leapfrog;
    double steps = 0.0; ///< of the whole run, about: decides whether a GPU is worth its start
    /// motion.frame and motion.force are those of an earlier process, which has compared its start.
    bool continues = false;
    std::function<bool()> stop_requested{}; ///< asked in the first evaluation of many bodies on the CPU
    /// Ranks may have bodies of their own alone, and rank 0 all, until `update_motion`: nobody has views of
    /// them.
    bool releases = false;
};

/// The propagator that suits these options. It has evaluated the accelerations of `motion` once, and compared
/// them where there is a tolerance; where it releases bodies, rank 0 alone has them. Where motion.force is
/// not settled yet, it is.
/// @throws ToleranceNotReached; InvalidArgument for options and bodies that are not allowed, naming them;
/// BackendUnavailable for a
///         device that is not there; DeviceError; Interrupted.
std::unique_ptr<Propagator> make_propagator(const PropagatorOptions& options, MotionState& motion);

/// What went wrong in a step, counted from 1, that starts at `time`.
InvalidArgument error_in_step(std::uint64_t step, double time, std::string_view what);

/// Calls step(length) as often as `steps` says. @throws InvalidArgument that names the step which fails.
template <class Step>
void take_steps(const Steps& steps, const Step& step) {
    for (std::uint64_t k = 0; k < steps.count; ++k) {
        try {
            step(steps.length);
        } catch (const InvalidArgument& error) {
            throw error_in_step(steps.before + k + 1, steps.start + static_cast<double>(k) * steps.length,
                                error.what());
        }
    }
}

} // namespace farfield
