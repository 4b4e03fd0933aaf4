// The window of a rule as pairs of taps, for loops that make a point's taps by themselves: tap w − 1 − l is
// tap l of −u, and its slope the negative one. So a pair is the sum and the difference of an even polynomial
// of u and an odd one.
#pragma once

#include "math/ops.h"
#include "sums/gauss/grid/window.h"

#include <cstddef>
#include <utility>

namespace farfield {

/// What the degree of polynomials is above w: more does not help, as the window's edge is what they miss.
template <class Real>
constexpr int beyond_width = sizeof(Real) == 8 ? 4 : 2;

/// Polynomials of degree `Degree`, from their lowest power.
template <class Real, int Width, int Degree>
struct PairedPolynomials {
    static constexpr int pairs = (Width + 1) / 2;
    static constexpr int even_powers = Degree / 2 + 1, odd_powers = (Degree + 1) / 2;
    Real even[pairs][even_powers]; ///< of 1, u², …
    Real odd[pairs][odd_powers];   ///< of u, u³, …

    /// From rows of a GridWindow, whose highest power comes first.
    void take(const std::vector<double>& rows, int columns) {
        for (int pair = 0; pair < pairs; ++pair)
            for (int power = 0; power <= Degree; ++power) {
                const auto at = static_cast<std::size_t>((Degree - power) * columns + pair);
                (power % 2 == 0 ? even[pair][power / 2] : odd[pair][power / 2]) = static_cast<Real>(rows[at]);
            }
    }
};

template <class Real, int Width>
struct PairedWindow {
    static constexpr int degree = Width + beyond_width<Real>;
    PairedPolynomials<Real, Width, degree> value;
    PairedPolynomials<Real, Width, degree - 1> slope; ///< derivatives by x, in grid units

    PairedWindow() = default;
    /// @pre the window has width and degree of this one
    explicit PairedWindow(const GridWindow& window) {
        value.take(window.value, window.columns);
        slope.take(window.slope, window.columns);
    }
};

/// The taps of a point at u. `mirror`: 1, or −1 for slopes.
template <class Real, int Width, int Degree>
FF_INLINE void paired_taps(const PairedPolynomials<Real, Width, Degree>& of, Real u, Real mirror,
                           Real* taps) {
    using O = Ops<Real>;
    using P = PairedPolynomials<Real, Width, Degree>;
    const Real u2 = u * u;
    FF_UNROLLED
    for (int pair = 0; pair < P::pairs; ++pair) {
        Real even = of.even[pair][P::even_powers - 1], odd = of.odd[pair][P::odd_powers - 1];
        FF_UNROLLED
        for (int k = P::even_powers - 1; k-- > 0;) even = O::fma(even, u2, of.even[pair][k]);
        FF_UNROLLED
        for (int k = P::odd_powers - 1; k-- > 0;) odd = O::fma(odd, u2, of.odd[pair][k]);
        taps[Width - 1 - pair] = mirror * O::fma(-u, odd, even);
        taps[pair] = O::fma(u, odd, even);
    }
}

} // namespace farfield
