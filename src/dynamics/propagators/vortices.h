// Vortices that move with their flow, by the classical Runge-Kutta method, on the host. With viscosity their
// cores spread on the way: σ² = σ₀² + 2νt. A step in which they grow as far as the options let them ends with
// others in their place (vorticity/reinitialise.h).
#pragma once

#include "dynamics/forces/vortex_flow.h"
#include "dynamics/propagators/propagator.h"

namespace farfield {

class VortexPropagator final : public Propagator {
public:
    /// `force`: that of the options with its precision and method settled; motion.core_variance is set.
    VortexPropagator(const PropagatorOptions& options, const ForceOptions& force, MotionState& motion);

    void watch(const std::function<bool()>& stop_requested) override;
    void advance(const Steps& steps) override;
    void capture(bool diagnostics) override { with_diagnostics_ = diagnostics; }
    std::optional<Diagnostics> fetch() override;
    [[nodiscard]] bool overlaps() const override { return false; }
    void update_motion() override {} // it is always that of the last step
    [[nodiscard]] std::uint64_t batch(double /*seconds*/) const override { return 1; }
    [[nodiscard]] ForceBackend backend() const override { return flow_.backend(); }
    [[nodiscard]] double pairs() const override { return flow_.pairs(); }
    [[nodiscard]] double seconds() const override { return flow_.seconds(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

private:
    /// What a step changes.
    struct Moving {
        Bodies vortices;
        double variance = 0.0;
        Reinitialisations reinitialised;
    };

    void step(double length);
    /// Positions after a step, by the velocities at its start and three sums.
    [[nodiscard]] std::vector<double> positions_after(double length);
    [[nodiscard]] Moving placed_anew(const std::vector<double>& position, double variance);
    void evaluate();
    void move_to(const std::vector<double>& position, const std::vector<double>& velocity, double variance);
    void replace_by(Moving moving);
    [[nodiscard]] Moving moving() const;
    void take_last_step_again();
    Diagnostics checked_invariants();

    MotionState& motion_;
    VortexFlow flow_;
    /// Before the last step, where there is a tolerance.
    struct LastStep {
        Moving before;
        double length;
    };
    std::optional<LastStep> last_step_;
    std::function<bool()> stop_requested_;
    bool with_diagnostics_ = false;
    std::vector<std::string> notes_;
};

} // namespace farfield
