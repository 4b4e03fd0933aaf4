// A unit charge and its images along one axis: Σ_n 1/√((x − nL)² + s²) less (2/L) ln 2NL, n = −N … N → ∞,
// and its derivatives. Near images one by one, both ends by Euler's and Maclaurin's formula, with
//   (d/du)^k (u² + s²)^−λ = (−1)^k k! C_k^λ(u/r)/r^(k+2λ), Gegenbauer's polynomials C.
#pragma once

namespace farfield {

struct LineValue {
    double potential = 0.0;
    double along = 0.0;  ///< −∂/∂x
    double across = 0.0; ///< −(1/s) ∂/∂s: times y or z the field along that axis
};

/// @param x  −L/2 … L/2 @param square  s² = y² + z² + ε²
/// @param with_own  counts the image at x itself
LineValue line_pair(double x, double square, double length, bool with_own);

} // namespace farfield
