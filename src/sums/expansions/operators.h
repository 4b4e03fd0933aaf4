// The operators of 3D expansions as plain matrices over the functions of basis.h, in double. They are made
// once an order, and packed by translation.h for the loops.
#pragma once

#include "sums/expansions/basis.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

/// R_l^m (regular) or I_l^m = (l−m)! P_l^m(cos θ) e^{imφ}/r^(l+1) (irregular) at a point, without the scaling
/// of the basis, for all degrees up to `degree`; orders m < 0 by R_l^−m = (−1)^m conj R_l^m, and I likewise;
/// 0 for |m| > l.
class SolidHarmonics {
public:
    static SolidHarmonics regular(int degree, const std::array<double, 3>& x);
    static SolidHarmonics irregular(int degree, const std::array<double, 3>& x);
    [[nodiscard]] double real(int l, int m) const { return real_[place(l, m)]; }
    [[nodiscard]] double imag(int l, int m) const { return imag_[place(l, m)]; }

private:
    class Recurrence;
    explicit SolidHarmonics(const Recurrence& values);
    /// Orders from −degree − 1 to degree + 1 have a place; those beyond ±l hold 0.
    [[nodiscard]] std::size_t place(int l, int m) const {
        return in_rows(l, most_order_ + m, 2 * most_order_ + 1);
    }

    int most_order_;
    std::vector<double> real_, imag_;
};

/// Factors of the functions: √2·scale times real or imaginary parts, also for m = 0.
class HarmonicScales {
public:
    explicit HarmonicScales(int degree);
    [[nodiscard]] double of(const Harmonic& h) const {
        return values_[in_rows(h.degree, h.order, degree_ + 1)];
    }

private:
    int degree_;
    std::vector<double> values_;
};

/// T with 1/|d + x − y| = Σ_ij R_i(x) T_ij R_j(y): from the multipole expansion about a source's centre to
/// the local expansion about a target's, d from the first to the second.
class MultipoleToLocal {
public:
    MultipoleToLocal(int order, const std::array<double, 3>& d);
    /// T_ij. From 1/|d + x − y| = Σ (−1)^l conj(R_l^m(x)) conj(R_j^k(y)) I_{l+j}^{m+k}(d).
    [[nodiscard]] double operator()(const Harmonic& i, const Harmonic& j) const {
        const int l = i.degree + j.degree;
        const double sign = (j.order & 1) != 0 ? -1.0 : 1.0;
        double value; // NOLINT(*-init-variables): set in each case
        if (i.sine == j.sine) {
            const double sum = harmonics_.real(l, i.order + j.order);
            value = sign * harmonics_.real(l, i.order - j.order) + (i.sine ? -sum : sum);
        } else {
            const double difference = sign * harmonics_.imag(l, i.order - j.order);
            value = harmonics_.imag(l, i.order + j.order) + (i.sine ? difference : -difference);
        }
        const double halves = (i.order == 0 ? 0.5 : 1.0) * (j.order == 0 ? 0.5 : 1.0);
        return ((i.degree & 1) != 0 ? -value : value) * halves / (scales_.of(i) * scales_.of(j));
    }

private:
    SolidHarmonics harmonics_;
    HarmonicScales scales_;
};

/// W with R_i(x + d) = Σ_j W_ij R_j(x). A multipole expansion moves from a centre to another that lies d
/// before it, M' = W M; a local expansion to one that lies d behind it, L' = Wᵀ L.
class Shift {
public:
    Shift(int order, const std::array<double, 3>& d);
    /// W_ij. From R_l^m(x + d) = Σ_jk R_j^k(x) R_{l−j}^{m−k}(d).
    [[nodiscard]] double operator()(const Harmonic& i, const Harmonic& j) const;

private:
    SolidHarmonics harmonics_;
    HarmonicScales scales_;
};

/// One term of a sparse matrix: coefficient `to` gets weight times coefficient `from`.
struct SparseTerm {
    std::int32_t to, from;
    double weight;
};

/// ∂/∂x_axis of a local expansion Σ L_i R_i, as coefficients of the same basis.
std::vector<SparseTerm> local_derivative(const HarmonicBasis& basis, int axis);

/// ∂/∂x_axis of a multipole expansion Σ M_i R_i(x)/|x|^(2l+1), as coefficients of `higher`, whose order is
/// larger by one.
std::vector<SparseTerm> multipole_derivative(const HarmonicBasis& basis, const HarmonicBasis& higher,
                                             int axis);

} // namespace farfield
