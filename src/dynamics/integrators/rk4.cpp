// The classical Runge-Kutta method of order 4 for x' = v, v' = a(x). Of bodies it needs no derivative beyond
// accelerations, but neither keeps energy over long times nor runs back to its start, as symplectic ones do.
// Vortices, whose equation is of first order, have steps of their own (propagators/vortices.cpp).
#include "dynamics/forces/forces.h"
#include "dynamics/integrators/integrator.h"

namespace farfield {
namespace {

using Values = std::vector<double>;

Values moved(const Values& from, double length, const Values& rate) {
    Values out(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) out[i] = from[i] + length * rate[i];
    return out;
}

// from += h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)
void add_stages(Values& from, double h, const Values& first, const Values& second, const Values& third,
                const Values& fourth) {
    for (std::size_t i = 0; i < from.size(); ++i)
        from[i] += h / 6.0 * ((first[i] + fourth[i]) + 2.0 * (second[i] + third[i]));
}

void rk4_step(MotionState& state, Forces& forces, double dt) {
    auto& bodies = state.bodies;
    const Values v1 = bodies.velocity;
    const Values a1 = state.acceleration;
    Values a2, a3, a4;
    const auto v2 = moved(v1, 0.5 * dt, a1);
    forces.accelerations(bodies, moved(bodies.position, 0.5 * dt, v1), a2);
    const auto v3 = moved(v1, 0.5 * dt, a2);
    forces.accelerations(bodies, moved(bodies.position, 0.5 * dt, v2), a3);
    const auto v4 = moved(v1, dt, a3);
    forces.accelerations(bodies, moved(bodies.position, dt, v3), a4);
    add_stages(bodies.position, dt, v1, v2, v3, v4);
    add_stages(bodies.velocity, dt, a1, a2, a3, a4);
    forces.accelerations(bodies, bodies.position, state.acceleration);
}

} // namespace

const IntegratorDescriptor& rk4_descriptor() {
    static constexpr IntegratorDescriptor descriptor{
        .value = Integrator::rk4,
        .name = "rk4",
        .order = 4,
        .symplectic = false,
        .uses_jerk = false,
        .on_gpu = false,
        .evaluations = 4,
        .text = "classical Runge-Kutta: order 4, four force evaluations a step; vortices take it",
        .start = start_with_accelerations,
        .step = rk4_step};
    return descriptor;
}

} // namespace farfield
