// The Gaussian in 1 to 6 dimensions: φ = Σ q exp(−r²/(2σ²)), a point counting itself, and its gradient
// ∇φ = −Σ q (x − y)/σ² exp(−r²/(2σ²)).
#pragma once

#include "sums/kernels/exact.h"

#include <cmath>

namespace farfield {

struct Gaussian {
    static constexpr bool acts_on_itself = true;
    static constexpr bool singular = false;

    template <class Real>
    static void add(const SeenSource<Real>& source, Real* out) {
        const Real variance = source.sigma * source.sigma;
        const Real term = static_cast<Real>(source.q[0]) * std::exp(-source.r2 / (Real(2) * variance));
        out[0] += term;
        for (int k = 0; k < source.dimension; ++k) out[1 + k] -= term / variance * source.d[k];
    }
};

} // namespace farfield
