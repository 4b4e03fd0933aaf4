#include "dynamics/initial/king_profile.h"

#include <cmath>

namespace farfield {
namespace {

// W, the mass −x²W′ and the potential energy −∫ M dM/x.
struct State {
    double w;
    double mass;
    double energy;
};

struct Equation {
    double central_density;

    [[nodiscard]] State derivative(double x, const State& s) const {
        const double mass_rate = 9.0 * x * x * (king_density(s.w) / central_density);
        return {-s.mass / (x * x), mass_rate, -s.mass * mass_rate / x};
    }

    // The classical Runge–Kutta step.
    [[nodiscard]] State step(double x, const State& s, double h) const {
        const auto moved = [&](const State& d, double by) {
            return State{s.w + by * d.w, s.mass + by * d.mass, s.energy + by * d.energy};
        };
        const State k1 = derivative(x, s);
        const State k2 = derivative(x + 0.5 * h, moved(k1, 0.5 * h));
        const State k3 = derivative(x + 0.5 * h, moved(k2, 0.5 * h));
        const State k4 = derivative(x + h, moved(k3, h));
        const auto mean = [&](double a, double b, double c, double d) {
            return h / 6.0 * (a + 2.0 * (b + c) + d);
        };
        return {s.w + mean(k1.w, k2.w, k3.w, k4.w), s.mass + mean(k1.mass, k2.mass, k3.mass, k4.mass),
                s.energy + mean(k1.energy, k2.energy, k3.energy, k4.energy)};
    }
};

} // namespace

double king_density(double w) {
    if (!(w > 0.0)) return 0.0;
    // (2/√π) Σ_{k≥2} 2^k W^(k+1/2)/(2k+1)!!; the first two terms of the series of e^W erf √W cancel the rest
    // of ρ.
    double term = 4.0 / 15.0 * w * w * std::sqrt(w);
    double sum = 0.0;
    for (int k = 3; term > sum * 1e-17; ++k) {
        sum += term;
        term *= 2.0 * w / (2.0 * k + 1.0);
    }
    return 1.1283791670955126 * sum;
}

KingProfile king_profile(double w0) {
    const Equation equation{king_density(w0)};
    KingProfile profile;
    const auto keep = [&](double x, const State& s) {
        profile.x.push_back(x);
        profile.w.push_back(s.w);
        profile.mass.push_back(s.mass);
    };
    keep(0.0, {w0, 0.0, 0.0});
    // Near the centre the density is constant: W = W₀ − 3/2 x², mass 3x³. The first x is so small (against
    // √W₀, too) that the next terms do not count.
    double x = 1e-4 * std::sqrt(w0 < 1.0 ? w0 : 1.0);
    State state{w0 - 1.5 * x * x, 3.0 * x * x * x, -9.0 / 5.0 * x * x * x * x * x};
    keep(x, state);
    while (true) {
        // Steps follow the radius, and near the centre the scale √W₀ on which W falls.
        double h = 0.01 * (x < 0.1 ? x + 0.01 * (w0 < 1.0 ? std::sqrt(w0) : 1.0) : x);
        State next = equation.step(x, state, h);
        if (next.w <= 0.0) {
            // The edge: halve the interval of step lengths that ends there.
            double inside = 0.0;
            for (int i = 0; i < 60; ++i) {
                const double middle = 0.5 * (inside + h);
                next = equation.step(x, state, middle);
                (next.w > 0.0 ? inside : h) = middle;
            }
            next = equation.step(x, state, h);
            next.w = 0.0;
            keep(x + h, next);
            profile.potential_energy = next.energy;
            return profile;
        }
        x += h;
        state = next;
        keep(x, state);
    }
}

} // namespace farfield
