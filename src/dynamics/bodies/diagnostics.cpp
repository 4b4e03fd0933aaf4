#include "dynamics/bodies/diagnostics.h"

#include "dynamics/bodies/reductions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace farfield {
namespace {

constexpr std::array<double, 3> mass_fractions{0.1, 0.5, 0.9};
constexpr double fraction_tolerance = 1e-12;

} // namespace

// Power et al. (2003, MNRAS 338, 14): spheres that shrink around the centre of mass of what is in them.
// A body once outside stays outside.
std::array<double, 3> density_centre(const Bodies& bodies) {
    constexpr double shrinkage = 0.9;      // of the radius from one sphere to the next
    constexpr std::int64_t fewest = 100;   // bodies in the last sphere, or
    constexpr std::int64_t fraction = 100; // one of so many
    const auto n = bodies.size();
    const double* x = bodies.position.data();
    const double* m = bodies.mass.data();
    const auto distance2 = [&](std::int64_t i, const std::array<double, 3>& centre) {
        const double dx = x[3 * i] - centre[0];
        const double dy = x[3 * i + 1] - centre[1];
        const double dz = x[3 * i + 2] - centre[2];
        return dx * dx + dy * dy + dz * dz;
    };
    std::vector<std::int64_t> inside(static_cast<std::size_t>(n));
    std::iota(inside.begin(), inside.end(), std::int64_t{0});
    const auto centre_of_inside = [&](std::array<double, 3>& centre) {
        const auto count = static_cast<std::int64_t>(inside.size());
        const double mass = pairwise_sum(0, count, [&](std::int64_t i) { return m[inside[i]]; });
        if (!(mass > 0.0)) return false;
        for (int k = 0; k < 3; ++k)
            centre[k] =
                pairwise_sum(0, count, [&](std::int64_t i) { return m[inside[i]] * x[3 * inside[i] + k]; }) /
                mass;
        return true;
    };
    std::array<double, 3> centre{};
    if (!centre_of_inside(centre)) return centre;
    double radius2 = 0.0;
    for (std::int64_t i = 0; i < n; ++i) radius2 = std::max(radius2, distance2(i, centre));
    const auto enough = std::max(fewest, n / fraction);
    while (static_cast<std::int64_t>(inside.size()) > enough && radius2 > 0.0) {
        radius2 *= shrinkage * shrinkage;
        std::erase_if(inside, [&](std::int64_t i) { return distance2(i, centre) > radius2; });
        if (static_cast<std::int64_t>(inside.size()) < enough || !centre_of_inside(centre)) break;
    }
    return centre;
}

std::array<double, 3> lagrangian_radii(const Bodies& bodies) {
    std::array<double, 3> radii{};
    const auto n = bodies.size();
    const double* x = bodies.position.data();
    const double* m = bodies.mass.data();
    const double total_mass = pairwise_sum(0, n, [&](std::int64_t i) { return m[i]; });
    if (!(total_mass > 0.0)) return radii;
    const auto centre = density_centre(bodies);
    std::vector<std::pair<double, std::int64_t>> by_distance(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        const double dx = x[3 * i] - centre[0];
        const double dy = x[3 * i + 1] - centre[1];
        const double dz = x[3 * i + 2] - centre[2];
        by_distance[static_cast<std::size_t>(i)] = {dx * dx + dy * dy + dz * dz, i};
    }
    std::sort(by_distance.begin(), by_distance.end());
    double inside = 0.0;
    std::size_t next = 0;
    for (const auto& [distance2, i] : by_distance) {
        inside += m[i];
        while (next < radii.size() && inside >= (mass_fractions[next] - fraction_tolerance) * total_mass)
            radii[next++] = std::sqrt(distance2);
    }
    return radii;
}

double relative_energy_error(double energy, double initial_energy) {
    const double difference = energy - initial_energy;
    return initial_energy != 0.0 ? difference / std::abs(initial_energy) : difference;
}

double virial_ratio(double kinetic, double potential, bool periodic) {
    if (periodic) return std::nan("");
    return potential != 0.0 ? -kinetic / potential : 0.0;
}

Diagnostics compute_diagnostics(const Bodies& bodies, double time, double potential_energy, bool periodic) {
    const auto n = bodies.size();
    const double* x = bodies.position.data();
    const double* v = bodies.velocity.data();
    const double* m = bodies.mass.data();
    Diagnostics out;
    out.time = time;
    out.potential = potential_energy;
    out.kinetic =
        0.5 * pairwise_sum(0, n, [&](std::int64_t i) {
            return m[i] * (v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]);
        });
    out.total = out.kinetic + out.potential;
    for (int k = 0; k < 3; ++k)
        out.momentum[k] = pairwise_sum(0, n, [&](std::int64_t i) { return m[i] * v[3 * i + k]; });
    out.virial_ratio = virial_ratio(out.kinetic, out.potential, periodic);
    if (periodic) {
        out.angular_momentum.fill(std::nan(""));
        out.lagrangian_radii.fill(std::nan(""));
        return out;
    }
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3;
        const int b = (k + 2) % 3;
        out.angular_momentum[k] = pairwise_sum(0, n, [&](std::int64_t i) {
            return m[i] * (x[3 * i + a] * v[3 * i + b] - x[3 * i + b] * v[3 * i + a]);
        });
    }
    out.lagrangian_radii = lagrangian_radii(bodies);
    return out;
}

} // namespace farfield
