// Steps taken by an integrator on the host, with forces from any method of sums.
#pragma once

#include "dynamics/propagators/propagator.h"

namespace farfield {

/// The diagnostics of bodies with such an energy, but for the time and the energy error.
Diagnostics diagnostics_of(const Bodies& bodies, const CheckedEnergy& energy, const ForceOptions& force);

class HostPropagator final : public Propagator {
public:
    /// `force`: that of the options with its method settled. `note`: what is to be said of the choice of the
    /// CPU, or empty. `rows`: those that the bodies of `motion` are, of all ranks' bodies; they outlive it.
    HostPropagator(const PropagatorOptions& options, const ForceOptions& force, MotionState& motion,
                   std::string note, const BodyRows& rows = BodyRows::all_of_them());

    void watch(const std::function<bool()>& stop_requested) override;
    void advance(const Steps& steps) override;
    void capture(bool diagnostics) override { with_diagnostics_ = diagnostics; }
    std::optional<Diagnostics> fetch() override;
    [[nodiscard]] bool overlaps() const override { return false; }
    void update_motion() override {} // it is always that of the last step
    [[nodiscard]] std::uint64_t batch(double /*seconds*/) const override { return 1; }
    [[nodiscard]] ForceBackend backend() const override { return forces_.backend(); }
    [[nodiscard]] double pairs() const override { return forces_.pairs(); }
    [[nodiscard]] double seconds() const override { return forces_.seconds(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

    /// As Forces::homes.
    [[nodiscard]] Homes homes() const { return forces_.homes(); }
    /// Of the present state; with a tolerance that is missed, the last step is taken again first.
    CheckedEnergy checked_energy();

private:
    void step(double length);
    /// By the integrator; bodies that have left a periodic box come back on the other side.
    void move(double length);
    void take_last_step_again();

    const IntegratorDescriptor& scheme_;
    MotionState& motion_;
    Forces forces_;
    MotionState
        before_; ///< the step, while it may be given up or taken again; without masses, charges and ids
    std::optional<double> last_length_; ///< of the step after `before_`
    std::function<bool()> stop_requested_;
    bool with_diagnostics_ = false;
    std::vector<std::string> notes_;
};

} // namespace farfield
