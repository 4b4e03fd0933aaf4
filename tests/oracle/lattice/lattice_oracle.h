// Periodic sums in long double by other ways than Ewald's, none of which splits 1/r.
//
// ψ(d), the potential of a unit charge's images in a uniform background, is summed over the layers of images
// along one axis in closed form (the solution of a one-dimensional problem for each wave along the other
// two):
//   ψ = (2π/A) Σ_{k≠0} cos(k·ρ) cosh(k(L/2 − |z|))/(k sinh(kL/2)) + (2πL/A)(1/6 − |z|/L + z²/L²),
// which converges like exp(−k|z|); the axis is that along which the two points are farthest apart. The
// potential of a charge's own images follows from boxes of twice the size: ψ_L(x) = Σ ψ_2L(x + s) over the
// eight corners s of the box, and by its scaling ξ_L = 2 Σ_{s≠0} ψ_2L(s).
//
// Softened, the Fourier series converges by itself: 1/√(r²+ε²) has the transform 4πε K₁(kε)/k.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace farfield::lattice_oracle {

using Real = long double;
using Vector = std::array<Real, 3>;
inline constexpr Real pi = std::numbers::pi_v<Real>;

/// φ and −∇φ.
struct Values {
    Real potential = 0.0L;
    Vector field{};
};

inline Vector nearest(Vector d, const Vector& length) {
    for (std::size_t k = 0; k < 3; ++k) d[k] -= length[k] * std::round(d[k] / length[k]);
    return d;
}

/// ψ and −∇ψ of a box at d ≠ 0.
inline Values unit_charge(Vector d, const Vector& length) {
    d = nearest(d, length);
    std::size_t c = 0;
    for (std::size_t k = 1; k < 3; ++k)
        if (std::abs(d[k]) > std::abs(d[c])) c = k;
    const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
    const Real area = length[a] * length[b], deep = length[c];
    const Real z = std::abs(d[c]), side = d[c] < 0 ? -1.0L : 1.0L;
    const Real ka = 2 * pi / length[a], kb = 2 * pi / length[b];
    const Real limit = 48.0L / z; // e^−48: below the rounding of long double
    Values out;
    const int last_a = static_cast<int>(limit / ka), last_b = static_cast<int>(limit / kb);
    for (int i = -last_a; i <= last_a; ++i)
        for (int j = -last_b; j <= last_b; ++j) {
            if (i == 0 && j == 0) continue;
            const Real k = std::hypot(ka * i, kb * j);
            if (k > limit) continue;
            // cosh(k(L/2 − z))/sinh(kL/2) without overflow
            const Real all = -std::expm1(-k * deep);
            const Real up = std::exp(-k * z), down = std::exp(-k * (deep - z));
            const Real phase = ka * i * d[a] + kb * j * d[b];
            const Real even = (up + down) / all, odd = (up - down) / all;
            out.potential += std::cos(phase) * even / k;
            out.field[a] += ka * i * std::sin(phase) * even / k;
            out.field[b] += kb * j * std::sin(phase) * even / k;
            out.field[c] += side * std::cos(phase) * odd;
        }
    const Real factor = 2 * pi / area;
    out.potential = factor * (out.potential + deep * (1.0L / 6 - z / deep + z * z / (deep * deep)));
    for (auto& component : out.field) component *= factor;
    out.field[c] += factor * side * (1 - 2 * z / deep);
    return out;
}

/// ξ: the potential of a unit charge's own images.
inline Real own_images(const Vector& length) {
    const Vector twice{2 * length[0], 2 * length[1], 2 * length[2]};
    Real sum = 0.0L;
    for (int corner = 1; corner < 8; ++corner)
        sum += unit_charge({corner & 1 ? length[0] : 0.0L, corner & 2 ? length[1] : 0.0L,
                            corner & 4 ? length[2] : 0.0L},
                           twice)
                   .potential;
    return 2 * sum;
}

/// ψ of softened charges at all d in turn, up to k with exp(−kε) = 1e-20.
inline std::vector<Values> soft_charges(const std::vector<Vector>& ds, const Vector& length, Real softening) {
    std::vector<Values> out(ds.size());
    const Real limit = 46.0L / softening;
    std::array<int, 3> last{};
    for (std::size_t k = 0; k < 3; ++k) last[k] = static_cast<int>(limit * length[k] / (2 * pi));
    const Real volume = length[0] * length[1] * length[2];
    for (int x = 0; x <= last[0]; ++x)
        for (int y = -last[1]; y <= last[1]; ++y)
            for (int z = -last[2]; z <= last[2]; ++z) {
                const Vector k{2 * pi * x / length[0], 2 * pi * y / length[1], 2 * pi * z / length[2]};
                const Real size = std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
                if (size == 0 || size > limit) continue;
                const Real factor = (x > 0 ? 2 : 1) * 4 * pi * softening *
                                    std::cyl_bessel_k(1.0L, size * softening) / (size * volume);
                for (std::size_t n = 0; n < ds.size(); ++n) {
                    const Real phase = k[0] * ds[n][0] + k[1] * ds[n][1] + k[2] * ds[n][2];
                    out[n].potential += factor * std::cos(phase);
                    for (std::size_t i = 0; i < 3; ++i) out[n].field[i] += factor * k[i] * std::sin(phase);
                }
            }
    return out;
}

struct Charges {
    std::vector<double> points, strengths; ///< N×3, N
    [[nodiscard]] std::size_t size() const { return strengths.size(); }
    [[nodiscard]] Vector at(std::size_t i) const {
        return {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
    }
};

inline Vector difference(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// Of charges on each other, without softening.
inline std::vector<Values> sums(const Charges& charges, const Vector& length) {
    std::vector<Values> out(charges.size());
    const Real own = own_images(length);
    for (std::size_t i = 0; i < charges.size(); ++i)
        for (std::size_t j = 0; j < charges.size(); ++j) {
            const Real q = charges.strengths[j];
            if (i == j) {
                out[i].potential += q * own;
                continue;
            }
            const auto pair = unit_charge(difference(charges.at(i), charges.at(j)), length);
            out[i].potential += q * pair.potential;
            for (std::size_t k = 0; k < 3; ++k) out[i].field[k] += q * pair.field[k];
        }
    return out;
}

} // namespace farfield::lattice_oracle
