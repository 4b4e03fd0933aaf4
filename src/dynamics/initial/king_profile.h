// The structure of a King model (1966, AJ 71, 64): W(x), the potential below the tidal edge over σ², and the
// mass inside x = r/r_c, in units σ = G = r_c = 1, where r_c² = 9σ²/(4πGρ₀).
#pragma once

#include <vector>

namespace farfield {

struct KingProfile {
    std::vector<double> x;    ///< radii from 0 to the tidal radius
    std::vector<double> w;    ///< W there; the last is 0
    std::vector<double> mass; ///< mass inside
    double potential_energy = 0.0;

    [[nodiscard]] double tidal_radius() const { return x.back(); }
    [[nodiscard]] double total_mass() const { return mass.back(); }
};

/// ρ(W) up to a constant: e^W erf √W − √(4W/π)(1 + 2W/3), by its series of positive terms.
double king_density(double w);

/// Integrates d²W/dx² + (2/x) dW/dx = −9 ρ(W)/ρ(W₀) from the centre to W = 0. Needs 0 < W₀ ≤ 16.
KingProfile king_profile(double w0);

} // namespace farfield
