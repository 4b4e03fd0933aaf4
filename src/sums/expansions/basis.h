// The basis of 3D expansions: real solid harmonics up to an order p, and the order in which their
// coefficients lie.
//
// With R_l^m = r^l P_l^m(cos θ) e^{imφ}/(l+m)! (no Condon–Shortley phase; translation rules in Dachsel 2006,
// J. Chem. Phys. 124, 144115) the basis functions are, with s = √((l−m)!(l+m)!),
//     s R_l^0,   √2 s Re R_l^m,   √2 s Im R_l^m   (m = 1 … l),
// so that 1/|x − y| = Σ_lm R_lm(y) R_lm(x)/|x|^(2l+1) for |y| < |x|, and rotations of the axes are
// orthogonal.
#pragma once

#include "sums/expansions/parity_basis.h"

#include <cstdint>
#include <vector>

namespace farfield {

/// A coefficient's degree and order; `sine` for the imaginary part.
struct Harmonic {
    int degree = 0;
    int order = 0;
    bool sine = false;

    /// Bit a is set where the function is odd along axis a.
    [[nodiscard]] int parity() const {
        return ((order + (sine ? 1 : 0)) & 1) | (sine ? 2 : 0) | ((degree + order) & 1) << 2;
    }
};

constexpr int highest_order = 48;

/// All functions up to an order, degree by degree: m = 0, then the cosine and the sine of each m.
std::vector<Harmonic> harmonics_to(int order);

class HarmonicBasis : public ParityBasis<Harmonic> {
public:
    /// (p + 1)² functions. @param line  numbers in a cache line: 16 floats or 8 doubles
    HarmonicBasis(int order, int line);

    [[nodiscard]] int place(int degree, int order, bool sine) const {
        return places_[in_rows(degree, sine ? -order : order, degree + 1)];
    }

private:
    std::vector<std::int32_t> places_; ///< by l(l + 1) ± m
};

/// Degrees climb by R_l^m = a z R_{l−1}^m − b r² R_{l−2}^m, of the functions as they are scaled here.
double climb_factor(int degree, int order);      ///< a
double climb_back_factor(int degree, int order); ///< b
/// R_m^m = factor · (x + iy) · R_{m−1}^{m−1}, as real and imaginary parts, for m ≥ 1.
double diagonal_factor(int order);

} // namespace farfield
