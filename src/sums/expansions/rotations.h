// Rotations of expansions about the y axis, in the functions of basis.h. They mix functions of one degree,
// cosines with cosines and sines with sines, as both stay even or odd in y.
#pragma once

#include "sums/expansions/basis.h"

#include <cstddef>
#include <vector>

namespace farfield {

/// D with R_i(Qx) = Σ_j D_ij R_j(x) for Qx = (x cos β + z sin β, y, −x sin β + z cos β). D is orthogonal, and
/// D_ij = (−1)^(m + k) D_ji for functions of orders m and k.
class PolarRotation {
public:
    /// Up to `degree`; β by its cosine and sine.
    PolarRotation(int degree, long double cosine, long double sine);

    /// From the function of order k to that of order m of a degree; with `sine` k and m are at least 1.
    [[nodiscard]] double operator()(int degree, int m, int k, bool sine) const {
        return static_cast<double>(values_[sine ? 1 : 0][place(degree, m, k)]);
    }

private:
    /// (l + 1)² numbers a degree l: Σ of squares before it, then in rows.
    static std::size_t place(int degree, int m, int k) {
        const int before = degree * (degree + 1) * (2 * degree + 1) / 6;
        return static_cast<std::size_t>(before) + in_rows(m, k, degree + 1);
    }
    [[nodiscard]] long double along_x(int degree, int m, int k, bool sine) const;
    void make_row(int degree, int m, bool sine);

    long double cosine_, sine_;
    std::vector<long double> values_[2];
};

} // namespace farfield
