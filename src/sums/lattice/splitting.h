// How 1/√(r²+ε²) is split between near images and waves. With R = √(r²+ε²),
//   1/R = erfc(αR)/R + erf(αR)/R,
// because 1/R = (2/√π) ∫₀^∞ exp(−R²t²) dt, cut at t = α: the first term falls off like exp(−α²r²), the second
// is smooth, and its Fourier transform is
//   G(k) = π ∫_{1/α²}^∞ exp(−k²u/4 − ε²/u) du,
// for ε = 0 Ewald's (4π/k²) exp(−k²/4α²) (Ewald 1921; de Leeuw, Perram & Smith 1980). So all images are
// softened, at no more than other wave factors.
#pragma once

namespace farfield {

struct Splitting {
    double alpha = 1.0;
    double softening = 0.0;

    /// G(k), k > 0.
    [[nodiscard]] double wave_factor(double k) const;
    /// erf(αε)/ε, for ε = 0 2α/√π: what waves let a point do to itself, or to another at its place.
    [[nodiscard]] double smooth_part_at_zero() const;
    /// ∫ erfc(αR)/R d³r = π ∫₀^{1/α²} exp(−ε²/u) du, for ε = 0 π/α²: over the volume, the mean of the near
    /// images' potential, which a uniform background takes away.
    [[nodiscard]] double near_integral() const;
};

} // namespace farfield
