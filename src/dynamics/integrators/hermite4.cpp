// The Hermite predictor-corrector, P(EC)¹ (J. Makino & S. J. Aarseth 1992, PASJ 44, 141, section 2): predict
// with the acceleration a and its derivative j, evaluate both at the predicted place, fit the cubic through
// (a, j) at both ends for the second and third derivative of a, correct with these. The step criterion is
// that of S. J. Aarseth 1985 (in Multiple Time Scales, ed. Brackbill & Cohen, p. 377).
#include "dynamics/forces/forces.h"
#include "dynamics/integrators/integrator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield {
namespace {

double norm(const double* v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

void hermite4_start(MotionState& state, Forces& forces) {
    forces.accelerations_and_jerks(state.bodies, state.bodies.position, state.bodies.velocity,
                                   state.acceleration, state.jerk);
}

// (|a||a²| + |j|²) / (|j||a³| + |a²|²) under a root, with derivatives of the end of the step; infinite for a
// body that feels nothing.
double timescale_of(const double* a, const double* j, const double* snap, const double* crackle) {
    const double numerator = norm(a) * norm(snap) + norm(j) * norm(j);
    const double denominator = norm(j) * norm(crackle) + norm(snap) * norm(snap);
    return denominator > 0.0 ? std::sqrt(numerator / denominator) : std::numeric_limits<double>::infinity();
}

void hermite4_step(MotionState& state, Forces& forces, double dt) {
    auto& x = state.bodies.position;
    auto& v = state.bodies.velocity;
    const auto a0 = state.acceleration;
    const auto j0 = state.jerk;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] += dt * (v[i] + dt * (a0[i] / 2.0 + dt * (j0[i] / 6.0)));
        v[i] += dt * (a0[i] + dt * (j0[i] / 2.0));
    }
    forces.accelerations_and_jerks(state.bodies, x, v, state.acceleration, state.jerk);
    const auto& a1 = state.acceleration;
    const auto& j1 = state.jerk;
    state.timescale = std::numeric_limits<double>::infinity();
    for (std::size_t body = 0; body < x.size(); body += 3) {
        double snap[3];
        double crackle[3];
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t i = body + k;
            const double da = a0[i] - a1[i];
            const double dj_snap = dt * (4.0 * j0[i] + 2.0 * j1[i]);
            // Derivatives at the start of the step, times dt² and dt³: no division that could overflow.
            const double snap_dt2 = -6.0 * da - dj_snap;
            const double crackle_dt3 = 12.0 * da + 6.0 * dt * (j0[i] + j1[i]);
            x[i] += dt * dt * (snap_dt2 / 24.0 + crackle_dt3 / 120.0);
            v[i] += dt * (snap_dt2 / 6.0 + crackle_dt3 / 24.0);
            snap[k] = (snap_dt2 + crackle_dt3) / (dt * dt);
            crackle[k] = crackle_dt3 / (dt * dt * dt);
        }
        state.timescale = std::min(state.timescale, timescale_of(&a1[body], &j1[body], snap, crackle));
    }
}

} // namespace

double aarseth_step(const MotionState& state, double eta) { return std::sqrt(eta) * state.timescale; }

double first_aarseth_step(const MotionState& state, double eta) {
    double timescale = std::numeric_limits<double>::infinity();
    for (std::size_t body = 0; body < state.acceleration.size(); body += 3) {
        const double jerk = norm(&state.jerk[body]);
        if (jerk > 0.0) timescale = std::min(timescale, norm(&state.acceleration[body]) / jerk);
    }
    return eta * timescale;
}

const IntegratorDescriptor& hermite4_descriptor() {
    static constexpr IntegratorDescriptor descriptor{
        .value = Integrator::hermite4,
        .name = "hermite4",
        .order = 4,
        .symplectic = false,
        .uses_jerk = true,
        .on_gpu = false,
        .evaluations = 1,
        .text =
            "Hermite predictor-corrector with jerks: order 4, one evaluation a step, optional adaptive step",
        .start = hermite4_start,
        .step = hermite4_step};
    return descriptor;
}

} // namespace farfield
