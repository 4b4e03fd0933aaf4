#include "dynamics/bodies/diagnostics.h"

#include "dynamics/bodies/radii.h"
#include "dynamics/bodies/reductions.h"

#include <cmath>

namespace farfield {

double relative_energy_error(double energy, double initial_energy) {
    const double difference = energy - initial_energy;
    return initial_energy != 0.0 ? difference / std::abs(initial_energy) : difference;
}

double virial_ratio(double kinetic, double potential, bool periodic) {
    if (periodic) return std::nan("");
    return potential != 0.0 ? -kinetic / potential : 0.0;
}

Diagnostics compute_diagnostics(const Bodies& bodies, double time, double potential_energy, bool periodic,
                                int threads) {
    const double* x = bodies.position.data();
    const double* v = bodies.velocity.data();
    const double* m = bodies.mass.data();
    Diagnostics out;
    out.time = time;
    out.potential = potential_energy;
    const auto sum = [&](const auto& term) { return pairwise_sum(threads, 0, bodies.size(), term); };
    out.kinetic =
        0.5 * sum([&](std::int64_t i) {
            return m[i] * (v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]);
        });
    out.total = out.kinetic + out.potential;
    for (int k = 0; k < 3; ++k) out.momentum[k] = sum([&](std::int64_t i) { return m[i] * v[3 * i + k]; });
    out.virial_ratio = virial_ratio(out.kinetic, out.potential, periodic);
    if (periodic) {
        out.angular_momentum.fill(std::nan(""));
        out.lagrangian_radii.fill(std::nan(""));
        return out;
    }
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3;
        const int b = (k + 2) % 3;
        out.angular_momentum[k] = sum([&](std::int64_t i) {
            return m[i] * (x[3 * i + a] * v[3 * i + b] - x[3 * i + b] * v[3 * i + a]);
        });
    }
    out.lagrangian_radii = lagrangian_radii(bodies, threads);
    return out;
}

} // namespace farfield
