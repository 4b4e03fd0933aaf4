// Sums over images along one or two axes in long double, by other ways than those of the library: series of
// modified Bessel functions (Lekner, Physica A 176, 485 (1991); Sperb, Mol. Simul. 20, 179 (1998)).
//
// Along x alone, ρ² = y² + z²:
//   ψ = (4/L) Σ_{n≥1} K₀(2πnρ/L) cos(2πnx/L) − (2/L) ln ρ.
// Along x and y such lines stand at y + mL_y; their logarithms add up to a logarithm:
//   ψ = (4/L_x) Σ_m Σ_{n≥1} K₀(2πnρ_m/L_x) cos(2πnx/L_x) − (1/L_x) ln(2 cosh(2πz/L_y) − 2 cos(2πy/L_y)).
// What own images do follows from lattices of twice the spacing, which have the same constants left out:
// along two axes ψ_L(x) = Σ_s ψ_2L(x + s) over the corners s of a box, and ψ_2L(2x) = ψ_L(x)/2.
#pragma once

#include "lattice_oracle.h"

namespace farfield::open_lattice_oracle {

using lattice_oracle::pi;
using lattice_oracle::Real;
using lattice_oracle::Values;
using lattice_oracle::Vector;

constexpr Real euler = 0.57721566490153286060651209008240243L;

/// Adds the waves along axis x of a line of charges, at the distance (y, z) from it.
inline void add_waves(Values& out, const Vector& d, std::size_t x, std::size_t y, std::size_t z,
                      Real length) {
    const Real rho = std::hypot(d[y], d[z]);
    for (int n = 1; n < 2000; ++n) {
        const Real k = 2 * pi * n / length;
        if (k * rho > 46) return;
        const Real zeroth = std::cyl_bessel_k(0.0L, k * rho), first = std::cyl_bessel_k(1.0L, k * rho);
        out.potential += 4 / length * zeroth * std::cos(k * d[x]);
        out.field[x] += 4 / length * k * zeroth * std::sin(k * d[x]);
        out.field[y] += 4 / length * k * first * std::cos(k * d[x]) * d[y] / rho;
        out.field[z] += 4 / length * k * first * std::cos(k * d[x]) * d[z] / rho;
    }
}

/// Periodic along axis x, away from it.
inline Values line(const Vector& d, std::size_t x, Real length) {
    const std::size_t y = (x + 1) % 3, z = (x + 2) % 3;
    const Real square = d[y] * d[y] + d[z] * d[z];
    Values out;
    out.potential = -std::log(square) / length;
    out.field[y] = 2 * d[y] / (square * length);
    out.field[z] = 2 * d[z] / (square * length);
    add_waves(out, d, x, y, z, length);
    return out;
}

inline Real own_images_on_line(Real length) { return 2 / length * (euler - std::log(2 * length)); }

/// Open along axis z; lines along the axis that the point lies closer to.
inline Values slab(Vector d, std::size_t z, const Vector& length) {
    std::size_t x = (z + 1) % 3, y = (z + 2) % 3;
    for (const auto k : {x, y}) d[k] -= length[k] * std::round(d[k] / length[k]);
    if (std::abs(d[x]) / length[x] > std::abs(d[y]) / length[y]) std::swap(x, y);
    Values out;
    const Real a = 2 * pi * d[y] / length[y], b = 2 * pi * d[z] / length[y];
    const Real below = std::cosh(b) - std::cos(a), area = length[x] * length[y];
    out.potential = -std::log(2 * below) / length[x];
    out.field[y] = 2 * pi / area * std::sin(a) / below;
    out.field[z] = 2 * pi / area * std::sinh(b) / below;
    const int last = static_cast<int>(std::ceil(8 * length[x] / length[y])) + 1;
    for (int m = -last; m <= last; ++m) {
        Vector to = d;
        to[y] += m * length[y];
        add_waves(out, to, x, y, z, length[x]);
    }
    return out;
}

inline Real own_images_in_slab(std::size_t z, const Vector& length) {
    const std::size_t x = (z + 1) % 3, y = (z + 2) % 3;
    Vector twice = length;
    for (auto& side : twice) side *= 2;
    Real sum = 0;
    for (int corner = 1; corner < 4; ++corner) {
        Vector d{};
        d[x] = (corner & 1) != 0 ? length[x] : 0;
        d[y] = (corner & 2) != 0 ? length[y] : 0;
        sum += slab(d, z, twice).potential;
    }
    return 2 * sum;
}

/// The axes whose length is not 0: how many, and the last axis of either kind.
struct Axes {
    int periodic = 0;
    std::size_t last_open = 0, last_periodic = 0;

    explicit Axes(const Vector& length) {
        for (std::size_t k = 0; k < 3; ++k) {
            if (length[k] > 0) ++periodic;
            (length[k] > 0 ? last_periodic : last_open) = k;
        }
    }
};

inline Values unit_charge(const Vector& d, const Vector& length) {
    const Axes axes(length);
    if (axes.periodic == 3) return lattice_oracle::unit_charge(d, length);
    return axes.periodic == 2 ? slab(d, axes.last_open, length)
                              : line(d, axes.last_periodic, length[axes.last_periodic]);
}

inline Real own_images(const Vector& length) {
    const Axes axes(length);
    if (axes.periodic == 3) return lattice_oracle::own_images(length);
    return axes.periodic == 2 ? own_images_in_slab(axes.last_open, length)
                              : own_images_on_line(length[axes.last_periodic]);
}

inline std::vector<Values> sums(const lattice_oracle::Charges& charges, const Vector& length) {
    std::vector<Values> out(charges.size());
    const Real own = own_images(length);
    for (std::size_t i = 0; i < charges.size(); ++i)
        for (std::size_t j = 0; j < charges.size(); ++j) {
            const Real q = charges.strengths[j];
            if (i == j) {
                out[i].potential += q * own;
                continue;
            }
            const auto pair = unit_charge(lattice_oracle::difference(charges.at(i), charges.at(j)), length);
            out[i].potential += q * pair.potential;
            for (std::size_t k = 0; k < 3; ++k) out[i].field[k] += q * pair.field[k];
        }
    return out;
}

} // namespace farfield::open_lattice_oracle
