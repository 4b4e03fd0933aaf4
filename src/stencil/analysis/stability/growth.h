// How fast the powers of a matrix grow.
#pragma once

#include <complex>
#include <vector>

namespace farfield::stencil {

/// A square matrix of complex numbers, row by row.
class ComplexMatrix {
public:
    explicit ComplexMatrix(std::size_t size) : size_(size), values_(size * size) {}
    static ComplexMatrix identity(std::size_t size);

    std::size_t size() const { return size_; }
    std::complex<double>& at(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }
    const std::complex<double>& at(std::size_t row, std::size_t column) const {
        return values_[row * size_ + column];
    }
    /// The largest real or imaginary part of an entry.
    double largest() const;

private:
    std::size_t size_;
    std::vector<std::complex<double>> values_;
};

/// The factor by which powers of `g` grow, lim ‖gⁿ‖^(1/n): the modulus of its largest eigenvalue. Found from
/// n = 2^19 and 2^20 by repeated squaring, so that growth as a power of n, which defective eigenvalues of
/// modulus 1 have (leapfrog at its limit of stability), counts as none: to 3e-5; near 1, where it is found
/// once more with 64 bits from n = 2^24 and 2^25, to 1e-6 unless more than two eigenvalues meet. Eigenvalues
/// themselves would be wrong by the root of the rounding there.
/// @param negligible a positive factor up to which the growth need not be known: `negligible` is returned as
/// soon as a norm of some power shows that the result would be no larger.
double growth_factor(const ComplexMatrix& g, double negligible = 0);

/// The parts of a system whose unknowns depend on each other in a circle, each a list of unknowns; the growth
/// of the whole is the largest of theirs. `depends[i][j]`: i depends on j.
std::vector<std::vector<std::size_t>> coupled_parts(const std::vector<std::vector<bool>>& depends);

} // namespace farfield::stencil
