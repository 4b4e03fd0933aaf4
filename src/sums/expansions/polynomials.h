// The basis of expansions of kernels that are smooth but not harmonic: products of Chebyshev polynomials
// T_a(2x) T_b(2y) T_c(2z) of total degree a + b + c up to an order q, over a cell of width 1 around its
// centre; and their operators, in double. An expansion of such a kernel is its interpolant at Chebyshev
// points, cut off at degree q on both sides (Fong and Darve 2009, J. Comput. Phys. 228, 8712, who keep the
// whole tensor product).
#pragma once

#include "sums/expansions/operators.h"
#include "sums/expansions/parity_basis.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace farfield {

struct Polynomial {
    int degree = 0; ///< a + b + c
    std::array<int, 3> of{};

    [[nodiscard]] int parity() const { return (of[0] & 1) | (of[1] & 1) << 1 | (of[2] & 1) << 2; }
};

class PolynomialBasis : public ParityBasis<Polynomial> {
public:
    /// (q + 1)(q + 2)(q + 3)/6 functions.
    PolynomialBasis(int order, int line);

    [[nodiscard]] int place(const std::array<int, 3>& of) const { return places_[cube_place(of)]; }

private:
    [[nodiscard]] std::size_t cube_place(const std::array<int, 3>& of) const {
        return in_rows(in_cube(of[0], of[1]), of[2], order() + 1);
    }
    [[nodiscard]] int in_cube(int a, int b) const { return a * (order() + 1) + b; }

    std::vector<std::int32_t> places_; ///< by a, b, c
};

/// W with T_a(x + d) = Σ_b W_ab T_b(x) in each axis, x and the parent's coordinate in half widths of their
/// cells: of a child's centre that lies a quarter of its parent's width below the parent's.
class ChildShift {
public:
    explicit ChildShift(int order);
    /// C_i of the parent's coordinates as a sum over C_j of the child's.
    [[nodiscard]] double operator()(const Polynomial& i, const Polynomial& j) const {
        double product = 1.0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            product *= values_[in_rows(i.of[axis], j.of[axis], order_ + 1)];
        return product;
    }

private:
    int order_;
    std::vector<double> values_;
};

/// What the expansions of all offsets share: the 2q + 1 Chebyshev points of the differences of coordinates,
/// and T_k((s − t)/2) = Σ_ab A_kab T_a(s) T_b(t) for k ≤ 2q, which ends at a + b = k and has no terms where k
/// − a − b is odd.
class DifferenceTables {
public:
    /// @param order  q
    explicit DifferenceTables(int order);

    [[nodiscard]] int order() const { return (n_ - 1) / 2; }
    [[nodiscard]] int points() const { return n_; }
    [[nodiscard]] double point(int i) const { return points_[static_cast<std::size_t>(i)]; }
    /// From values at the points to coefficients.
    [[nodiscard]] double weight(int k, int point) const { return weights_[in_rows(k, point, n_)]; }
    /// A_kab at the place k.
    [[nodiscard]] const double* of(int a, int b) const { return &values_[in_rows(a * n_ + b, 0, n_)]; }

private:
    int n_;
    std::vector<double> points_, weights_, values_;
};

/// T with f(|d + x − y|) ≈ Σ_ij C_i(x) T_ij C_j(y), for points x and y of cells of width 1 whose centres are
/// d apart, from the source's to the target's.
class SmoothKernelExpansion {
public:
    /// @param tables  of the order of the basis; @param kernel  f, of r²
    SmoothKernelExpansion(const DifferenceTables& tables, const std::array<double, 3>& d,
                          const std::function<double(double)>& kernel);

    [[nodiscard]] double operator()(const Polynomial& i, const Polynomial& j) const {
        return values_[in_rows(number(i.of), number(j.of), functions_)];
    }
    /// The least degree beyond which the rest changes f and its gradient by no more than these root mean
    /// squares, about; −1 where nothing is needed, order + 1 where the order does not suffice.
    [[nodiscard]] int degree_for(double values, double gradients) const;

private:
    [[nodiscard]] int number(const std::array<int, 3>& of) const {
        return numbers_[in_rows(of[0] * (order_ + 1) + of[1], of[2], order_ + 1)];
    }
    void set_values(const DifferenceTables& tables, const std::vector<double>& series);

    int order_, functions_ = 0;
    std::vector<int> numbers_; ///< by a, b, c
    std::vector<double> values_;
    std::vector<double> value_rest_, gradient_rest_; ///< mean squares of what has a degree, by degree
};

/// ∂/∂x_axis of an expansion Σ L_i C_i, as coefficients of the same basis.
std::vector<SparseTerm> polynomial_derivative(const PolynomialBasis& basis, int axis);

} // namespace farfield
