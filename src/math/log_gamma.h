// The logarithm of the gamma function for threads that take it at the same time, as plans of ranks in one
// process do: std::lgamma also writes the sign of Γ into a global variable.
#pragma once

#include <math.h> // NOLINT(modernize-deprecated-headers): lgamma_r is of POSIX

namespace farfield {

/// ln Γ(x). @pre x > 0
inline double log_gamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

} // namespace farfield
