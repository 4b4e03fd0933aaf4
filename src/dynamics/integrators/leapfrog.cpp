// Leapfrog in kick-drift-kick form: v += a dt/2, x += v dt, a = a(x), v += a dt/2.
#include "dynamics/forces/forces.h"
#include "dynamics/integrators/integrator.h"
#include "dynamics/integrators/motion_formulas.h"

namespace farfield {
namespace {

void add_scaled(std::vector<double>& y, double h, const std::vector<double>& x) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = farfield::add_scaled(y[i], h, x[i]);
}

} // namespace

void start_with_accelerations(MotionState& state, Forces& forces) {
    forces.accelerations(state.bodies, state.bodies.position, state.acceleration);
}

void kick_drift_kick(MotionState& state, Forces& forces, double dt) {
    add_scaled(state.bodies.velocity, 0.5 * dt, state.acceleration);
    add_scaled(state.bodies.position, dt, state.bodies.velocity);
    forces.accelerations(state.bodies, state.bodies.position, state.acceleration);
    add_scaled(state.bodies.velocity, 0.5 * dt, state.acceleration);
}

const IntegratorDescriptor& leapfrog_descriptor() {
    static constexpr IntegratorDescriptor descriptor{
        .value = Integrator::leapfrog,
        .name = "leapfrog",
        .order = 2,
        .symplectic = true,
        .uses_jerk = false,
        .on_gpu = true,
        .evaluations = 1,
        .text = "kick-drift-kick leapfrog: order 2, symplectic, one force evaluation a step",
        .start = start_with_accelerations,
        .step = kick_drift_kick};
    return descriptor;
}

} // namespace farfield
