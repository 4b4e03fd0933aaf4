// The recurrence of Ivanic and Ruedenberg (1996, J. Phys. Chem. 100, 6342) for this axis, as it follows from
// the derivatives of the functions: R_i(Qx) = Σ D_ij R_j(x), differentiated along z, has the functions of one
// degree less on both sides. With ∂z R^m = √(l² − m²) R^m and ∂x R^m = Σ X_mn R^n (operators.cpp, in scaled
// functions)
//     √(l² − k²) D_mk = sin β Σ_n X_mn D'_nk + cos β √(l² − m²) D'_mk,   k < l,
// where D' is of degree l − 1. The last column is the last row, but for signs, and its corner (m = k = l) is
// cos(β/2)^2l ± sin(β/2)^2l. In long double: at degree 40 D is orthogonal to rounding errors of double.
#include "sums/expansions/rotations.h"

#include <cmath>

namespace farfield {
namespace {

long double root(int n) { return std::sqrt(static_cast<long double>(n)); }

} // namespace

// Σ_n X_mn D'_nk: ∂x of the function of order m has those of orders m − 1 and m + 1, of degree l − 1.
long double PolarRotation::along_x(int degree, int m, int k, bool sine) const {
    const auto lower = [&](int n) { return values_[sine ? 1 : 0][place(degree - 1, n, k)]; };
    long double sum = 0.0L;
    if (m > (sine ? 1 : 0))
        sum += (m == 1 ? root(2) : 1.0L) * root((degree + m) * (degree + m - 1)) * lower(m - 1);
    if (m + 1 < degree)
        sum -= (m == 0 ? root(2) : 1.0L) * root((degree - m) * (degree - m - 1)) * lower(m + 1);
    return sum / 2;
}

void PolarRotation::make_row(int degree, int m, bool sine) {
    auto& values = values_[sine ? 1 : 0];
    for (int k = sine ? 1 : 0; k < degree; ++k) {
        long double sum = sine_ * along_x(degree, m, k, sine);
        if (m < degree) sum += cosine_ * root(degree * degree - m * m) * values[place(degree - 1, m, k)];
        values[place(degree, m, k)] = sum / root(degree * degree - k * k);
    }
}

PolarRotation::PolarRotation(int degree, long double cosine, long double sine)
    : cosine_(cosine), sine_(sine) {
    for (auto& values : values_) values.resize(place(degree + 1, 0, 0));
    values_[0][0] = 1.0L;
    for (int l = 1; l <= degree; ++l)
        for (const bool odd : {false, true}) {
            auto& values = values_[odd ? 1 : 0];
            for (int m = odd ? 1 : 0; m <= l; ++m) make_row(l, m, odd);
            for (int m = odd ? 1 : 0; m < l; ++m)
                values[place(l, m, l)] = ((m + l) % 2 == 0 ? 1.0L : -1.0L) * values[place(l, l, m)];
            const long double corner = std::pow((1.0L - cosine) / 2, l);
            values[place(l, l, l)] =
                std::pow((1.0L + cosine) / 2, l) + ((l % 2 == 0) == odd ? -corner : corner);
        }
}

} // namespace farfield
