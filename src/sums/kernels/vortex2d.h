// Vortices of the plane with real circulations Γ: u − iv = Σ Γ/(2πi(z − z_j)), and the stream function
// ψ = −Σ Γ ln r/2π with u = ∂ψ/∂y, v = −∂ψ/∂x. With a core size σ > 0 a vortex is a Gaussian blob of
// vorticity Γ exp(−r²/2σ²)/(2πσ²): velocities get the factor 1 − exp(−x), x = r²/2σ², and ln r becomes ln r +
// E₁(x)/2.
#pragma once

#include "sums/kernels/exact.h"

#include <cmath>
#include <limits>

namespace farfield {

struct Vortex {
    static constexpr bool acts_on_itself = false;
    static constexpr bool singular = true; ///< but for blobs (exact.h)

    template <class Real>
    static void add(const SeenSource<Real>& source, Real* out) {
        constexpr Real two_pi = Real(6.283185307179586476925286766559005768L);
        const Real circulation = static_cast<Real>(source.q[0]) / two_pi;
        const Real variance = source.sigma * source.sigma;
        const bool blob = source.sigma > Real(0);
        const Real x = blob ? source.r2 / (Real(2) * variance) : std::numeric_limits<Real>::infinity();
        out[0] -= circulation * (blob ? log_of_blob(source.r2, x, variance) : std::log(source.r2) / Real(2));
        // Γ/2π · (1 − e^(−x))/r², whose limit at r = 0 is Γ/(4πσ²)
        const Real weight = x == Real(0)   ? circulation / (Real(2) * variance)
                            : x < beyond() ? -circulation * std::expm1(-x) / source.r2
                                           : circulation / source.r2;
        out[1] -= weight * source.d[1];
        out[2] += weight * source.d[0];
    }

private:
    /// e^(−x) is nothing beside 1 from here on.
    static double beyond() { return 60.0; }

    /// ln r + E₁(x)/2, without a difference of large numbers: E₁(x) = Ein(x) − γ − ln x, where
    /// Ein(x) = Σ (−1)^(k+1) x^k/(k k!) is entire.
    template <class Real>
    static Real log_of_blob(Real r2, Real x, Real variance) {
        if (x >= Real(1))
            return (std::log(r2) - (x < beyond() ? std::expint(-x) : Real(0))) / Real(2); // E₁(x) = −Ei(−x)
        constexpr Real euler = Real(0.577215664901532860606512090082402431L);
        Real ein = Real(0);
        Real power = Real(-1); // (−1)^(k+1) x^k/k!
        for (int k = 1; k <= 25; ++k) {
            power *= -x / Real(k);
            ein += power / Real(k);
        }
        return (std::log(Real(2) * variance) - euler + ein) / Real(2);
    }
};

} // namespace farfield
