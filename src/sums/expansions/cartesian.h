// Multipole expansions of 1/√(r² + ε²) in powers of x, y and z. Unlike harmonics they carry the softening: it
// enters the distance alone, so that a sum is as accurate for any ε.
//
// With y the sources from a centre, R the target, ρ² = R² + ε² and lengths of sources counted in h,
//   1/√(|R − y|² + ε²) = (1/ρ) Σ_mj a_mj t^2j |y|^2j (y·v)^m,   t = h/ρ, v = h R/ρ², m + 2j ≤ p,
//   a_mj = (−1)^j (2k − 1)!!/(2^j j! m!),   k = m + j,
// which is Legendre's expansion, in which ρ takes the place of R: of degree n = m + 2j are all terms
// ~ρ^(−n−1). Of degree n is less than (|y|/ρ)^n/ρ, so that it converges for |y| < ρ. With P_mj(v) = a_mj Σ q
// |y|^2j (y·v)^m, of degree m in v,
//   φ = (1/ρ) Σ t^2j P_mj,   −∇φ = ρ⁻³ (R Σ (2k + 1) t^2j P_mj − h Σ t^2j ∇P_mj),   m P_mj = v·∇P_mj.
#pragma once

#include "math/ops.h"

namespace farfield {

constexpr int most_cartesian_order = 12;

/// Of degrees 0 … degree − 1.
FF_HD constexpr int monomials_below(int degree) { return degree * (degree + 1) * (degree + 2) / 6; }
/// Of one degree. Those of x^a y^b z^c stand at places (b + c)(b + c + 1)/2 + c.
FF_HD constexpr int monomials_of(int degree) { return (degree + 1) * (degree + 2) / 2; }

/// Numbers of an expansion as `add_far_value` takes it: from j = p/2 down to 0 P_0j, and for m = 1 … p − 2j
/// the coefficients of ∇P_mj at each monomial of degree m − 1, x, y and z side by side.
FF_HD constexpr int far_numbers(int order) {
    int numbers = 0;
    for (int j = 0; 2 * j <= order; ++j) {
        ++numbers;
        for (int m = 1; m <= order - 2 * j; ++m) numbers += 3 * monomials_of(m - 1);
    }
    return numbers;
}

/// Sums of q/r and of q (x − y)/r³ of targets.
template <class V>
struct FarSums {
    V potential;
    V field[3];
};

/// All monomials of degrees < `degrees` of x, y, z, in their order.
template <class V>
FF_INLINE void set_monomials(int degrees, const V& x, const V& y, const V& z, V* out) {
    out[0] = Ops<V>::set(1);
    for (int d = 1; d < degrees; ++d) {
        const V* before = out + monomials_below(d - 1);
        V* now = out + monomials_below(d);
        const int lower = monomials_of(d - 1);
        for (int k = 0; k < lower; ++k) now[k] = before[k] * x;
        for (int k = lower; k < lower + d; ++k) now[k] = before[k - d] * y; // b + c = d: those without x
        now[lower + d] = before[lower - 1] * z;
    }
}

/// Adds what the monopole of an expansion does at R from its centre. `inverse` is 1/ρ.
template <bool Potential, class V>
FF_INLINE void add_monopole(const V& strength, const V R[3], const V& inverse, FarSums<V>& sums) {
    const V term = strength * inverse;
    const V weight = term * (inverse * inverse);
    if constexpr (Potential) sums.potential = sums.potential + term;
    for (int axis = 0; axis < 3; ++axis) sums.field[axis] = Ops<V>::fma(weight, R[axis], sums.field[axis]);
}

/// Adds what an expansion does at R from its centre. `Fixed`: its order, or 0 for `order`. `inverse` is 1/ρ.
template <int Fixed, bool Potential, class V>
FF_INLINE void add_far_value(int order, const typename Ops<V>::Scalar* numbers, const V R[3],
                             const V& inverse, const V& width, FarSums<V>& sums) {
    using O = Ops<V>;
    using T = typename O::Scalar;
    constexpr int most = Fixed > 0 ? Fixed : most_cartesian_order;
    const int p = Fixed > 0 ? Fixed : order;
    const V t = width * inverse;
    const V step = t * inverse;
    const V v[3] = {R[0] * step, R[1] * step, R[2] * step};
    V monomials[monomials_below(most)];
    set_monomials(p, v[0], v[1], v[2], monomials);
    const V t2 = t * t;
    V gradient[3] = {O::set(T(0)), O::set(T(0)), O::set(T(0))};
    V radial = O::set(T(0));
    V value = O::set(T(0));
    FF_UNROLL_8
    for (int j = p / 2; j >= 0; --j) {
        const V own = O::set(*numbers++);
        if (j == p / 2) {
            radial = own * O::set(static_cast<T>(2 * j + 1));
            if constexpr (Potential) value = own;
        } else {
            for (auto& component : gradient) component = component * t2;
            radial = O::fma(radial, t2, own * O::set(static_cast<T>(2 * j + 1)));
            if constexpr (Potential) value = O::fma(value, t2, own);
        }
        FF_UNROLL_8
        for (int m = 1; m <= p - 2 * j; ++m) {
            V of_degree[3];
            for (int axis = 0; axis < 3; ++axis) of_degree[axis] = O::set(T(0));
            const int count = monomials_of(m - 1);
            const V* const at = monomials + monomials_below(m - 1);
            if (m == 1) {
                for (int axis = 0; axis < 3; ++axis) of_degree[axis] = O::set(numbers[axis]);
            } else {
                FF_UNROLL_16
                for (int k = 0; k < count; ++k)
                    for (int axis = 0; axis < 3; ++axis)
                        of_degree[axis] = O::fma(O::set(numbers[3 * k + axis]), at[k], of_degree[axis]);
            }
            numbers += 3 * count;
            const V along =
                O::fma(v[0], of_degree[0], O::fma(v[1], of_degree[1], v[2] * of_degree[2])); // m P_mj
            radial = O::fma(along, O::set(static_cast<T>(2.0 * (m + j) + 1.0) / static_cast<T>(m)), radial);
            if constexpr (Potential) value = O::fma(along, O::set(T(1) / static_cast<T>(m)), value);
            for (int axis = 0; axis < 3; ++axis) gradient[axis] = gradient[axis] + of_degree[axis];
        }
    }
    const V cube = inverse * inverse * inverse;
    if constexpr (Potential) sums.potential = O::fma(value, inverse, sums.potential);
    for (int axis = 0; axis < 3; ++axis)
        sums.field[axis] = O::fma(cube, O::fnma(width, gradient[axis], R[axis] * radial), sums.field[axis]);
}

// Moments Σ q y^e, y in units of h, for all monomials e up to the order.

/// Adds those of sources; `x` counted from the centre, in units of h.
void add_moments(int order, const double* const x[3], const double* strengths, int count, double* moments);

/// Adds moments about another centre, of lengths counted in another unit. @param shift  from the new centre
/// to the old one, in new units @param scale  the old unit in new ones
void shift_moments(int order, const double* from, const double shift[3], double scale, double* to);

/// What `add_far_value` takes, from moments.
template <class T>
void far_numbers_of(int order, const double* moments, T* numbers);

extern template void far_numbers_of<float>(int, const double*, float*);
extern template void far_numbers_of<double>(int, const double*, double*);

} // namespace farfield
