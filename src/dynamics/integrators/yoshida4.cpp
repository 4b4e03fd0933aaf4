// Yoshida's composition of three leapfrog steps (H. Yoshida 1990, Phys. Lett. A 150, 262, section 2):
// steps w₁dt, w₀dt, w₁dt with w₁ = 1/(2 − 2^{1/3}), w₀ = −2^{1/3} w₁ cancel the error of third order.
#include "dynamics/integrators/integrator.h"
#include "dynamics/integrators/motion_formulas.h"

namespace farfield {
namespace {

void yoshida4_step(MotionState& state, Forces& forces, double dt) {
    kick_drift_kick(state, forces, yoshida_outer * dt);
    kick_drift_kick(state, forces, yoshida_inner * dt);
    kick_drift_kick(state, forces, yoshida_outer * dt);
}

} // namespace

const IntegratorDescriptor& yoshida4_descriptor() {
    static constexpr IntegratorDescriptor descriptor{
        .value = Integrator::yoshida4,
        .name = "yoshida4",
        .order = 4,
        .symplectic = true,
        .uses_jerk = false,
        .on_gpu = true,
        .evaluations = 3,
        .text =
            "Yoshida's composition of three leapfrogs: order 4, symplectic, three force evaluations a step",
        .start = start_with_accelerations,
        .step = yoshida4_step};
    return descriptor;
}

} // namespace farfield
