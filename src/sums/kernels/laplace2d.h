// The logarithmic kernel of the plane with complex strengths q = a + ib: φ = −Σ q ln r as (re, im), and with
// z = x + iy the field (Re w, −Im w), w = Σ q/(z − z_j), which is −∇ Re φ where strengths are real.
#pragma once

#include "sums/kernels/exact.h"

#include <cmath>

namespace farfield {

struct Logarithm {
    static constexpr bool acts_on_itself = false;
    static constexpr bool singular = true;

    template <class Real>
    static void add(const SeenSource<Real>& source, Real* out) {
        const Real a = static_cast<Real>(source.q[0]);
        const Real b = static_cast<Real>(source.q[1]);
        const Real log_r = std::log(source.r2) / Real(2);
        out[0] -= a * log_r;
        out[1] -= b * log_r;
        // 1/(x + iy) = (x − iy)/r², so w = (a x + b y + i (b x − a y))/r²
        const Real x = source.d[0];
        const Real y = source.d[1];
        out[2] += (a * x + b * y) / source.r2;
        out[3] -= (b * x - a * y) / source.r2;
    }
};

} // namespace farfield
