// Integrators in long double, written from the equations and sharing nothing with the library.
#pragma once

#include <farfield/simulation.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace farfield::test {

using Real = long double;

/// Kick-drift-kick with a_i = ±G s_i/m_i Σ s_j (x_j − x_i)/(r² +
/// ε²)^{3/2} with s = m (attraction) or s = q (repulsion).
struct LeapfrogOracle {
    std::vector<Real> x, v, m, s;
    bool charges = false;
    Real G = 1;
    Real softening = 0;

    LeapfrogOracle(const Bodies& b, const ForceOptions& force)
        : x(b.position.begin(), b.position.end()), v(b.velocity.begin(), b.velocity.end()),
          m(b.mass.begin(), b.mass.end()), charges(force.kernel == Kernel::coulomb), G(force.G),
          softening(force.softening) {
        const auto& strength = charges ? b.charge : b.mass;
        s.assign(strength.begin(), strength.end());
    }

    void kick(Real h) {
        for (std::size_t i = 0; i < m.size(); ++i)
            for (std::size_t j = 0; j < m.size(); ++j) {
                if (i == j) continue;
                Real r2 = softening * softening;
                for (int k = 0; k < 3; ++k) r2 += std::pow(x[3 * j + k] - x[3 * i + k], 2);
                const Real pull = charges ? -G * s[i] * s[j] / m[i] : G * s[j];
                for (int k = 0; k < 3; ++k)
                    v[3 * i + k] += h * pull * (x[3 * j + k] - x[3 * i + k]) / std::pow(r2, Real(1.5));
            }
    }

    void step(Real h) {
        kick(h / 2);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += h * v[i];
        kick(h / 2);
    }
};

inline double largest_difference(const std::vector<Real>& a, const std::vector<double>& b) {
    Real out = 0;
    for (std::size_t i = 0; i < b.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
    return static_cast<double>(out);
}

/// Gravity with G = 1; one body at a time, in the notation of Makino & Aarseth.
struct HermiteOracle {
    std::vector<Real> x, v, m, a, j;
    Real softening;

    HermiteOracle(const Bodies& b, Real epsilon)
        : x(b.position.begin(), b.position.end()), v(b.velocity.begin(), b.velocity.end()),
          m(b.mass.begin(), b.mass.end()), softening(epsilon) {
        evaluate(x, v);
    }

    void evaluate(const std::vector<Real>& xp, const std::vector<Real>& vp) {
        a.assign(xp.size(), 0);
        j.assign(xp.size(), 0);
        for (std::size_t i = 0; i < m.size(); ++i)
            for (std::size_t o = 0; o < m.size(); ++o) {
                Real s2 = softening * softening;
                Real rv = 0;
                for (int k = 0; k < 3; ++k) {
                    const Real r = xp[3 * o + k] - xp[3 * i + k];
                    s2 += r * r;
                    rv += r * (vp[3 * o + k] - vp[3 * i + k]);
                }
                for (int k = 0; k < 3; ++k) {
                    const Real r = xp[3 * o + k] - xp[3 * i + k];
                    const Real u = vp[3 * o + k] - vp[3 * i + k];
                    a[3 * i + k] += m[o] * r / std::pow(s2, Real(1.5));
                    j[3 * i + k] +=
                        m[o] * (u / std::pow(s2, Real(1.5)) - 3 * rv * r / std::pow(s2, Real(2.5)));
                }
            }
    }

    void step(Real h) {
        const auto a0 = a;
        const auto j0 = j;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] += v[i] * h + a0[i] * h * h / 2 + j0[i] * h * h * h / 6;
            v[i] += a0[i] * h + j0[i] * h * h / 2;
        }
        evaluate(x, v);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const Real second = (-6 * (a0[i] - a[i]) - h * (4 * j0[i] + 2 * j[i])) / (h * h);
            const Real third = (12 * (a0[i] - a[i]) + 6 * h * (j0[i] + j[i])) / (h * h * h);
            x[i] += second * std::pow(h, Real(4)) / 24 + third * std::pow(h, Real(5)) / 120;
            v[i] += second * std::pow(h, Real(3)) / 6 + third * std::pow(h, Real(4)) / 24;
        }
    }
};

} // namespace farfield::test
