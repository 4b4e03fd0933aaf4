// Small systems with known motion, for the tests of the dynamics.
#pragma once

#include <farfield/simulation.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace farfield::test {

inline Bodies make(std::vector<double> position, std::vector<double> velocity, std::vector<double> mass) {
    Bodies bodies;
    bodies.position = std::move(position);
    bodies.velocity = std::move(velocity);
    bodies.mass = std::move(mass);
    for (std::uint64_t i = 1; i <= bodies.mass.size(); ++i) bodies.id.push_back(i);
    return bodies;
}

/// Relative motion of two bodies on an ellipse, r = r₁ − r₂ with μ = G(m₁ + m₂) (or −k q₁q₂(1/m₁ + 1/m₂) for
/// charges), from Kepler's equation in long double. Pericentre at t = 0 on the +x axis.
struct KeplerOrbit {
    long double mu;
    long double a;
    long double e;

    struct Point {
        long double x, y, vx, vy;
    };
    [[nodiscard]] long double period() const {
        return 2 * std::numbers::pi_v<long double> * std::sqrt(a * a * a / mu);
    }
    [[nodiscard]] Point at(long double t) const {
        const long double n = std::sqrt(mu / (a * a * a));
        long double E = n * t;
        for (int i = 0; i < 100; ++i) E -= (E - e * std::sin(E) - n * t) / (1 - e * std::cos(E));
        const long double b = std::sqrt(1 - e * e);
        const long double rate = n / (1 - e * std::cos(E));
        return {a * (std::cos(E) - e), a * b * std::sin(E), -a * std::sin(E) * rate,
                a * b * std::cos(E) * rate};
    }
};

/// Two bodies on that orbit about their common centre of mass at rest, at time t.
inline Bodies two_bodies(const KeplerOrbit& orbit, double m1, double m2, double t = 0.0) {
    const auto p = orbit.at(t);
    const long double f1 = m2 / (static_cast<long double>(m1) + m2);
    const long double f2 = f1 - 1;
    const auto d = [](long double value) { return static_cast<double>(value); };
    return make({d(f1 * p.x), d(f1 * p.y), 0, d(f2 * p.x), d(f2 * p.y), 0},
                {d(f1 * p.vx), d(f1 * p.vy), 0, d(f2 * p.vx), d(f2 * p.vy), 0}, {m1, m2});
}

/// The figure-eight choreography of three equal masses (Chenciner & Montgomery 2000; digits by C. Simó).
constexpr double figure_eight_period = 6.32591398;
inline Bodies figure_eight() {
    const double x = 0.97000436;
    const double y = 0.24308753;
    const double vx = 0.93240737;
    const double vy = 0.86473146;
    return make({x, -y, 0, -x, y, 0, 0, 0, 0}, {vx / 2, vy / 2, 0, vx / 2, vy / 2, 0, -vx, -vy, 0},
                {1, 1, 1});
}

/// Bodies uniform in a ball of radius 1 with random velocities, total mass 1. Not for accuracy claims about
/// clusters: only some crowd of a given size.
inline Bodies crowd(int n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 * 2.0 - 1.0; };
    std::vector<double> x;
    std::vector<double> v;
    std::vector<double> m;
    while (static_cast<int>(m.size()) < n) {
        const double p[3] = {uniform(), uniform(), uniform()};
        if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] > 1.0) continue;
        x.insert(x.end(), p, p + 3);
        for (int k = 0; k < 3; ++k) v.push_back(0.5 * uniform());
        m.push_back((1.0 + 0.5 * uniform()) / n);
    }
    return make(std::move(x), std::move(v), std::move(m));
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
}

/// Σ m |x × v|: what the rounding of an angular momentum is measured by.
inline double angular_scale(const Bodies& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < b.mass.size(); ++i) {
        const double* x = &b.position[3 * i];
        const double* v = &b.velocity[3 * i];
        const double l[3] = {x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]};
        sum += b.mass[i] * std::sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
    }
    return sum;
}

} // namespace farfield::test
