// Softened images, 1/√(r² + ε²), along one to three axes in long double, without splitting anything.
//
// Along one or two axes ε² adds to the square of a coordinate across: the series of open_lattice_oracle.h at
// √(z² + ε²) in place of z. Along three, layers of images along z, each the series of a plane in closed form:
//   ψ = (2π/A) Σ_{k≠0} cos(k·ρ)/k Σ_m exp(−k ζ_m) − (2π/A) (Σ_m ζ_m − (1/L) ∫ ζ),  ζ_m = √((z + mL)² + ε²),
// the last as |z| − z²/L − L/6 and what softening adds for |m| ≤ M, with Euler's and Maclaurin's first term.
//
// What own images do, ξ(ε) = ψ(0) − 1/ε: from ψ_L,ε(x) = Σ_s ψ_2L,ε(x + s) over the corners s of a box and
// ψ_2L,ε(2x) = ψ_L,ε/2(x)/2, ξ(ε) = ξ(ε/2)/2 + Σ_{s≠0} ψ_2L,ε(s), down to an ε that does not show. Along one
// axis image by image.
#pragma once

#include "open_lattice_oracle.h"

namespace farfield::soft_lattice_oracle {

using lattice_oracle::pi;
using lattice_oracle::Real;
using lattice_oracle::Values;
using lattice_oracle::Vector;

inline Values in_space(Vector d, const Vector& length, Real softening) {
    d = lattice_oracle::nearest(d, length);
    std::size_t z = 0;
    for (std::size_t k = 1; k < 3; ++k)
        if (std::abs(d[k]) > std::abs(d[z])) z = k;
    const std::size_t x = (z + 1) % 3, y = (z + 2) % 3;
    const Real area = length[x] * length[y], deep = length[z];
    const auto height = [&](Real u) { return std::sqrt(u * u + softening * softening); };
    const Real limit = 48 / height(d[z]);
    const Real kx = 2 * pi / length[x], ky = 2 * pi / length[y];
    const int last_x = static_cast<int>(limit / kx), last_y = static_cast<int>(limit / ky);
    Values out;
    for (int i = 0; i <= last_x; ++i)
        for (int j = 0; j <= last_y; ++j) {
            const Real k = std::hypot(kx * i, ky * j);
            if ((i == 0 && j == 0) || k > limit) continue;
            Real sum = 0, slope = 0; // over layers
            for (int m = 0;; m = m > 0 ? -m : 1 - m) {
                const Real u = d[z] + m * deep, zeta = height(u), term = std::exp(-k * zeta);
                sum += term;
                slope += k * u / zeta * term;
                if (m < 0 && k * zeta > 50) break;
            }
            const Real of_signs = (i > 0 ? 2 : 1) * (j > 0 ? 2 : 1) * 2 * pi / (area * k);
            const Real cx = std::cos(kx * i * d[x]), cy = std::cos(ky * j * d[y]);
            out.potential += of_signs * cx * cy * sum;
            out.field[x] += of_signs * kx * i * std::sin(kx * i * d[x]) * cy * sum;
            out.field[y] += of_signs * ky * j * std::sin(ky * j * d[y]) * cx * sum;
            out.field[z] += of_signs * cx * cy * slope;
        }
    // layers without softening, and what softening takes away
    const auto side = [](Real u) { return u < 0 ? -1.0L : 1.0L; };
    const auto less = [&](Real u) { return softening * softening / (height(u) + std::abs(u)); };
    const auto less_slope = [&](Real u) { return -side(u) * less(u) / height(u); };
    const auto less_curve = [&](Real u) { return softening * softening / std::pow(height(u), 3); };
    const auto less_integral = [&](Real u) {
        return (u * less(u) + softening * softening * std::asinh(u / softening)) / 2;
    };
    const int last = 2000;
    const Real low = d[z] - (last + 0.5L) * deep, high = d[z] + (last + 0.5L) * deep;
    Real heights = std::abs(d[z]) - d[z] * d[z] / deep - deep / 6;
    Real slopes = side(d[z]) - 2 * d[z] / deep;
    for (int m = -last; m <= last; ++m) {
        heights += less(d[z] + m * deep);
        slopes += less_slope(d[z] + m * deep);
    }
    heights -=
        (less_integral(high) - less_integral(low)) / deep - deep / 24 * (less_slope(high) - less_slope(low));
    slopes -= (less(high) - less(low)) / deep - deep / 24 * (less_curve(high) - less_curve(low));
    out.potential -= 2 * pi / area * heights;
    out.field[z] += 2 * pi / area * slopes;
    return out;
}

inline Values unit_charge(const Vector& d, const Vector& length, Real softening) {
    const open_lattice_oracle::Axes axes(length);
    if (axes.periodic == 3) return in_space(d, length, softening);
    const auto z = axes.last_open;
    auto lifted = d;
    lifted[z] = std::sqrt(d[z] * d[z] + softening * softening);
    auto out = open_lattice_oracle::unit_charge(lifted, length);
    out.field[z] *= d[z] / lifted[z];
    return out;
}

/// What softening takes away, image by image, and by an integral from the last one on.
inline Real own_images_on_line(Real length, Real softening) {
    const int last = 20000;
    Real sum = open_lattice_oracle::own_images_on_line(length);
    for (int n = 1; n <= last; ++n) {
        const Real bare = n * length, soft = std::sqrt(bare * bare + softening * softening);
        sum -= 2 * softening * softening / (bare * soft * (bare + soft));
    }
    return sum - softening * softening / (2 * std::pow(length, 3) * (last + 0.5L) * (last + 0.5L));
}

inline Real own_images(const Vector& length, Real softening) {
    Real shortest = HUGE_VALL;
    for (const Real side : length)
        if (side > 0) shortest = std::min(shortest, side);
    if (softening > 0.2L * shortest) return unit_charge({}, length, softening).potential - 1 / softening;
    if (softening < 1e-9L * shortest) return open_lattice_oracle::own_images(length);
    const open_lattice_oracle::Axes axes(length);
    if (axes.periodic == 1) return own_images_on_line(length[axes.last_periodic], softening);
    Vector twice = length;
    for (auto& side : twice) side *= 2;
    Real sum = own_images(length, softening / 2) / 2;
    for (int corner = 1; corner < 8; ++corner) {
        Vector s{};
        bool is_corner = true;
        for (std::size_t k = 0; k < 3; ++k)
            if ((corner >> k & 1) != 0) {
                s[k] = length[k];
                is_corner = is_corner && length[k] > 0;
            }
        if (is_corner) sum += unit_charge(s, twice, softening).potential;
    }
    return sum;
}

inline std::vector<Values> sums(const lattice_oracle::Charges& charges, const Vector& length,
                                Real softening) {
    std::vector<Values> out(charges.size());
    const Real own = own_images(length, softening);
    for (std::size_t i = 0; i < charges.size(); ++i) {
        out[i].potential += charges.strengths[i] * own;
        for (std::size_t j = 0; j < charges.size(); ++j) {
            if (i == j) continue;
            const Real q = charges.strengths[j];
            const auto pair =
                unit_charge(lattice_oracle::difference(charges.at(i), charges.at(j)), length, softening);
            out[i].potential += q * pair.potential;
            for (std::size_t k = 0; k < 3; ++k) out[i].field[k] += q * pair.field[k];
        }
    }
    return out;
}

} // namespace farfield::soft_lattice_oracle
